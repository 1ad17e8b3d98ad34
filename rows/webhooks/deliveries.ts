/** Attempts, as their subscription's owner reads them. */
import { type AppDatabase, fromNow } from '../database.ts'
import type { OwnedPage } from './subscriptions.ts'

export const deliveryStatuses = ['pending', 'succeeded', 'failed'] as const
export type DeliveryStatus = (typeof deliveryStatuses)[number]

export interface Delivery {
  readonly id: string
  readonly subscriptionId: string
  readonly eventId: string
  readonly attempt: number
  readonly status: string
  readonly requestUrl: string
  readonly responseStatus: number | null
  readonly responseMs: number | null
  readonly error: string | null
  readonly createdAt: Date
}

export interface DeliveryDetail extends Delivery {
  readonly message: number
  readonly type: string
  /** The bytes sent. */
  readonly envelope: string
}

/** Deliveries of a subscription, of one status where one is given, the newest first. */
export async function listDeliveries(
  app: AppDatabase,
  webhookId: string,
  { before, offset, limit }: OwnedPage,
  status?: DeliveryStatus,
): Promise<Delivery[]> {
  const rows = await app
    .selectFrom('app.webhook_deliveries')
    .select(columns)
    .where('webhook_id', '=', webhookId)
    .$if(before !== undefined, (query) => query.where('id', '<', before ?? ''))
    .$if(status !== undefined, (query) => query.where('status', '=', status ?? ''))
    .orderBy('id', 'desc')
    .offset(offset)
    .limit(limit)
    .execute()
  return rows.map(deliveryOf)
}

export async function countDeliveries(
  app: AppDatabase,
  webhookId: string,
  status?: DeliveryStatus,
): Promise<number> {
  const { count } = await app
    .selectFrom('app.webhook_deliveries')
    .select((row) => row.fn.countAll<number>().as('count'))
    .where('webhook_id', '=', webhookId)
    .$if(status !== undefined, (query) => query.where('status', '=', status ?? ''))
    .executeTakeFirstOrThrow()
  return count
}

/** Null also when what was sent is no longer kept. */
export async function findDelivery(
  app: AppDatabase,
  webhookId: string,
  id: string,
): Promise<DeliveryDetail | null> {
  const row = await app
    .selectFrom('app.webhook_deliveries')
    .innerJoin('app.webhook_messages', 'app.webhook_messages.id', 'message')
    .select(columns)
    .select(['message', 'type', 'envelope'])
    .where('app.webhook_deliveries.id', '=', id)
    .where('app.webhook_deliveries.webhook_id', '=', webhookId)
    .executeTakeFirst()
  if (!row || row.envelope === null) return null
  return { ...deliveryOf(row), message: row.message, type: row.type, envelope: row.envelope }
}

/** Stores a message that is sent at once and outside of the queue, such as a ping. */
export async function insertImmediate(
  app: AppDatabase,
  of: {
    readonly webhookId: string
    readonly eventId: string
    readonly type: string
    readonly envelope: string
  },
): Promise<number> {
  const { id } = await app
    .insertInto('app.webhook_messages')
    .values({
      webhook_id: of.webhookId,
      event_id: of.eventId,
      type: of.type,
      state: 'exhausted',
      envelope: of.envelope,
      attempts: 1,
      is_logged: true,
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

/** Counts one more attempt of a message, whatever became of those before; its number. */
export async function countAttempt(app: AppDatabase, message: number): Promise<number> {
  const { attempts } = await app
    .updateTable('app.webhook_messages')
    .set((row) => ({ attempts: row('attempts', '+', 1), is_logged: true }))
    .where('id', '=', message)
    .returning('attempts')
    .executeTakeFirstOrThrow()
  return attempts
}

/** Ends attempts outside of the queue whose process has gone. */
export async function failLostDeliveries(app: AppDatabase, olderThanMs: number): Promise<void> {
  await app
    .updateTable('app.webhook_deliveries')
    .set({ status: 'failed', error: lostText })
    .where('status', '=', 'pending')
    .where('created_at', '<', fromNow(-olderThanMs))
    .execute()
}

/** The text for an attempt nobody knows the outcome of. */
export const lostText = 'The sender ended before the answer.'

const columns = [
  'app.webhook_deliveries.id',
  'app.webhook_deliveries.webhook_id',
  'app.webhook_deliveries.event_id',
  'app.webhook_deliveries.attempt',
  'app.webhook_deliveries.status',
  'app.webhook_deliveries.request_url',
  'app.webhook_deliveries.response_status',
  'app.webhook_deliveries.response_ms',
  'app.webhook_deliveries.error',
  'app.webhook_deliveries.created_at',
] as const

interface DeliveryRow {
  readonly id: string
  readonly webhook_id: string
  readonly event_id: string
  readonly attempt: number
  readonly status: string
  readonly request_url: string
  readonly response_status: number | null
  readonly response_ms: number | null
  readonly error: string | null
  readonly created_at: Date
}

const deliveryOf = (row: DeliveryRow): Delivery => ({
  id: row.id,
  subscriptionId: row.webhook_id,
  eventId: row.event_id,
  attempt: row.attempt,
  status: row.status,
  requestUrl: row.request_url,
  responseStatus: row.response_status,
  responseMs: row.response_ms,
  error: row.error,
  createdAt: row.created_at,
})
