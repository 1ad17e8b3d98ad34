/**
 * Filters of JSON-RPC clients: what each asked for, and how far it was told. A poll holds the row,
 * so that two at once tell each log once.
 */
import { sql } from 'kysely'
import { type AppDatabase, databaseNow, fromNow, removeOlder } from './database.ts'

/** A filter that nobody polls for this long is gone, as in nodes. */
const IDLE_MS = 5 * 60_000
export const FILTERS_MAX = 100

export interface FilterOwner {
  readonly chainId: number
  /** Caller's stable id. */
  readonly caller: string
}

/** A block that was told while it could still be replaced. */
export interface ToldBlock {
  readonly number: number
  readonly hash: string
  /** Logs told of it. */
  readonly logs: readonly object[]
  /** Where blocks below it could be replaced too, but are not remembered. */
  readonly isFloor?: true
}

export interface FilterProgress {
  readonly toldBlock: number
  /** Ascending; those above finality alone. */
  readonly told: readonly ToldBlock[]
}

export interface RpcFilter extends FilterProgress {
  readonly kind: 'logs' | 'blocks' | 'pending'
  readonly asked: unknown
}

/** What is told now; `ended` where there is nothing left to tell from. */
export type Polled<Told> = { readonly told: Told; readonly progress: FilterProgress } | 'ended'

/** False where the caller has as many as one may have. */
export async function insertFilter(
  app: AppDatabase,
  owner: FilterOwner,
  id: string,
  filter: RpcFilter,
): Promise<boolean> {
  await removeOlder(app, 'app.rpc_filters', 'polled_at', fromNow(-IDLE_MS))
  return app.transaction().execute(async (transaction) => {
    // One caller's are counted one after the other; those of others do not wait.
    await sql`SELECT pg_advisory_xact_lock(hashtextextended(${`rpc_filters ${owner.caller}`}, 0))`.execute(
      transaction,
    )
    const { count } = await transaction
      .selectFrom('app.rpc_filters')
      .select(({ fn }) => fn.countAll<string>().as('count'))
      .where('caller', '=', owner.caller)
      .executeTakeFirstOrThrow()
    if (Number(count) >= FILTERS_MAX) return false
    await transaction
      .insertInto('app.rpc_filters')
      .values({
        id,
        chain_id: owner.chainId,
        caller: owner.caller,
        kind: filter.kind,
        asked: JSON.stringify(filter.asked),
        told_block: filter.toldBlock,
        told: JSON.stringify(filter.told),
      })
      .execute()
    return true
  })
}

/**
 * Lets `poll` tell what is new, and keeps how far it came; null where the owner has no such filter.
 */
export async function pollFilter<Told>(
  app: AppDatabase,
  owner: FilterOwner,
  id: string,
  poll: (filter: RpcFilter) => Promise<Polled<Told>>,
): Promise<Told | null> {
  return app.transaction().execute(async (transaction) => {
    const row = await owned(transaction, owner, id).forUpdate().executeTakeFirst()
    if (!row) return null
    const polled = await poll(filterOf(row))
    if (polled === 'ended') {
      await transaction.deleteFrom('app.rpc_filters').where('id', '=', id).execute()
      return null
    }
    const { told, progress } = polled
    await transaction
      .updateTable('app.rpc_filters')
      .set({
        told_block: progress.toldBlock,
        told: JSON.stringify(progress.told),
        polled_at: databaseNow,
      })
      .where('id', '=', id)
      .execute()
    return told
  })
}

export async function findFilter(
  app: AppDatabase,
  owner: FilterOwner,
  id: string,
): Promise<RpcFilter | null> {
  const row = await owned(app, owner, id).executeTakeFirst()
  return row ? filterOf(row) : null
}

/** The filter that was there; null where none was. */
export async function deleteFilter(
  app: AppDatabase,
  owner: FilterOwner,
  id: string,
): Promise<RpcFilter | null> {
  const row = await app
    .deleteFrom('app.rpc_filters')
    .where('id', '=', id)
    .where('caller', '=', owner.caller)
    .where('chain_id', '=', owner.chainId)
    .returning(['kind', 'asked', 'told_block', 'told'])
    .executeTakeFirst()
  return row ? filterOf(row) : null
}

const owned = (app: AppDatabase, { chainId, caller }: FilterOwner, id: string) =>
  app
    .selectFrom('app.rpc_filters')
    .select(['kind', 'asked', 'told_block', 'told'])
    .where('id', '=', id)
    .where('caller', '=', caller)
    .where('chain_id', '=', chainId)
    .where('polled_at', '>', fromNow(-IDLE_MS))

const filterOf = (row: {
  readonly kind: string
  readonly asked: unknown
  readonly told_block: number
  readonly told: unknown
}): RpcFilter => ({
  kind: row.kind === 'blocks' || row.kind === 'pending' ? row.kind : 'logs',
  asked: row.asked,
  toldBlock: row.told_block,
  told: Array.isArray(row.told) ? row.told : [],
})
