/**
 * Replays: events of a range of blocks, or those whose deliveries failed, queued once more. How far
 * one has come and what it queued are one commit.
 */
import { sql } from 'kysely'
import { toHex } from '#store/sql.ts'
import type { AppDatabase } from '../database.ts'
import { insertMessages, type Message } from './messages.ts'

export const replayStatuses = ['matching', 'sending', 'finished', 'ended'] as const
export type ReplayStatus = (typeof replayStatuses)[number]

/** What is replayed: blocks from the first to the last, or everything given up since a moment. */
export type ReplayOf =
  | { readonly kind: 'blocks'; readonly from: number; readonly to: number }
  | { readonly kind: 'failed'; readonly since: Date }

export interface Replay {
  readonly id: string
  readonly webhookId: string
  readonly of: ReplayOf
  /** First block that was not looked through yet; null for failed deliveries. */
  readonly next: number | null
  /** Last of the failed messages that was queued again. */
  readonly lastMessage: number
  readonly status: ReplayStatus
  /** Events found so far. */
  readonly messages: number
  readonly createdAt: Date
  readonly endedAt: Date | null
}

/** Null while another one of the subscription is under way. */
export async function insertReplay(
  app: AppDatabase,
  { id, webhookId, of }: Pick<Replay, 'id' | 'webhookId' | 'of'>,
): Promise<Replay | null> {
  const row = await app
    .insertInto('app.webhook_replays')
    .values({
      id,
      webhook_id: webhookId,
      status: 'matching',
      ...(of.kind === 'blocks'
        ? { from_block: of.from, to_block: of.to, next_block: of.from }
        : { failed_since: of.since }),
    })
    .onConflict((conflict) =>
      conflict.column('webhook_id').where(sql<boolean>`status IN ('matching', 'sending')`).doNothing(),
    )
    .returningAll()
    .executeTakeFirst()
  return row ? replayOf(row) : null
}

/** The newest of a subscription. */
export async function findReplay(app: AppDatabase, webhookId: string): Promise<Replay | null> {
  const row = await app
    .selectFrom('app.webhook_replays')
    .selectAll()
    .where('webhook_id', '=', webhookId)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row ? replayOf(row) : null
}

/** A replay that is under way, with what its events are looked for by. */
export interface OpenReplay extends Replay {
  readonly chainId: number
  readonly eventType: string
  readonly filters: unknown
}

/** The oldest first. */
export async function openReplays(app: AppDatabase, most: number): Promise<OpenReplay[]> {
  const rows = await app
    .selectFrom('app.webhook_replays')
    .innerJoin('app.webhooks', 'app.webhooks.id', 'webhook_id')
    .selectAll('app.webhook_replays')
    .select(['chain_id', 'event_type', 'filters'])
    .where('app.webhook_replays.status', 'in', ['matching', 'sending'])
    .where('deleted_at', 'is', null)
    .orderBy('app.webhook_replays.id')
    .limit(most)
    .execute()
  return rows.map((row) => ({
    ...replayOf(row),
    chainId: row.chain_id,
    eventType: row.event_type,
    filters: row.filters,
  }))
}

/** Messages of a replay that were not taken and not given up yet. */
export async function countOpen(app: AppDatabase, replay: string): Promise<number> {
  const { count } = await app
    .selectFrom('app.webhook_messages')
    .select((row) => row.fn.countAll<number>().as('count'))
    .where('replay', '=', replay)
    .where('state', 'in', ['waiting', 'sending', 'retrying'])
    .executeTakeFirstOrThrow()
  return count
}

/** Queues what was found up to `next`. False when the replay was ended or moved by another process. */
export async function queuePiece(
  transaction: AppDatabase,
  { id, next: expected }: Pick<Replay, 'id' | 'next'>,
  { next, isLast }: { readonly next: number; readonly isLast: boolean },
  messages: Iterable<Message>,
  count: number,
): Promise<boolean> {
  const { numUpdatedRows } = await transaction
    .updateTable('app.webhook_replays')
    .set((row) => ({
      next_block: next,
      messages: row('messages', '+', count),
      ...(isLast && { status: 'sending' }),
    }))
    .where('id', '=', id)
    .where('status', '=', 'matching')
    .where('next_block', '=', expected)
    .executeTakeFirst()
  if (numUpdatedRows !== 1n) return false
  await insertMessages(transaction, messages, { replay: id })
  return true
}

/** What was given up since a moment, in the order of the chain; its event still stands. */
const failedOf = (webhookId: string, since: Date) => sql`
  webhook_id = ${webhookId} AND created_at >= ${since} AND replay IS NULL AND type <> 'ping'
  AND state IN ('exhausted', 'withdrawn') AND accepted_at IS NULL AND NOT is_retracted AND envelope IS NOT NULL`

/** Queues failed messages once more; the number of them. Null like `queuePiece`'s false. */
export async function queueFailed(
  transaction: AppDatabase,
  { id, webhookId, lastMessage }: Pick<Replay, 'id' | 'webhookId' | 'lastMessage'>,
  since: Date,
  most: number,
): Promise<number | null> {
  const held = await transaction
    .selectFrom('app.webhook_replays')
    .select('id')
    .where('id', '=', id)
    .where('status', '=', 'matching')
    .where('last_message', '=', lastMessage)
    .forUpdate()
    .executeTakeFirst()
  if (!held) return null
  const { rows } = await sql<{ count: number; last: number | null }>`
    WITH failed AS MATERIALIZED (
      SELECT * FROM app.webhook_messages WHERE ${failedOf(webhookId, since)} AND id > ${lastMessage}
      ORDER BY id LIMIT ${most}),
    queued AS (
      INSERT INTO app.webhook_messages (webhook_id, event_id, type, state, block_num, block_hash, event_index, data, replay)
      SELECT webhook_id, event_id, type, 'waiting', block_num, block_hash, event_index, (envelope::json -> 'data')::text, ${id}
      FROM failed ORDER BY id)
    SELECT count(*) AS count, max(id) AS last FROM failed`.execute(transaction)
  const { count, last } = rows[0] ?? { count: 0, last: null }
  await transaction
    .updateTable('app.webhook_replays')
    .set((row) => ({
      last_message: last ?? lastMessage,
      messages: row('messages', '+', count),
      ...(count < most && { status: 'sending' }),
    }))
    .where('id', '=', id)
    .execute()
  return count
}

/** An event that would be sent once more. */
export interface Failed extends Message {
  readonly isFinal: boolean
}

/** How many failed messages there are, and the first of them. */
export async function readFailed(
  app: AppDatabase,
  { webhookId, chainId }: { readonly webhookId: string; readonly chainId: number },
  since: Date,
  most: number,
): Promise<{ readonly count: number; readonly first: readonly Failed[] }> {
  const counted = await sql<{ count: number }>`
    SELECT count(*) AS count FROM app.webhook_messages WHERE ${failedOf(webhookId, since)}`.execute(app)
  const { rows } = await sql<FailedRow>`
    SELECT event_id, type, block_num, block_hash, event_index, (envelope::json -> 'data')::text AS data,
      block_num <= (SELECT max(finalized) FROM app.webhook_positions WHERE chain_id = ${chainId}) AS is_final
    FROM app.webhook_messages WHERE ${failedOf(webhookId, since)} ORDER BY id LIMIT ${most}`.execute(app)
  return { count: counted.rows[0]?.count ?? 0, first: rows.map((row) => failedMessage(webhookId, row)) }
}

/** Ends a replay: what it queued and nobody has begun to send is taken back. Null when none is under way. */
export async function endReplay(app: AppDatabase, webhookId: string): Promise<Replay | null> {
  return app.transaction().execute(async (transaction) => {
    const row = await transaction
      .updateTable('app.webhook_replays')
      .set({ status: 'ended', ended_at: sql<Date>`clock_timestamp()` })
      .where('webhook_id', '=', webhookId)
      .where('status', 'in', ['matching', 'sending'])
      .returningAll()
      .executeTakeFirst()
    if (!row) return null
    await sql`DELETE FROM app.webhook_messages WHERE replay = ${row.id} AND state = 'waiting'`.execute(
      transaction,
    )
    await sql`
      UPDATE app.webhook_messages SET state = 'withdrawn' WHERE replay = ${row.id} AND state IN ('sending', 'retrying')`.execute(
      transaction,
    )
    return replayOf(row)
  })
}

/** Finishes a replay of which nothing is open. */
export async function finishReplay(app: AppDatabase, id: string): Promise<void> {
  await app
    .updateTable('app.webhook_replays')
    .set({ status: 'finished', ended_at: sql<Date>`clock_timestamp()` })
    .where('id', '=', id)
    .where('status', '=', 'sending')
    .execute()
}

interface FailedRow {
  readonly event_id: string
  readonly type: string
  readonly block_num: number | null
  readonly block_hash: Buffer | null
  readonly event_index: number | null
  readonly data: string
  readonly is_final: boolean | null
}

const failedMessage = (webhookId: string, row: FailedRow): Failed => ({
  webhookId,
  eventId: row.event_id,
  type: row.type,
  block:
    row.block_num === null || row.block_hash === null
      ? null
      : { number: row.block_num, hash: toHex(row.block_hash) },
  index: row.event_index ?? 0,
  data: row.data,
  waitsForFinality: false,
  isFinal: row.is_final ?? false,
})

interface ReplayRow {
  readonly id: string
  readonly webhook_id: string
  readonly from_block: number | null
  readonly to_block: number | null
  readonly failed_since: Date | null
  readonly next_block: number | null
  readonly last_message: number
  readonly status: string
  readonly messages: number
  readonly created_at: Date
  readonly ended_at: Date | null
}

const replayOf = (row: ReplayRow): Replay => ({
  id: row.id,
  webhookId: row.webhook_id,
  of: row.failed_since
    ? { kind: 'failed', since: row.failed_since }
    : { kind: 'blocks', from: row.from_block ?? 0, to: row.to_block ?? -1 },
  next: row.next_block,
  lastMessage: row.last_message,
  status: replayStatuses.find((status) => status === row.status) ?? 'ended',
  messages: row.messages,
  createdAt: row.created_at,
  endedAt: row.ended_at,
})
