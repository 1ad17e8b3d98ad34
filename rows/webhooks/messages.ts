/**
 * Events on their way to subscriptions: written by the matcher in the transaction that moves its
 * position, taken back when their block is replaced.
 */
import { type ExpressionBuilder, sql } from 'kysely'
import { toBytes } from '#store/sql.ts'
import { anyOf, unnested } from '../arrays.ts'
import { type AppDatabase, databaseNow } from '../database.ts'
import type { AppSchema } from '../tables.ts'

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

/** The part of every message that tells its event. */
export const eventColumns = [
  'webhook_id',
  'event_id',
  'type',
  'state',
  'block_num',
  'block_hash',
  'event_index',
] as const

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
  const one = unnested(
    'one',
    {
      webhook: ['text', messages.map(({ webhookId }) => webhookId)],
      event: ['text', messages.map(({ eventId }) => eventId)],
      type: ['text', messages.map(({ type }) => type)],
      state: ['text', messages.map(({ waitsForFinality }) => (waitsForFinality ? 'unfinal' : 'waiting'))],
      num: ['bigint', messages.map(({ block }) => block?.number ?? null)],
      hash: ['bytea', messages.map(({ block }) => block && toBytes(block.hash))],
      index: ['integer', messages.map(({ index }) => index)],
      text: ['integer', numbers],
    },
    'place',
  )
  const rows = await transaction
    .insertInto('app.webhook_messages')
    .columns([...eventColumns, 'data', 'replay'])
    .expression((row) =>
      row
        .selectFrom(one)
        .innerJoin(
          unnested('texts', { data: ['text', [...texts.keys()]] }, 'number'),
          'texts.number',
          'one.text',
        )
        .select(['one.webhook', 'one.event', 'one.type', 'one.state', 'one.num', 'one.hash', 'one.index'])
        .select(['texts.data', row.val(replay).as('replay')])
        .orderBy('one.place'),
    )
    .onConflict((conflict) =>
      conflict.columns(['webhook_id', 'event_id']).where('replay', 'is', null).doNothing(),
    )
    .returning(['webhook_id', 'event_id'])
    .execute()
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
    .where('webhook_id', 'in', (row) =>
      row
        .selectFrom('app.webhooks as w')
        .select('w.id')
        .where('w.chain_id', '=', chainId)
        .where('w.finality', '=', 'finalized'),
    )
    .executeTakeFirst()
  return Number(numUpdatedRows)
}

/** A message that was sent, and of which the opposite is to be told now. */
export interface SentMessage {
  readonly id: number
  readonly webhookId: string
  readonly eventId: string
  readonly type: string
  readonly blockNumber: number | null
  readonly blockHash: Buffer | null
  readonly index: number | null
  /** Retractions and restorations told of it before. */
  readonly told: number
}

/** With what was sent, unless that is no longer kept. */
export interface SentAgain extends SentMessage {
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
): AsyncGenerator<readonly SentMessage[]> {
  const ofBlocks = (row: ExpressionBuilder<AppSchema, 'app.webhook_messages'>) =>
    row.and([
      row(
        'webhook_id',
        'in',
        row.selectFrom('app.webhooks as w').select('w.id').where('w.chain_id', '=', chainId),
      ),
      row('type', '=', anyOf('text', eventTypes)),
      row('block_num', '>=', from),
    ])
  await transaction
    .deleteFrom('app.webhook_messages')
    .where(ofBlocks)
    .where('replay', 'is', null)
    .where('state', 'in', ['waiting', 'unfinal'])
    .execute()
  // A message that failed and is sent once more: the retraction is that of the first time.
  await transaction
    .updateTable('app.webhook_messages')
    .set({ state: 'withdrawn' })
    .where(ofBlocks)
    .where('replay', 'is not', null)
    .where('state', 'in', ['waiting', 'retrying'])
    .execute()
  const sent = transaction
    .selectFrom('app.webhook_messages')
    .select('id')
    .where(ofBlocks)
    .where('replay', 'is', null)
    .where('is_retracted', '=', false)
    .where('attempts', '>', 0)
    .where('webhook_id', 'in', (row) =>
      row.selectFrom('app.webhooks as w').select('w.id').where('w.finality', '=', 'latest'),
    )
    .orderBy('id')
    .limit(SLICE_MESSAGES)
  for (let count = SLICE_MESSAGES; count === SLICE_MESSAGES; ) {
    const rows = await transaction
      .with('moved', (query) =>
        query
          .updateTable('app.webhook_messages')
          .set({ is_retracted: true, state: 'withdrawn' })
          .where('id', 'in', sent)
          .returning(sentColumns),
      )
      .selectFrom('moved')
      .selectAll('moved')
      .select(told)
      .orderBy('moved.id')
      .execute()
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
  const one = unnested('one', {
    webhook: ['text', again.map(({ webhookId }) => webhookId)],
    event: ['text', again.map(({ eventId }) => eventId)],
  })
  const rows = await transaction
    .with('moved', (query) =>
      query
        .updateTable('app.webhook_messages')
        .from(one)
        .set({ is_retracted: false })
        .whereRef('webhook_id', '=', 'one.webhook')
        .whereRef('event_id', '=', 'one.event')
        .where('replay', 'is', null)
        .where('is_retracted', '=', true)
        .returning([...sentColumns, 'envelope']),
    )
    .selectFrom('moved')
    .selectAll('moved')
    .select(told)
    .orderBy('moved.id')
    .execute()
  const sent = rows.map((row): SentAgain => ({ ...sentOf(row), envelope: row.envelope }))
  const toTell = await takeBackTellings(transaction, sent)
  const untold = sent.filter(({ id }) => !toTell.some((one) => one.id === id))
  // Its retraction was never sent, so it goes on where it was.
  if (untold.length > 0)
    await transaction
      .updateTable('app.webhook_messages')
      .set((row) => ({
        state: row
          .case()
          .when('accepted_at', 'is not', null)
          .then('delivered')
          .when('attempts', '<', attemptsMax)
          .then('retrying')
          .else('exhausted')
          .end(),
        due_at: databaseNow,
      }))
      .where(
        'id',
        '=',
        anyOf(
          'bigint',
          untold.map(({ id }) => id),
        ),
      )
      .execute()
  return toTell
}

/** Takes back messages that were not sent yet; returns the others. */
async function takeBackTellings<One extends SentMessage>(
  transaction: AppDatabase,
  sent: readonly One[],
): Promise<readonly One[]> {
  if (sent.length === 0) return []
  const ids = sent.map(({ id }) => id)
  const rows = await transaction
    .deleteFrom('app.webhook_messages')
    .where('about', '=', anyOf('bigint', ids))
    .where('state', '=', 'waiting')
    .returning('about')
    .execute()
  const taken = new Set(rows.map(({ about }) => about))
  return sent.filter(({ id }) => !taken.has(id))
}

export interface Telling {
  readonly about: SentMessage
  readonly eventId: string
  readonly type: 'event:retracted' | 'event:restored'
  readonly data: string
}

/** Stores retractions or restorations, in their order. */
export async function insertTellings(transaction: AppDatabase, tellings: readonly Telling[]): Promise<void> {
  if (tellings.length === 0) return
  const one = unnested(
    'one',
    {
      webhook: ['text', tellings.map(({ about }) => about.webhookId)],
      event: ['text', tellings.map(({ eventId }) => eventId)],
      type: ['text', tellings.map(({ type }) => type)],
      num: ['bigint', tellings.map(({ about }) => about.blockNumber)],
      hash: ['bytea', tellings.map(({ about }) => about.blockHash)],
      index: ['integer', tellings.map(({ about }) => about.index)],
      about: ['bigint', tellings.map(({ about }) => about.id)],
      data: ['text', tellings.map(({ data }) => data)],
    },
    'place',
  )
  await transaction
    .insertInto('app.webhook_messages')
    .columns([...eventColumns, 'about', 'data'])
    .expression((row) =>
      row
        .selectFrom(one)
        .select([
          'one.webhook',
          'one.event',
          'one.type',
          sql.lit('waiting').as('state'),
          'one.num',
          'one.hash',
        ])
        .select(['one.index', 'one.about', 'one.data'])
        .orderBy('one.place'),
    )
    .execute()
}

interface SentRow {
  readonly id: number
  readonly webhook_id: string
  readonly event_id: string
  readonly type: string
  readonly block_num: number | null
  readonly block_hash: Buffer | null
  readonly event_index: number | null
  readonly told: number
}

const sentColumns = [
  'id',
  'webhook_id',
  'event_id',
  'type',
  'block_num',
  'block_hash',
  'event_index',
] as const

/** How often the event of a row of `moved` was told. */
const told =
  sql<number>`(SELECT count(*) FROM app.webhook_messages AS other WHERE other.about = moved.id)`.as('told')

const sentOf = (row: SentRow): SentMessage => ({
  id: row.id,
  webhookId: row.webhook_id,
  eventId: row.event_id,
  type: row.type,
  blockNumber: row.block_num,
  blockHash: row.block_hash,
  index: row.event_index,
  told: row.told,
})
