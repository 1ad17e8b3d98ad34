/**
 * Replays: events of a range of blocks, or those whose deliveries failed, queued once more. How far
 * one has come and what it queued are one commit.
 */
import { type ExpressionBuilder, type SqlBool, sql } from 'kysely'
import type { StreamOf } from '#store/read/pieces.ts'
import { toHex } from '#store/sql.ts'
import { type AppDatabase, databaseNow } from '../database.ts'
import type { AppSchema } from '../tables.ts'
import { eventColumns, insertMessages, type Message } from './messages.ts'

export const replayStatuses = ['matching', 'sending', 'finished', 'ended'] as const
export type ReplayStatus = (typeof replayStatuses)[number]

/** The extent of a replay: blocks from the first to the last, or everything given up since a moment. */
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

/** Messages given up since a moment, in the order of the chain; their events still stand. */
const failedOf =
  (webhookId: string, since: Date) => (row: ExpressionBuilder<AppSchema, 'app.webhook_messages'>) =>
    row.and([
      row('webhook_id', '=', webhookId),
      row('created_at', '>=', since),
      row('replay', 'is', null),
      row('type', '<>', 'ping'),
      row('state', 'in', ['exhausted', 'withdrawn']),
      row('accepted_at', 'is', null),
      row('is_retracted', '=', false),
      row('envelope', 'is not', null),
    ])

/** The data of a kept envelope, as JSON. */
const sentData = sql<string>`(envelope::json -> 'data')::text`

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
  const { count, last } = await transaction
    .with(
      (table) => table('failed').materialized(),
      (query) =>
        query
          .selectFrom('app.webhook_messages')
          .selectAll()
          .where(failedOf(webhookId, since))
          .where('id', '>', lastMessage)
          .orderBy('id')
          .limit(most),
    )
    .with('queued', (query) =>
      query
        .insertInto('app.webhook_messages')
        .columns([...eventColumns, 'data', 'replay'])
        .expression((row) =>
          row
            .selectFrom('failed')
            .select([
              'webhook_id',
              'event_id',
              'type',
              sql.lit('waiting').as('state'),
              'block_num',
              'block_hash',
            ])
            .select(['event_index', sentData.as('data'), row.val(id).as('replay')])
            .orderBy('failed.id'),
        ),
    )
    .selectFrom('failed')
    .select((row) => [row.fn.countAll<number>().as('count'), row.fn.max('failed.id').as('last')])
    .executeTakeFirstOrThrow()
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
  { webhookId, chainId, stream }: StreamOf & { readonly webhookId: string },
  since: Date,
  most: number,
): Promise<{ readonly count: number; readonly first: readonly Failed[] }> {
  const failed = app.selectFrom('app.webhook_messages').where(failedOf(webhookId, since))
  const { count } = await failed
    .select((row) => row.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  const rows = await failed
    .select(['event_id', 'type', 'block_num', 'block_hash', 'event_index', sentData.as('data')])
    .select((row) => {
      const finalized = row
        .selectFrom('app.webhook_positions as p')
        .select('p.finalized')
        .where('p.chain_id', '=', chainId)
        .where('p.stream', '=', stream)
      return row('block_num', '<=', finalized).as('is_final')
    })
    .orderBy('id')
    .limit(most)
    .execute()
  return { count, first: rows.map((row) => failedMessage(webhookId, row)) }
}

/** Ends a replay: what it queued and nobody has begun to send is taken back. Null when none is under way. */
export const endReplay = (app: AppDatabase, webhookId: string): Promise<Replay | null> =>
  app.transaction().execute((transaction) => endUnderWay(transaction, webhookId))

/** Ends the replays of a chain that are under way, within the caller's transaction. */
export async function endReplaysOf(transaction: AppDatabase, chainId: number): Promise<void> {
  const replays = await transaction
    .selectFrom('app.webhook_replays')
    .innerJoin('app.webhooks', 'app.webhooks.id', 'webhook_id')
    .select('webhook_id')
    .where('chain_id', '=', chainId)
    .where('app.webhook_replays.status', 'in', ['matching', 'sending'])
    .execute()
  for (const { webhook_id: webhookId } of replays) await endUnderWay(transaction, webhookId)
}

async function endUnderWay(transaction: AppDatabase, webhookId: string): Promise<Replay | null> {
  const row = await transaction
    .updateTable('app.webhook_replays')
    .set({ status: 'ended', ended_at: databaseNow })
    .where('webhook_id', '=', webhookId)
    .where('status', 'in', ['matching', 'sending'])
    .returningAll()
    .executeTakeFirst()
  if (!row) return null
  await transaction
    .deleteFrom('app.webhook_messages')
    .where('replay', '=', row.id)
    .where('state', '=', 'waiting')
    .execute()
  await transaction
    .updateTable('app.webhook_messages')
    .set({ state: 'withdrawn' })
    .where('replay', '=', row.id)
    .where('state', 'in', ['sending', 'retrying'])
    .execute()
  return replayOf(row)
}

/** Finishes a replay of which nothing is open. */
export async function finishReplay(app: AppDatabase, id: string): Promise<void> {
  await app
    .updateTable('app.webhook_replays')
    .set({ status: 'finished', ended_at: databaseNow })
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
  readonly is_final: SqlBool | null
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
  isFinal: row.is_final === true,
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
