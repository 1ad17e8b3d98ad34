/**
 * Subscriptions as they are stored: what is secret of them is sealed, each value under the row it
 * belongs to.
 */
import { type SqlBool, sql } from 'kysely'
import { isRecord } from '#primitives.ts'
import { type AppDatabase, databaseNow, fromNow } from '../database.ts'
import { everyChain, within } from '../reach.ts'
import type { Sealer } from '../sealing.ts'
import { subscriptionsChanged } from './positions.ts'

export const statuses = ['active', 'paused', 'disabled'] as const
export type Status = (typeof statuses)[number]
export const finalities = ['latest', 'finalized'] as const
export type Finality = (typeof finalities)[number]
export const orderings = ['none', 'strict'] as const
export type Ordering = (typeof orderings)[number]

/** The destination of events, as it is used. */
export interface Target {
  readonly type: 'url' | 'slack' | 'betterstack'
  readonly url: string
  /** Secret of a log service. */
  readonly token?: string
}

export interface Context {
  readonly title?: string
  readonly description?: string
  readonly metadata?: Readonly<Record<string, string>>
}

export interface Subscription {
  readonly id: string
  /** The organization. */
  readonly owner: string
  readonly chainId: number
  readonly eventType: string
  readonly status: Status
  /** As it is shown. */
  readonly destination: Target
  readonly filters: Readonly<Record<string, unknown>>
  readonly context: Context | null
  readonly finality: Finality
  readonly ordering: Ordering
  readonly activeFrom: number
  readonly disabledFrom: number | null
  readonly disabledReason: string | null
  readonly failureCount: number
  readonly lastDeliveryAt: Date | null
  readonly expiresAt: Date | null
  readonly createdAt: Date
  readonly updatedAt: Date
}

/** The choices of its maker. */
export interface NewSubscription
  extends Pick<
    Subscription,
    | 'id'
    | 'owner'
    | 'chainId'
    | 'eventType'
    | 'destination'
    | 'filters'
    | 'context'
    | 'finality'
    | 'ordering'
    | 'activeFrom'
  > {
  readonly target: Target
  readonly endpoint: string
  readonly secret: string
}

/** For how long a secret that was exchanged still signs. */
const ROTATION_MS = 24 * 60 * 60 * 1_000

const contextOf = (id: string, column: 'destination' | 'secret'): string => `webhook:${id}:${column}`

export const sealTarget = (sealer: Sealer, id: string, target: Target): Uint8Array =>
  sealer.seal(Buffer.from(JSON.stringify(target)), contextOf(id, 'destination'))

/** @throws SealBrokenError */
export const openTarget = (sealer: Sealer, id: string, sealed: Uint8Array): Target =>
  JSON.parse(Buffer.from(sealer.open(sealed, contextOf(id, 'destination'))).toString()) as Target

export const sealSecret = (sealer: Sealer, id: string, secret: string): Uint8Array =>
  sealer.seal(Buffer.from(secret), contextOf(id, 'secret'))

/** @throws SealBrokenError */
export const openSecret = (sealer: Sealer, id: string, sealed: Uint8Array): string =>
  Buffer.from(sealer.open(sealed, contextOf(id, 'secret'))).toString()

export async function insertSubscription(
  app: AppDatabase,
  sealer: Sealer,
  made: NewSubscription,
): Promise<Subscription> {
  const row = await app
    .insertInto('app.webhooks')
    .values({
      id: made.id,
      owner: made.owner,
      chain_id: made.chainId,
      event_type: made.eventType,
      status: 'active',
      destination: JSON.stringify(made.destination),
      sealed_destination: sealTarget(sealer, made.id, made.target),
      endpoint: made.endpoint,
      filters: JSON.stringify(made.filters),
      context: made.context && JSON.stringify(made.context),
      finality: made.finality,
      ordering: made.ordering,
      secret: sealSecret(sealer, made.id, made.secret),
      active_from: made.activeFrom,
    })
    .returning(columns)
    .executeTakeFirstOrThrow()
  return subscriptionOf(row)
}

export interface Change {
  readonly destination?: { readonly shown: Target; readonly sealed: Uint8Array; readonly endpoint: string }
  readonly filters?: Readonly<Record<string, unknown>>
  readonly context?: Context | null
  readonly status?: Status
  readonly activeFrom?: number
  readonly disabledFrom?: number | null
  readonly disabledReason?: string | null
  /** Forgets the failures so far. */
  readonly resets?: true
}

export async function changeSubscription(
  app: AppDatabase,
  id: string,
  change: Change,
): Promise<Subscription> {
  const { destination, filters, context, status, activeFrom, disabledFrom, disabledReason, resets } = change
  const row = await app
    .updateTable('app.webhooks')
    .set({
      updated_at: databaseNow,
      ...(destination && {
        destination: JSON.stringify(destination.shown),
        sealed_destination: destination.sealed,
        endpoint: destination.endpoint,
      }),
      ...(filters && { filters: JSON.stringify(filters) }),
      ...(context !== undefined && { context: context && JSON.stringify(context) }),
      ...(status && { status }),
      ...(activeFrom !== undefined && { active_from: activeFrom }),
      ...(disabledFrom !== undefined && { disabled_from: disabledFrom }),
      ...(disabledReason !== undefined && { disabled_reason: disabledReason }),
      ...(resets && { failure_count: 0, failing_since: null }),
    })
    .where('id', '=', id)
    .returning(columns)
    .executeTakeFirstOrThrow()
  return subscriptionOf(row)
}

/** The subscription, unless it is deleted or another owner's; locked where `locks` says so. */
export async function findSubscription(
  app: AppDatabase,
  id: string,
  owner: string,
  locks = false,
): Promise<Subscription | null> {
  const row = await existing(app)
    .where('id', '=', id)
    .where('owner', '=', owner)
    .$if(locks, (query) => query.forNoKeyUpdate())
    .executeTakeFirst()
  return row ? subscriptionOf(row) : null
}

export interface OwnedPage {
  /** Older than the one of this id. */
  readonly before?: string
  readonly offset: number
  readonly limit: number
}

/** Subscriptions of an owner, the newest first. */
export async function listSubscriptions(
  app: AppDatabase,
  owner: string,
  { before, offset, limit }: OwnedPage,
  reach = everyChain,
): Promise<Subscription[]> {
  const rows = await existing(app)
    .where('owner', '=', owner)
    .where(within(reach))
    .$if(before !== undefined, (query) => query.where('id', '<', before ?? ''))
    .orderBy('id', 'desc')
    .offset(offset)
    .limit(limit)
    .execute()
  return rows.map(subscriptionOf)
}

export async function countSubscriptions(
  app: AppDatabase,
  owner: string,
  reach = everyChain,
): Promise<number> {
  const { count } = await app
    .selectFrom('app.webhooks')
    .select((row) => row.fn.countAll<number>().as('count'))
    .where('owner', '=', owner)
    .where(within(reach))
    .where('deleted_at', 'is', null)
    .executeTakeFirstOrThrow()
  return count
}

export async function deleteSubscription(app: AppDatabase, id: string): Promise<void> {
  await app.updateTable('app.webhooks').set({ deleted_at: databaseNow }).where('id', '=', id).execute()
}

/** All of an organization. In a transaction of the caller. */
export async function deleteSubscriptionsOf(transaction: AppDatabase, owner: string): Promise<void> {
  const { numUpdatedRows } = await transaction
    .updateTable('app.webhooks')
    .set({ deleted_at: databaseNow })
    .where('owner', '=', owner)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
  if (numUpdatedRows > 0n) await subscriptionsChanged(transaction)
}

/** False while the secret before still signs, unless `force`. */
export async function rotateSecret(
  app: AppDatabase,
  id: string,
  sealed: Uint8Array,
  force: boolean,
): Promise<boolean> {
  const { numUpdatedRows } = await app
    .updateTable('app.webhooks')
    .set((row) => ({
      previous_secret: row.ref('secret'),
      previous_until: fromNow(ROTATION_MS),
      secret: sealed,
      updated_at: databaseNow,
    }))
    .where('id', '=', id)
    .$if(!force, (query) =>
      query.where((row) =>
        row.or([row('previous_until', 'is', null), row('previous_until', '<=', databaseNow)]),
      ),
    )
    .executeTakeFirst()
  return numUpdatedRows === 1n
}

/** The targets of subscriptions that are not disabled, in the order of their ids after one. */
export async function readTargets(
  app: AppDatabase,
  after: string,
  limit: number,
): Promise<{ readonly id: string; readonly sealed: Uint8Array }[]> {
  const rows = await app
    .selectFrom('app.webhooks')
    .select(['id', 'sealed_destination as sealed'])
    .where('id', '>', after)
    .where('status', '<>', 'disabled')
    .where('deleted_at', 'is', null)
    .orderBy('id')
    .limit(limit)
    .execute()
  return rows
}

/** The matcher's knowledge of a subscription. */
export interface Subscribed {
  readonly id: string
  readonly eventType: string
  readonly filters: Readonly<Record<string, unknown>>
  readonly finality: Finality
  readonly activeFrom: number
}

/** Those of a chain whose events are looked for: paused ones are sent theirs later. */
export async function subscribedTo(
  app: AppDatabase,
  chainId: number,
  eventTypes: readonly string[],
): Promise<Subscribed[]> {
  const rows = await app
    .selectFrom('app.webhooks')
    .select(['id', 'event_type', 'filters', 'finality', 'active_from'])
    .where('chain_id', '=', chainId)
    .where('event_type', 'in', eventTypes)
    .where('status', '<>', 'disabled')
    .where('deleted_at', 'is', null)
    .where(unexpired)
    .orderBy('id')
    .execute()
  return rows.map((row) => ({
    id: row.id,
    eventType: row.event_type,
    filters: recordOf(row.filters),
    finality: row.finality === 'finalized' ? 'finalized' : 'latest',
    activeFrom: row.active_from,
  }))
}

export async function readEventType(app: AppDatabase, id: string): Promise<string> {
  const row = await app
    .selectFrom('app.webhooks')
    .select('event_type')
    .where('id', '=', id)
    .executeTakeFirst()
  return row?.event_type ?? ''
}

/** Remembers the first block that a disabled subscription does not get, unless one is known; that one. */
export async function markDisabledFrom(app: AppDatabase, id: string, block: number): Promise<number> {
  const row = await app
    .updateTable('app.webhooks')
    .set((column) => ({ disabled_from: column.fn.coalesce('disabled_from', sql<number>`${block}::bigint`) }))
    .where('id', '=', id)
    .where('status', '=', 'disabled')
    .returning('disabled_from')
    .executeTakeFirst()
  return row?.disabled_from ?? block
}

/** Ids of an owner's subscriptions to one type that are not disabled. */
export async function subscribersTo(app: AppDatabase, owner: string, eventType: string): Promise<string[]> {
  const rows = await app
    .selectFrom('app.webhooks')
    .select('id')
    .where('owner', '=', owner)
    .where('event_type', '=', eventType)
    .where('status', '<>', 'disabled')
    .where('deleted_at', 'is', null)
    .where(unexpired)
    .execute()
  return rows.map(({ id }) => id)
}

const unexpired = sql<SqlBool>`(expires_at IS NULL OR expires_at > clock_timestamp())`

const columns = [
  'id',
  'owner',
  'chain_id',
  'event_type',
  'status',
  'destination',
  'filters',
  'context',
  'finality',
  'ordering',
  'active_from',
  'disabled_from',
  'disabled_reason',
  'failure_count',
  'last_delivery_at',
  'expires_at',
  'created_at',
  'updated_at',
] as const

const existing = (app: AppDatabase) =>
  app.selectFrom('app.webhooks').select(columns).where('deleted_at', 'is', null)

type SubscriptionRow = Awaited<ReturnType<ReturnType<typeof existing>['executeTakeFirstOrThrow']>>

const recordOf = (value: unknown): Readonly<Record<string, unknown>> => (isRecord(value) ? value : {})

const oneOf = <Value extends string>(values: readonly [Value, ...Value[]], text: string): Value =>
  values.find((value) => value === text) ?? values[0]

const subscriptionOf = (row: SubscriptionRow): Subscription => ({
  id: row.id,
  owner: row.owner,
  chainId: row.chain_id,
  eventType: row.event_type,
  status: oneOf(statuses, row.status),
  destination: row.destination as Target,
  filters: recordOf(row.filters),
  context: row.context as Context | null,
  finality: oneOf(finalities, row.finality),
  ordering: oneOf(orderings, row.ordering),
  activeFrom: row.active_from,
  disabledFrom: row.disabled_from,
  disabledReason: row.disabled_reason,
  failureCount: row.failure_count,
  lastDeliveryAt: row.last_delivery_at,
  expiresAt: row.expires_at,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
})
