/**
 * How far a chain was looked through for its subscriptions. The row of a position is what the
 * matcher, and everything that changes a subscription, take in turn: so a subscription holds from
 * one block on, exactly.
 */
import { sql } from 'kysely'
import { FencedOutError } from '#runtime/lease.ts'
import type { ScanPlace, StreamOf } from '#store/read/pieces.ts'
import { toBytes, toHex } from '#store/sql.ts'
import { unnested } from '../arrays.ts'
import type { AppDatabase } from '../database.ts'

export interface Position extends ScanPlace {
  /** Newest final block when it was last looked. */
  readonly finalized: number
  /** Grows with every change of what is subscribed to. */
  readonly subscriptions: number
}

/** Blocks whose hashes are kept: where another chain forked off lies among them. */
const WALKED_MAX = 20_000

export async function readPosition(app: AppDatabase, of: StreamOf): Promise<Position | null> {
  const row = await select(app, of).executeTakeFirst()
  return row ? positionOf(row) : null
}

/** The position, locked until the transaction ends; made at `start` when there is none. */
export async function lockPosition(
  transaction: AppDatabase,
  of: StreamOf,
  start: () => Promise<ScanPlace>,
): Promise<Position> {
  const held = await select(transaction, of).forUpdate().executeTakeFirst()
  if (held) return positionOf(held)
  const { number, hash } = await start()
  await transaction
    .insertInto('app.webhook_positions')
    .values({ chain_id: of.chainId, stream: of.stream, block_num: number, block_hash: bytesOf(hash) })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  return positionOf(await select(transaction, of).forUpdate().executeTakeFirstOrThrow())
}

/** Tells the matcher, or all of them, that the subscriptions it knows are no longer all there are. */
export async function subscriptionsChanged(transaction: AppDatabase, of?: StreamOf): Promise<void> {
  const changed = transaction
    .updateTable('app.webhook_positions')
    .set((row) => ({ subscriptions: row('subscriptions', '+', 1) }))
  await (of ? changed.where('chain_id', '=', of.chainId).where('stream', '=', of.stream) : changed).execute()
}

/** Makes `fence` the only number under which the position moves. @throws FencedOutError */
export async function claimPosition(app: AppDatabase, of: StreamOf, fence: bigint): Promise<void> {
  const { numUpdatedRows } = await app
    .updateTable('app.webhook_positions')
    .set({ fence })
    .where('chain_id', '=', of.chainId)
    .where('stream', '=', of.stream)
    .where('fence', '<=', sql<number>`${fence}`)
    .executeTakeFirst()
  if (numUpdatedRows !== 1n) throw new FencedOutError(`webhooks of chain ${of.chainId}`, fence)
}

export interface Move {
  readonly from: Position
  readonly to: ScanPlace
  readonly finalized: number
  readonly fence: bigint
}

/**
 * Moves the position inside the transaction of what was found on the way. False when subscriptions
 * changed meanwhile: what was matched is not what is subscribed to.
 * @throws FencedOutError
 */
export async function movePosition(transaction: AppDatabase, of: StreamOf, move: Move): Promise<boolean> {
  const { from, to, finalized, fence } = move
  const row = await select(transaction, of).select('fence').forUpdate().executeTakeFirst()
  if (!row || BigInt(row.fence) !== fence) throw new FencedOutError(`webhooks of chain ${of.chainId}`, fence)
  const held = positionOf(row)
  if (held.subscriptions !== from.subscriptions || held.number !== from.number || held.hash !== from.hash)
    return false
  await transaction
    .updateTable('app.webhook_positions')
    .set({ block_num: to.number, block_hash: bytesOf(to.hash), finalized })
    .where('chain_id', '=', of.chainId)
    .where('stream', '=', of.stream)
    .execute()
  return true
}

/** Remembers blocks that were looked through, and forgets the oldest. */
export async function insertWalked(
  transaction: AppDatabase,
  of: StreamOf,
  blocks: readonly { readonly number: number; readonly hash: string }[],
): Promise<void> {
  const last = blocks.at(-1)
  if (!last) return
  const walked = unnested('walked', {
    number: ['bigint', blocks.map(({ number }) => number)],
    hash: ['bytea', blocks.map(({ hash }) => toBytes(hash))],
  })
  await transaction
    .insertInto('app.webhook_blocks')
    .columns(['chain_id', 'stream', 'block_num', 'block_hash'])
    .expression((row) =>
      row
        .selectFrom(walked)
        .select([row.val(of.chainId).as('chain'), row.val(of.stream).as('stream')])
        .select(['walked.number', 'walked.hash']),
    )
    .onConflict((conflict) =>
      conflict
        .columns(['chain_id', 'stream', 'block_num'])
        .doUpdateSet((row) => ({ block_hash: row.ref('excluded.block_hash') })),
    )
    .execute()
  await transaction
    .deleteFrom('app.webhook_blocks')
    .where('chain_id', '=', of.chainId)
    .where('stream', '=', of.stream)
    .where('block_num', '<=', last.number - WALKED_MAX)
    .execute()
}

export async function deleteWalkedFrom(transaction: AppDatabase, of: StreamOf, from: number): Promise<void> {
  await transaction
    .deleteFrom('app.webhook_blocks')
    .where('chain_id', '=', of.chainId)
    .where('stream', '=', of.stream)
    .where('block_num', '>=', from)
    .execute()
}

const select = (app: AppDatabase, { chainId, stream }: StreamOf) =>
  app
    .selectFrom('app.webhook_positions')
    .select(['block_num', 'block_hash', 'finalized', 'subscriptions'])
    .where('chain_id', '=', chainId)
    .where('stream', '=', stream)

const bytesOf = (hash: string | null): Uint8Array | null => (hash === null ? null : toBytes(hash))

const positionOf = (row: {
  readonly block_num: number
  readonly block_hash: Uint8Array | null
  readonly finalized: number
  readonly subscriptions: number
}): Position => ({
  number: row.block_num,
  hash: row.block_hash && toHex(row.block_hash),
  finalized: row.finalized,
  subscriptions: row.subscriptions,
})
