/**
 * Events on their way to subscriptions: written by the matcher in the transaction that moves its
 * position, taken back when their block is replaced.
 */
import { sql } from 'kysely'
import { toBytes } from '#store/sql.ts'
import type { AppDatabase } from '../database.ts'

/** An event for one subscription. */
export interface Message {
  readonly webhookId: string
  readonly eventId: string
  readonly type: string
  readonly block: { readonly number: number; readonly hash: string } | null
  readonly index: number
  /** `data` of the envelope, as JSON. */
  readonly data: string
  /** Waits until its block is final. */
  readonly waitsForFinality: boolean
}

/** Messages of one statement, and characters of their data: some tens of megabytes in memory. */
const SLICE_MESSAGES = 5_000
const SLICE_CHARACTERS = 16 * 1024 * 1024

/**
 * Stores messages in their order, taken from their source a slice at a time; the number of those
 * given. Those of an event that the subscription has already are left out and told to `known`. Of a
 * replay nothing is left out: it sends what was sent.
 */
export async function insertMessages(
  transaction: AppDatabase,
  messages: Iterable<Message>,
  {
    replay = null,
    known = async () => {},
  }: {
    readonly replay?: string | null
    readonly known?: (messages: readonly Message[]) => Promise<void>
  } = {},
): Promise<number> {
  let count = 0
  for (const slice of slicesOf(messages)) {
    count += slice.length
    const again = await insertSlice(transaction, slice, replay)
    if (again.length > 0) await known(again)
  }
  return count
}

function* slicesOf(messages: Iterable<Message>): Generator<readonly Message[]> {
  let slice: Message[] = []
  let characters = 0
  for (const message of messages) {
    slice.push(message)
    characters += message.data.length
    if (slice.length < SLICE_MESSAGES && characters < SLICE_CHARACTERS) continue
    yield slice
    slice = []
    characters = 0
  }
  if (slice.length > 0) yield slice
}

/** Data that many subscriptions get is handed over once. Returned are those left out. */
async function insertSlice(
  transaction: AppDatabase,
  messages: readonly Message[],
  replay: string | null,
): Promise<readonly Message[]> {
  const texts = new Map<string, number>()
  const textOf = ({ data }: Message): number => {
    const number = texts.get(data) ?? texts.size + 1
    texts.set(data, number)
    return number
  }
  const numbers = messages.map(textOf)
  const { rows } = await sql<{ webhook_id: string; event_id: string }>`
    INSERT INTO app.webhook_messages (webhook_id, event_id, type, state, block_num, block_hash, event_index, data, replay)
    SELECT webhook, event, type, CASE WHEN waits THEN 'unfinal' ELSE 'waiting' END, num, hash, index, data, ${replay}
    FROM unnest(
      ${messages.map(({ webhookId }) => webhookId)}::text[], ${messages.map(({ eventId }) => eventId)}::text[],
      ${messages.map(({ type }) => type)}::text[], ${messages.map(({ waitsForFinality }) => waitsForFinality)}::boolean[],
      ${messages.map(({ block }) => block?.number ?? null)}::bigint[],
      ${messages.map(({ block }) => block && toBytes(block.hash))}::bytea[],
      ${messages.map(({ index }) => index)}::integer[], ${numbers}::integer[]
    ) WITH ORDINALITY AS one (webhook, event, type, waits, num, hash, index, text, place)
    JOIN unnest(${[...texts.keys()]}::text[]) WITH ORDINALITY AS texts (data, number) ON number = text
    ORDER BY place
    ON CONFLICT (webhook_id, event_id) WHERE replay IS NULL DO NOTHING
    RETURNING webhook_id, event_id`.execute(transaction)
  if (rows.length === messages.length) return []
  const stored = new Set(rows.map((row) => `${row.webhook_id} ${row.event_id}`))
  return messages.filter(({ webhookId, eventId }) => !stored.has(`${webhookId} ${eventId}`))
}

/** Lets events of these types go that waited for their block to be final. */
export async function releaseFinal(
  transaction: AppDatabase,
  chainId: number,
  eventTypes: readonly string[],
  finalized: number,
): Promise<number> {
  const { numUpdatedRows } = await transaction
    .updateTable('app.webhook_messages')
    .set({ state: 'waiting' })
    .where('state', '=', 'unfinal')
    .where('type', 'in', eventTypes)
    .where('block_num', '<=', finalized)
    .where(
      sql<boolean>`webhook_id IN (SELECT id FROM app.webhooks WHERE chain_id = ${chainId} AND finality = 'finalized')`,
    )
    .executeTakeFirst()
  return Number(numUpdatedRows)
}

/** A message that was sent, and of which the opposite is to be told now. */
export interface Sent {
  readonly id: number
  readonly webhookId: string
  readonly eventId: string
  readonly type: string
  readonly blockNumber: number
  readonly blockHash: Buffer
  readonly index: number
  /** Retractions and restorations told of it before. */
  readonly told: number
}

/** With what was sent, unless that is no longer kept. */
export interface SentAgain extends Sent {
  readonly envelope: string | null
}

/**
 * Takes back the events of blocks from `from` on, of the given types: never sent ones vanish, those
 * sent are given, in their order and a slice at a time, for one retraction each.
 */
export async function* retractFrom(
  transaction: AppDatabase,
  chainId: number,
  eventTypes: readonly string[],
  from: number,
): AsyncGenerator<readonly Sent[]> {
  const ofBlocks = sql`webhook_id IN (SELECT id FROM app.webhooks WHERE chain_id = ${chainId})
    AND type = ANY (${eventTypes}::text[]) AND block_num >= ${from}`
  const ofChain = sql`${ofBlocks} AND replay IS NULL`
  await sql`DELETE FROM app.webhook_messages WHERE ${ofChain} AND state IN ('waiting', 'unfinal')`.execute(
    transaction,
  )
  // What failed and is sent once more: the retraction is that of the first time.
  await sql`
    UPDATE app.webhook_messages SET state = 'withdrawn'
    WHERE ${ofBlocks} AND replay IS NOT NULL AND state IN ('waiting', 'retrying')`.execute(transaction)
  for (let count = SLICE_MESSAGES; count === SLICE_MESSAGES; ) {
    const { rows } = await sql<SentRow>`
      WITH gone AS (
        UPDATE app.webhook_messages SET is_retracted = true, state = 'withdrawn' WHERE id IN (
          SELECT id FROM app.webhook_messages WHERE ${ofChain} AND NOT is_retracted AND attempts > 0
            AND webhook_id IN (SELECT id FROM app.webhooks WHERE finality = 'latest')
          ORDER BY id LIMIT ${SLICE_MESSAGES})
        RETURNING *)
      SELECT ${sentColumns} FROM gone AS moved ORDER BY moved.id`.execute(transaction)
    count = rows.length
    yield await takeBackTellings(transaction, rows.map(sentOf))
  }
}

/** Events that are true again: returned are those whose retraction was sent, for one restoration each. */
export async function restoreAgain(
  transaction: AppDatabase,
  again: readonly Pick<Message, 'webhookId' | 'eventId'>[],
  attemptsMax: number,
): Promise<readonly SentAgain[]> {
  const { rows } = await sql<SentRow & Pick<SentAgain, 'envelope'>>`
    WITH back AS (
      UPDATE app.webhook_messages AS m SET is_retracted = false
      FROM unnest(${again.map(({ webhookId }) => webhookId)}::text[], ${again.map(({ eventId }) => eventId)}::text[])
        AS one (webhook, event)
      WHERE m.webhook_id = webhook AND m.event_id = event AND m.replay IS NULL AND m.is_retracted
      RETURNING m.*)
    SELECT ${sentColumns}, moved.envelope FROM back AS moved ORDER BY moved.id`.execute(transaction)
  const sent = rows.map((row): SentAgain => ({ ...sentOf(row), envelope: row.envelope }))
  const told = await takeBackTellings(transaction, sent)
  const untold = sent.filter(({ id }) => !told.some((one) => one.id === id))
  // Its retraction was never sent, so it goes on where it was.
  if (untold.length > 0)
    await sql`
      UPDATE app.webhook_messages
      SET state = CASE WHEN accepted_at IS NOT NULL THEN 'delivered' WHEN attempts < ${attemptsMax} THEN 'retrying'
                       ELSE 'exhausted' END, due_at = clock_timestamp()
      WHERE id = ANY (${untold.map(({ id }) => id)}::bigint[])`.execute(transaction)
  return told
}

/** What was to be told and was not sent yet is taken back; returned are the others. */
async function takeBackTellings<One extends Sent>(
  transaction: AppDatabase,
  sent: readonly One[],
): Promise<readonly One[]> {
  if (sent.length === 0) return []
  const { rows } = await sql<{ about: number }>`
    DELETE FROM app.webhook_messages WHERE about = ANY (${sent.map(({ id }) => id)}::bigint[]) AND state = 'waiting'
    RETURNING about`.execute(transaction)
  const taken = new Set(rows.map(({ about }) => about))
  return sent.filter(({ id }) => !taken.has(id))
}

export interface Telling {
  readonly about: Sent
  readonly eventId: string
  readonly type: 'event:retracted' | 'event:restored'
  readonly data: string
}

/** Stores retractions or restorations, in their order. */
export async function insertTellings(transaction: AppDatabase, tellings: readonly Telling[]): Promise<void> {
  if (tellings.length === 0) return
  await sql`
    INSERT INTO app.webhook_messages (webhook_id, event_id, type, state, block_num, block_hash, event_index, about, data)
    SELECT webhook, event, type, 'waiting', num, hash, index, about, data
    FROM unnest(
      ${tellings.map(({ about }) => about.webhookId)}::text[], ${tellings.map(({ eventId }) => eventId)}::text[],
      ${tellings.map(({ type }) => type)}::text[], ${tellings.map(({ about }) => about.blockNumber)}::bigint[],
      ${tellings.map(({ about }) => about.blockHash)}::bytea[], ${tellings.map(({ about }) => about.index)}::integer[],
      ${tellings.map(({ about }) => about.id)}::bigint[], ${tellings.map(({ data }) => data)}::text[]
    ) WITH ORDINALITY AS one (webhook, event, type, num, hash, index, about, data, place)
    ORDER BY place`.execute(transaction)
}

interface SentRow {
  readonly id: number
  readonly webhook_id: string
  readonly event_id: string
  readonly type: string
  readonly block_num: number
  readonly block_hash: Buffer
  readonly event_index: number
  readonly told: number
}

const sentColumns =
  sql.raw(`moved.id, moved.webhook_id, moved.event_id, moved.type, moved.block_num, moved.block_hash, moved.event_index,
  (SELECT count(*) FROM app.webhook_messages AS other WHERE other.about = moved.id) AS told`)

const sentOf = (row: SentRow): Sent => ({
  id: row.id,
  webhookId: row.webhook_id,
  eventId: row.event_id,
  type: row.type,
  blockNumber: row.block_num,
  blockHash: row.block_hash,
  index: row.event_index,
  told: row.told,
})
