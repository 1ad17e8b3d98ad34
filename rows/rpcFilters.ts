/**
 * Filters of JSON-RPC clients: what each asked for, and how far it was told. A poll leases the row,
 * so that two at once tell each log once, and holds no connection while it asks a node.
 */

import { sql } from 'kysely'
import type { Clock } from '#runtime/runtime.ts'
import { type AppDatabase, databaseNow, fromNow, removeOlder } from './database.ts'

/** A filter that nobody polls for this long is gone, as in nodes. */
const IDLE_MS = 5 * 60_000
export const FILTERS_MAX = 100
/** A poll's lease: longer than a request may last. Only that of a process that died runs out. */
const LEASE_MS = 60_000
/** Another process polls the filter: it is looked at again after this long. */
const BUSY_MS = 50

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
  /** The marker of a floor: blocks below it could be replaced too, but are not remembered. */
  readonly isFloor?: true
  /** Its client knew of it before it was held here. */
  readonly isAwaited?: true
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

/** The news of one poll; `ended` if there is nothing left to tell from. */
export type Polled<Told> = { readonly told: Told; readonly progress: FilterProgress } | 'ended'

/** False where the caller has as many as one may have. */
export async function insertFilter(
  app: AppDatabase,
  owner: FilterOwner,
  id: string,
  filter: RpcFilter,
): Promise<boolean> {
  return app.transaction().execute(async (transaction) => {
    // One caller's are counted one after the other; those of others do not wait.
    await sql`SELECT pg_advisory_xact_lock(hashtextextended(${`rpc_filters ${owner.caller}`}, 0))`.execute(
      transaction,
    )
    const { count } = await transaction
      .selectFrom('app.rpc_filters')
      .select(({ fn }) => fn.countAll<string>().as('count'))
      .where('caller', '=', owner.caller)
      .where('polled_at', '>', fromNow(-IDLE_MS))
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

/** Removes some that nobody polls any more; false when none is left. */
export const removeIdleFilters = (app: AppDatabase): Promise<boolean> =>
  removeOlder(app, 'app.rpc_filters', 'polled_at', fromNow(-IDLE_MS))

/** Last polls of filters in this process: one of a filter waits for the one before it. */
const polling = new WeakMap<AppDatabase, Map<string, Promise<unknown>>>()

/** How a poll waits for one under way. */
interface Waiting {
  readonly clock: Clock
  readonly signal: AbortSignal
}

/**
 * Lets `poll` tell what is new, and keeps how far it came; null where the owner has no such filter.
 * One poll of a filter runs at a time, over all processes.
 */
export async function pollFilter<Told>(
  app: AppDatabase,
  owner: FilterOwner,
  id: string,
  waiting: Waiting,
  poll: (filter: RpcFilter) => Promise<Polled<Told>>,
): Promise<Told | null> {
  const ofApp = polling.get(app) ?? new Map<string, Promise<unknown>>()
  polling.set(app, ofApp)
  const before = ofApp.get(id) ?? Promise.resolve()
  const own = before
    .catch(() => {})
    .then(() => pollAlone(app, owner, id, waiting, poll))
    .finally(() => ofApp.get(id) === own && ofApp.delete(id))
  ofApp.set(id, own)
  return own
}

async function pollAlone<Told>(
  app: AppDatabase,
  owner: FilterOwner,
  id: string,
  waiting: Waiting,
  poll: (filter: RpcFilter) => Promise<Polled<Told>>,
): Promise<Told | null> {
  const leased = await lease(app, owner, id, waiting)
  if (!leased) return null
  const ofLease = { id, until: leased.leasedUntil }
  try {
    const polled = await poll(leased.filter)
    if (polled === 'ended') {
      await app.deleteFrom('app.rpc_filters').where('id', '=', id).execute()
      return null
    }
    return (await release(app, ofLease, polled.progress)) ? polled.told : null
  } catch (error) {
    await release(app, ofLease, null)
    throw error
  }
}

/** Null where the owner has no such filter. */
async function lease(
  app: AppDatabase,
  { chainId, caller }: FilterOwner,
  id: string,
  waiting: Waiting,
): Promise<{ readonly filter: RpcFilter; readonly leasedUntil: Date } | null> {
  for (;;) {
    waiting.signal.throwIfAborted()
    const row = await app
      .updateTable('app.rpc_filters')
      // The driver's dates have milliseconds, and the lease is known by its end.
      .set({ leased_until: sql<Date>`date_trunc('milliseconds', ${fromNow(LEASE_MS)})` })
      .where('id', '=', id)
      .where('chain_id', '=', chainId)
      .where('caller', '=', caller)
      .where('polled_at', '>', fromNow(-IDLE_MS))
      .where((is) => is.or([is('leased_until', 'is', null), is('leased_until', '<', databaseNow)]))
      .returning(['kind', 'asked', 'told_block', 'told', 'leased_until'])
      .executeTakeFirst()
    if (row?.leased_until) return { filter: filterOf(row), leasedUntil: row.leased_until }
    if (!(await findFilter(app, { chainId, caller }, id))) return null
    await waiting.clock.sleep(BUSY_MS, waiting.signal)
  }
}

/** Ends the lease, with how far the filter was told; false where it had run out. */
async function release(
  app: AppDatabase,
  { id, until }: { readonly id: string; readonly until: Date },
  progress: FilterProgress | null,
): Promise<boolean> {
  const told = progress && {
    told_block: progress.toldBlock,
    told: JSON.stringify(progress.told),
    polled_at: databaseNow,
  }
  const { numUpdatedRows } = await app
    .updateTable('app.rpc_filters')
    .set({ ...told, leased_until: null })
    .where('id', '=', id)
    .where('leased_until', '=', until)
    .executeTakeFirst()
  return numUpdatedRows > 0n
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

/** All of a chain: what they were told of is gone. */
export async function deleteFilters(app: AppDatabase, chainId: number): Promise<void> {
  await app.deleteFrom('app.rpc_filters').where('chain_id', '=', chainId).execute()
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
