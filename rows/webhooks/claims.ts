/**
 * Deliveries are claimed for a limited time, by any number of processes: what a killed one had is
 * another's when the time is over. A claim, the number in the subscription's sequence, the bytes of
 * the envelope and the row of the attempt are one commit, before anything is sent.
 */
import { type SqlBool, sql } from 'kysely'
import type { Stream } from '#store/read/pieces.ts'
import { toHex } from '#store/sql.ts'
import { anyOf, unnested } from '../arrays.ts'
import { type AppDatabase, databaseNow, fromNow } from '../database.ts'
import { lostText } from './deliveries.ts'
import type { Context } from './subscriptions.ts'

/** A claim's time: longer than any attempt, with the wait for its turn. */
export const CLAIM_MS = 60_000

/** A subscription whose events are waiting, and how many of them may be claimed. */
export interface ClaimWish {
  readonly webhookId: string
  readonly count: number
}

export interface Claimed {
  readonly message: number
  readonly webhookId: string
  readonly owner: string
  readonly endpoint: string
  readonly chainId: number
  readonly eventId: string
  readonly type: string
  /** From 1. */
  readonly attempt: number
  /** Attempts before it whose sender ended before the answer. */
  readonly lost: number
  /** Null for pings, replays and notices: they are outside of the sequence. */
  readonly sequence: number | null
  readonly replay: string | null
  readonly block: { readonly number: number; readonly hash: string; readonly isFinal: boolean } | null
  readonly index: number
  /** Null once the envelope is written. */
  readonly data: string | null
  readonly envelope: string | null
  readonly createdAt: Date
  readonly context: Context | null
  /** As it is shown. */
  readonly url: string
  readonly sealedDestination: Uint8Array
  readonly secret: Uint8Array
  /** The former secret while it still signs. */
  readonly previousSecret: Uint8Array | null
}

/** An active subscription with something to send. */
export interface Waiting {
  readonly webhookId: string
  readonly owner: string
  readonly endpoint: string
  readonly isStrict: boolean
  readonly failureCount: number
}

/**
 * Subscriptions of which something waits for its first attempt, found by hopping from one to the
 * next in the index of what waits.
 */
export async function waitingSubscriptions(app: AppDatabase, lane: 'live' | 'replay'): Promise<Waiting[]> {
  const waits = sql.raw(`state = 'waiting' AND replay IS ${lane === 'live' ? 'NULL' : 'NOT NULL'}`)
  const { rows } = await sql<WaitingRow>`
    WITH RECURSIVE found (id) AS (
      (SELECT webhook_id FROM app.webhook_messages WHERE ${waits} ORDER BY webhook_id LIMIT 1)
      UNION ALL
      SELECT (SELECT webhook_id FROM app.webhook_messages WHERE ${waits} AND webhook_id > found.id
              ORDER BY webhook_id LIMIT 1)
      FROM found WHERE found.id IS NOT NULL)
    SELECT w.id, owner, endpoint, ordering, failure_count FROM found JOIN app.webhooks w ON w.id = found.id
    WHERE ${deliverable}`.execute(app)
  return rows.map(({ id, owner, endpoint, ordering, failure_count }) => ({
    webhookId: id,
    owner,
    endpoint,
    isStrict: ordering === 'strict',
    failureCount: failure_count,
  }))
}

/** The stream of each type of event: the position there tells what is final of it. */
export type StreamsOfTypes = Readonly<Record<string, Stream>>

/**
 * Claims first attempts, in each subscription's order. Rows of subscriptions are locked first, so
 * that the next statement sees what another process has claimed by then: the sequence has no gaps.
 */
export async function claimFirst(
  transaction: AppDatabase,
  wishes: readonly ClaimWish[],
  lane: 'live' | 'replay',
  streams: StreamsOfTypes,
): Promise<Claimed[]> {
  const ids = wishes.map(({ webhookId }) => webhookId)
  const locked = await transaction
    .selectFrom('app.webhooks as w')
    .select('w.id')
    .where('w.id', '=', anyOf('text', ids))
    .where(deliverable)
    .orderBy('w.id')
    .forNoKeyUpdate()
    .skipLocked()
    .execute()
  if (locked.length === 0) return []
  const mine = new Set(locked.map(({ id }) => id))
  const granted = wishes.filter(({ webhookId }) => mine.has(webhookId))
  const isLive = lane === 'live'
  // A strict subscription has one message under way, until it is taken or given up.
  const { rows } = await sql<ClaimedRow>`
    WITH wish AS (
      SELECT * FROM unnest(${granted.map(({ webhookId }) => webhookId)}::text[], ${granted.map(({ count }) => count)}::integer[])
        AS wish (webhook, most)),
    picked AS MATERIALIZED (
      SELECT one.id, one.webhook_id FROM wish JOIN app.webhooks w ON w.id = wish.webhook
      CROSS JOIN LATERAL (
        SELECT id, webhook_id FROM app.webhook_messages AS m
        WHERE m.webhook_id = w.id AND state = 'waiting' AND ${sql.raw(isLive ? 'replay IS NULL' : 'replay IS NOT NULL')}
        ORDER BY id LIMIT wish.most FOR UPDATE) AS one
      WHERE NOT ${isLive} OR w.ordering = 'none' OR NOT EXISTS (
        SELECT 1 FROM app.webhook_messages AS open
        WHERE open.webhook_id = w.id AND open.state IN ('sending', 'retrying') AND open.replay IS NULL AND open.type <> 'ping')),
    numbered AS (
      SELECT picked.id, picked.webhook_id,
        w.next_sequence + row_number() OVER (PARTITION BY picked.webhook_id ORDER BY picked.id) - 1 AS sequence
      FROM picked JOIN app.webhooks w ON w.id = picked.webhook_id),
    counted AS (
      UPDATE app.webhooks AS w SET next_sequence = next_sequence + added.count
      FROM (SELECT webhook_id, count(*) FROM numbered GROUP BY 1) AS added
      WHERE w.id = added.webhook_id AND ${isLive} RETURNING w.id),
    claimed AS (
      UPDATE app.webhook_messages AS m
      SET state = 'sending', attempts = attempts + 1, is_logged = true, due_at = clock_timestamp() + ${CLAIM_MS} * interval '1 ms',
          sequence = CASE WHEN ${isLive} THEN numbered.sequence END
      FROM numbered WHERE m.id = numbered.id RETURNING m.*)
    ${claimedRows(streams)}`.execute(transaction)
  return rows.map(claimedOf)
}

/**
 * Messages whose next attempt is due, and those whose sender has gone; the longest due first. All of
 * them up to `most`; where there are more, the first of each subscription: an endpoint's backlog
 * stands before nobody else's.
 */
export async function dueSubscriptions(
  app: AppDatabase,
  most: number,
): Promise<(Waiting & { readonly message: number })[]> {
  const oldest = await app
    .selectFrom('app.webhook_messages as m')
    .innerJoin('app.webhooks as w', 'w.id', 'm.webhook_id')
    .select(['m.id as message', 'w.id', 'w.owner', 'w.endpoint', 'w.ordering', 'w.failure_count'])
    .where('m.state', 'in', ['sending', 'retrying'])
    .where('m.due_at', '<=', sql<Date>`statement_timestamp()`)
    .where(deliverable)
    .orderBy('m.due_at')
    .limit(most)
    .execute()
  const rows = oldest.length < most ? oldest : await firstDue(app)
  return rows.map(({ message, id, owner, endpoint, ordering, failure_count }) => ({
    message,
    webhookId: id,
    owner,
    endpoint,
    isStrict: ordering === 'strict',
    failureCount: failure_count,
  }))
}

/** Hops from one subscription to the next in the index of what is open. */
async function firstDue(app: AppDatabase): Promise<readonly DueRow[]> {
  const { rows } = await sql<DueRow>`
    WITH RECURSIVE found (id) AS (
      (SELECT webhook_id FROM app.webhook_messages WHERE state IN ('sending', 'retrying') ORDER BY webhook_id LIMIT 1)
      UNION ALL
      SELECT (SELECT webhook_id FROM app.webhook_messages
              WHERE state IN ('sending', 'retrying') AND webhook_id > found.id ORDER BY webhook_id LIMIT 1)
      FROM found WHERE found.id IS NOT NULL)
    SELECT one.id AS message, w.id, owner, endpoint, ordering, failure_count
    FROM found JOIN app.webhooks w ON w.id = found.id
    CROSS JOIN LATERAL (
      SELECT m.id, m.due_at FROM app.webhook_messages AS m
      WHERE m.webhook_id = w.id AND m.state IN ('sending', 'retrying') AND m.due_at <= statement_timestamp()
      ORDER BY m.due_at LIMIT 1) AS one
    WHERE ${deliverable} ORDER BY one.due_at`.execute(app)
  return rows
}

/** Claims a further attempt of each of these, unless another process was first. */
export async function claimDue(
  transaction: AppDatabase,
  messages: readonly number[],
  streams: StreamsOfTypes,
): Promise<Claimed[]> {
  const { rows } = await sql<ClaimedRow>`
    WITH picked AS (
      SELECT m.id FROM app.webhook_messages m
      WHERE m.id = ANY (${messages}::bigint[]) AND state IN ('sending', 'retrying') AND due_at <= clock_timestamp()
      FOR UPDATE SKIP LOCKED),
    lost AS (
      UPDATE app.webhook_deliveries SET status = 'failed', error = ${lostText}
      WHERE message IN (SELECT id FROM picked) AND status = 'pending' RETURNING id),
    claimed AS (
      UPDATE app.webhook_messages AS m
      SET state = 'sending', attempts = attempts + 1, is_logged = true, due_at = clock_timestamp() + ${CLAIM_MS} * interval '1 ms'
      FROM picked WHERE m.id = picked.id RETURNING m.*)
    ${claimedRows(streams)}`.execute(transaction)
  return rows.map(claimedOf)
}

export interface Attempt {
  readonly id: string
  readonly claimed: Pick<Claimed, 'message' | 'webhookId' | 'eventId' | 'attempt' | 'url'>
  /** The bytes that are sent; null after the first attempt, which wrote them. */
  readonly envelope: string | null
}

/** Writes envelopes for good, and the rows of attempts. */
export async function insertAttempts(transaction: AppDatabase, attempts: readonly Attempt[]): Promise<void> {
  const written = attempts.filter(({ envelope }) => envelope !== null)
  if (written.length > 0)
    await transaction
      .updateTable('app.webhook_messages as m')
      .from(
        unnested('one', {
          message: ['bigint', written.map(({ claimed }) => claimed.message)],
          envelope: ['text', written.map(({ envelope }) => envelope)],
        }),
      )
      .set((row) => ({ envelope: row.ref('one.envelope'), data: null }))
      .whereRef('m.id', '=', 'one.message')
      .execute()
  const one = unnested('one', {
    id: ['text', attempts.map(({ id }) => id)],
    webhook: ['text', attempts.map(({ claimed }) => claimed.webhookId)],
    message: ['bigint', attempts.map(({ claimed }) => claimed.message)],
    event: ['text', attempts.map(({ claimed }) => claimed.eventId)],
    attempt: ['integer', attempts.map(({ claimed }) => claimed.attempt)],
    url: ['text', attempts.map(({ claimed }) => claimed.url)],
  })
  await transaction
    .insertInto('app.webhook_deliveries')
    .columns(['id', 'webhook_id', 'message', 'event_id', 'attempt', 'request_url', 'status'])
    .expression((row) =>
      row
        .selectFrom(one)
        .select(['one.id', 'one.webhook', 'one.message', 'one.event', 'one.attempt', 'one.url'])
        .select(sql.lit('pending').as('status')),
    )
    .execute()
}

/** The data that a message is sent with, whatever the status of its subscription. */
export async function readClaim(
  app: AppDatabase,
  webhookId: string,
): Promise<{
  readonly destination: Uint8Array
  readonly secret: Uint8Array
  readonly previousSecret: Uint8Array | null
}> {
  const row = await app
    .selectFrom('app.webhooks')
    .select(['sealed_destination', 'secret', 'previous_secret'])
    .select(sql<boolean>`previous_until > clock_timestamp()`.as('has_previous'))
    .where('id', '=', webhookId)
    .executeTakeFirstOrThrow()
  const { sealed_destination: destination, secret, previous_secret: previous, has_previous } = row
  return { destination, secret, previousSecret: has_previous ? previous : null }
}

/** Has a claim begin again, unless nothing is to be sent to its subscription now. */
export async function keepClaim(app: AppDatabase, message: number): Promise<boolean> {
  const { numUpdatedRows } = await app
    .updateTable('app.webhook_messages as m')
    .from('app.webhooks as w')
    .set({ due_at: fromNow(CLAIM_MS) })
    .where('m.id', '=', message)
    .where('m.state', '=', 'sending')
    .whereRef('w.id', '=', 'm.webhook_id')
    .where(deliverable)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** Gives a claim back that nothing was sent under: its attempt has not been. */
export async function releaseClaim(app: AppDatabase, message: number, delivery: string): Promise<void> {
  await app
    .with('gone', (query) =>
      query
        .deleteFrom('app.webhook_deliveries')
        .where('id', '=', delivery)
        .where('status', '=', 'pending')
        .returning('id'),
    )
    .updateTable('app.webhook_messages')
    .set((row) => ({ state: 'retrying', attempts: row('attempts', '-', 1), due_at: databaseNow }))
    .where('id', '=', message)
    .where('state', '=', 'sending')
    .where((row) => row.exists(row.selectFrom('gone').select('gone.id')))
    .execute()
}

interface DueRow extends WaitingRow {
  readonly message: number
}

interface WaitingRow {
  readonly id: string
  readonly owner: string
  readonly endpoint: string
  readonly ordering: string
  readonly failure_count: number
}

const deliverable = sql.raw<SqlBool>(
  `w.status = 'active' AND w.deleted_at IS NULL AND (w.expires_at IS NULL OR w.expires_at > clock_timestamp())`,
)

/** The messages in `claimed`, with what their subscription says. */
const claimedRows = (streams: StreamsOfTypes) => sql`
  SELECT c.id, c.webhook_id, w.owner, w.endpoint, w.chain_id, c.event_id, c.type, c.attempts, c.sequence, c.replay,
    c.block_num, c.block_hash, c.event_index, c.data, c.envelope, c.created_at, w.context, w.destination,
    (SELECT count(*) FROM app.webhook_deliveries d WHERE d.message = c.id AND d.error = ${lostText}) AS lost,
    w.sealed_destination, w.secret, CASE WHEN w.previous_until > clock_timestamp() THEN w.previous_secret END AS previous_secret,
    coalesce((SELECT finalized FROM app.webhook_positions p WHERE p.chain_id = w.chain_id
      AND p.stream = coalesce(${JSON.stringify(streams)}::jsonb ->> w.event_type, 'blocks')), -1) AS finalized
  FROM claimed c JOIN app.webhooks w ON w.id = c.webhook_id ORDER BY c.id`

interface ClaimedRow {
  readonly id: number
  readonly webhook_id: string
  readonly owner: string
  readonly endpoint: string
  readonly chain_id: number
  readonly event_id: string
  readonly type: string
  readonly attempts: number
  readonly lost: number
  readonly sequence: number | null
  readonly replay: string | null
  readonly block_num: number | null
  readonly block_hash: Buffer | null
  readonly event_index: number | null
  readonly data: string | null
  readonly envelope: string | null
  readonly created_at: Date
  readonly context: Context | null
  readonly destination: { readonly url: string }
  readonly sealed_destination: Buffer
  readonly secret: Buffer
  readonly previous_secret: Buffer | null
  readonly finalized: number
}

const claimedOf = (row: ClaimedRow): Claimed => ({
  message: row.id,
  webhookId: row.webhook_id,
  owner: row.owner,
  endpoint: row.endpoint,
  chainId: row.chain_id,
  eventId: row.event_id,
  type: row.type,
  attempt: row.attempts,
  lost: row.lost,
  sequence: row.sequence,
  replay: row.replay,
  block:
    row.block_num === null || row.block_hash === null
      ? null
      : { number: row.block_num, hash: toHex(row.block_hash), isFinal: row.block_num <= row.finalized },
  index: row.event_index ?? 0,
  data: row.data,
  envelope: row.envelope,
  createdAt: row.created_at,
  context: row.context,
  url: row.destination.url,
  sealedDestination: row.sealed_destination,
  secret: row.secret,
  previousSecret: row.previous_secret,
})
