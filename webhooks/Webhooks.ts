/**
 * Operations on subscriptions, for the API: everything that changes one takes the matcher's position in
 * turn, so that it holds from one block on.
 */
import { randomBytes } from 'node:crypto'
import type { Egress } from '#egress/Egress.ts'
import type { Reply } from '#egress/post.ts'
import { failure } from '#errors.ts'
import { withinBound } from '#rows/bounds.ts'
import type { AppDatabase } from '#rows/database.ts'
import { newTimedId } from '#rows/identifiers.ts'
import type { Sealer } from '#rows/sealing.ts'
import { insertAttempts, readClaim } from '#rows/webhooks/claims.ts'
import { countAttempt, type DeliveryDetail, insertImmediate } from '#rows/webhooks/deliveries.ts'
import { storeOutcomes } from '#rows/webhooks/outcomes.ts'
import { lockPosition, subscriptionsChanged } from '#rows/webhooks/positions.ts'
import { withdrawQueued } from '#rows/webhooks/Retention.ts'
import {
  type Change,
  type Context,
  changeSubscription,
  countSubscriptions,
  deleteSubscription,
  type Finality,
  findSubscription,
  insertSubscription,
  type Ordering,
  rotateSecret,
  type Status,
  type Subscription,
  sealSecret,
  sealTarget,
  type Target,
} from '#rows/webhooks/subscriptions.ts'
import { addTerm, buyerOf, spendPayment } from '#rows/webhooks/terms.ts'
import type { Clock } from '#runtime/runtime.ts'
import { exchangeProjection } from '#store/follow/exchange/bookFollower.ts'
import { CoverageIncompleteError } from '#store/follow/readFollowed.ts'
import type { CommitBell } from '#store/ledger/commits.ts'
import type { Postgres } from '#store/postgres.ts'
import { headPlace } from '#store/read/pieces.ts'
import { schemaOf } from '#store/sql.ts'
import type { Logger } from '#telemetry.ts'
import { send } from './delivery/send.ts'
import { tellDisabled } from './delivery/tellDisabled.ts'
import { endpointOf, readTarget, shown } from './destinations.ts'
import { findEventType, streamOfType } from './events/index.ts'
import { assertFilters } from './filters/eventFilter.ts'
import { FiltersError } from './filters/operators.ts'
import type { WatchedChain } from './matching/watchedChain.ts'
import { newSecret } from './signature.ts'
import { type Missed, missedOf, turnTo } from './turn.ts'

export interface WebhooksOptions {
  readonly app: AppDatabase
  readonly postgres: Postgres
  readonly chains: ReadonlyMap<number, WatchedChain>
  readonly sealer: Sealer
  readonly egress: Egress
  readonly clock: Clock
  readonly outgoing: CommitBell
  readonly log: Logger
}

export interface SubscriptionRequest {
  /** Id of an organization, or address of an account that pays. */
  readonly owner: string
  /** The payment that bought it, for thirty days; null for an organization's. */
  readonly payment: string | null
  readonly chainId: number
  readonly eventType: string
  readonly target: Target
  readonly filters: unknown
  readonly context: Context | null
  readonly finality: Finality
  readonly ordering: Ordering
}

export interface SubscriptionChange {
  readonly target?: Target
  readonly filters?: unknown
  readonly context?: Context | null
  readonly status?: Status
}

export interface Tried extends Reply {
  readonly eventId: string
}

export class Webhooks {
  readonly #options: WebhooksOptions

  constructor(options: WebhooksOptions) {
    this.#options = options
  }

  /** Changes nothing. @throws FiltersError, DestinationError, EgressRefusedError, CoverageIncompleteError */
  async check({ eventType, chainId, ...asked }: SubscriptionRequest) {
    const filters = readFilters(eventType, asked.filters)
    this.#assertFollowable(chainId, eventType)
    const target = readTarget(asked.target)
    await this.#options.egress.check(target.url, 'webhook')
    return { filters, target }
  }

  /** @throws like check; BoundReachedError, PaymentSpentError */
  async create(
    asked: SubscriptionRequest,
  ): Promise<{ readonly subscription: Subscription; readonly secret: string }> {
    const { app, sealer, clock } = this.#options
    const { owner, payment, chainId, eventType, context, finality, ordering } = asked
    const { filters, target } = await this.check(asked)
    const secret = newSecret()
    const isBought = payment !== null
    const subscription = await withinBound(
      app,
      { table: isBought ? 'payers' : 'app.organizations', id: owner },
      isBought ? 'webhooksOfPayer' : 'webhooksOfOrganization',
      (transaction) => countSubscriptions(transaction, owner),
      async (transaction) => {
        if (isBought) await spendPayment(transaction, payment)
        const { number } = await this.#lock(transaction, chainId, eventType)
        const made = await insertSubscription(transaction, sealer, {
          ...{
            id: newTimedId('wh', clock.now()),
            owner,
            chainId,
            eventType,
            filters,
            context,
            finality,
            ordering,
          },
          ...{ destination: shown(target), target, endpoint: endpointOf(target), secret },
          activeFrom: number + 1,
        })
        await subscriptionsChanged(transaction, { chainId, stream: streamOfType(eventType) })
        return isBought ? addTerm(transaction, made, number + 1) : made
      },
    )
    return { subscription, secret }
  }

  /**
   * Thirty days more of one that was bought, whoever pays; null when there is none.
   * @throws PaymentSpentError
   */
  async renew(id: string, payment: string): Promise<Subscription | null> {
    const { app } = this.#options
    return app.transaction().execute(async (transaction) => {
      const owner = await buyerOf(transaction, id)
      const found = owner === null ? null : await findSubscription(transaction, id, owner)
      if (!found || owner === null) return null
      const { number } = await this.#lock(transaction, found.chainId, found.eventType)
      const held = await findSubscription(transaction, id, owner, true)
      if (!held) return null
      await spendPayment(transaction, payment)
      const { chainId, eventType } = held
      await subscriptionsChanged(transaction, { chainId, stream: streamOfType(eventType) })
      return addTerm(transaction, held, number + 1)
    })
  }

  /** Null when there is none. @throws like create */
  async change(
    id: string,
    owner: string,
    asked: SubscriptionChange,
  ): Promise<{ readonly subscription: Subscription; readonly missed: Missed | null } | null> {
    const { app, egress, outgoing } = this.#options
    const found = await findSubscription(app, id, owner)
    if (!found) return null
    const target = asked.target && readTarget(asked.target)
    if (target) await egress.check(target.url, 'webhook')
    const filters = asked.filters === undefined ? undefined : readFilters(found.eventType, asked.filters)
    const result = await app.transaction().execute(async (transaction) => {
      const { number } = await this.#lock(transaction, found.chainId, found.eventType)
      const held = await findSubscription(transaction, id, owner, true)
      if (!held) return null
      const turn = asked.status && turnTo(held, asked.status, number + 1)
      const queuedFrom = turn?.begins ? await withdrawQueued(transaction, id) : null
      const subscription = await changeSubscription(transaction, id, {
        ...(target && { destination: this.#sealed(id, target) }),
        ...(asked.context !== undefined && { context: asked.context }),
        ...(filters && { filters, activeFrom: number + 1 }),
        ...turn?.change,
      })
      await subscriptionsChanged(transaction, {
        chainId: found.chainId,
        stream: streamOfType(found.eventType),
      })
      const disables = asked.status === 'disabled' && held.status !== 'disabled'
      return { subscription, missed: turn ? missedOf(held, queuedFrom, turn.begins, number) : null, disables }
    })
    if (result?.disables)
      await tellDisabled(this.#options, [
        { webhookId: id, owner, chainId: found.chainId, reason: 'requested' },
      ])
    outgoing.ring()
    return result
  }

  /** False when there is none. */
  async delete(id: string, owner: string): Promise<boolean> {
    const { app } = this.#options
    return app.transaction().execute(async (transaction) => {
      const found = await findSubscription(transaction, id, owner)
      if (!found) return false
      await deleteSubscription(transaction, id)
      await subscriptionsChanged(transaction, {
        chainId: found.chainId,
        stream: streamOfType(found.eventType),
      })
      return true
    })
  }

  /** The new secret. @throws RotationUnderWayError */
  async rotate(id: string, force: boolean): Promise<string> {
    const { app, sealer } = this.#options
    const secret = newSecret()
    if (!(await rotateSecret(app, id, sealSecret(sealer, id, secret), force)))
      throw new RotationUnderWayError()
    return secret
  }

  /** Sends a ping at once, whatever the status; it changes no counter. */
  async ping(subscription: Subscription, signal: AbortSignal): Promise<Tried> {
    const { app, clock } = this.#options
    const { id: webhookId, chainId, context } = subscription
    const eventId = `evt_${randomBytes(32).toString('hex')}`
    const envelope = JSON.stringify({
      id: eventId,
      type: 'ping',
      chainId,
      subscriptionId: webhookId,
      createdAt: new Date(clock.now()).toISOString(),
      ...(context && { context }),
      data: { ping: true },
      meta: {},
    })
    const message = await insertImmediate(app, { webhookId, eventId, type: 'ping', envelope })
    const sent = { message, eventId, type: 'ping', envelope, attempt: 1, counts: false }
    return this.#sendNow(subscription, sent, signal)
  }

  /**
   * Sends what a delivery sent once more, at once; a success is one like any other. @throws
   * DeliveryPendingError
   */
  async retry(subscription: Subscription, delivery: DeliveryDetail, signal: AbortSignal): Promise<Tried> {
    if (delivery.status === 'pending') throw new DeliveryPendingError()
    const { message, eventId, type, envelope } = delivery
    const attempt = await countAttempt(this.#options.app, message)
    return this.#sendNow(
      subscription,
      { message, eventId, type, envelope, attempt, counts: type !== 'ping' },
      signal,
    )
  }

  async #sendNow(
    { id: webhookId, destination }: Subscription,
    sent: {
      readonly message: number
      readonly eventId: string
      readonly type: string
      readonly envelope: string
      readonly attempt: number
      /** Whether a success ends the failures of the subscription. A failure of a try adds none. */
      readonly counts: boolean
    },
    signal: AbortSignal,
  ): Promise<Tried> {
    const { app, clock } = this.#options
    const { message, eventId, type, envelope, attempt, counts } = sent
    const id = newTimedId('whd', clock.now())
    const sealed = await readClaim(app, webhookId)
    await insertAttempts(app, [
      { id, envelope: null, claimed: { message, webhookId, eventId, attempt, url: destination.url } },
    ])
    const reply = await send(this.#options, { webhookId, eventId, type, body: envelope, ...sealed }, signal)
    const { succeeded, responseStatus, responseMs, error } = reply
    await app.transaction().execute((transaction) =>
      storeOutcomes(transaction, [
        {
          ...{ delivery: id, message, webhookId, succeeded, responseStatus, responseMs, error },
          ...{ retryInMs: null, counts: counts && succeeded, isGone: false },
        },
      ]),
    )
    return { ...reply, eventId }
  }

  /** The order book needs the chain from genesis on. @throws CoverageIncompleteError */
  #assertFollowable(chainId: number, eventType: string): void {
    const startBlock = this.#options.chains.get(chainId)?.startBlock ?? 0
    if (streamOfType(eventType) === 'fills' && startBlock > 0)
      throw new CoverageIncompleteError(exchangeProjection.name, startBlock)
  }

  #sealed(id: string, target: Target): NonNullable<Change['destination']> {
    const sealed = sealTarget(this.#options.sealer, id, target)
    return { shown: shown(target), sealed, endpoint: endpointOf(target) }
  }

  #lock(transaction: AppDatabase, chainId: number, eventType: string) {
    const { pool } = this.#options.postgres
    return lockPosition(transaction, { chainId, stream: streamOfType(eventType) }, () =>
      headPlace(pool, schemaOf(chainId)),
    )
  }
}

/** @throws FiltersError */
function readFilters(eventType: string, given: unknown): Readonly<Record<string, unknown>> {
  const type = findEventType(eventType)
  if (type?.needsFilters && given === undefined) throw new FiltersError([], 'is required for this event type')
  const filters = assertFilters(given ?? {})
  type?.validate(filters)
  return filters
}

/** The secret was exchanged less than a day ago, and the one before still signs. */
export class RotationUnderWayError extends failure('RotationUnderWayError', 'rotation_under_way', 'stop') {
  constructor() {
    super('The secret was exchanged less than 24 hours ago. `force` ends the one before at once.')
  }
}

/** The delivery has not ended: it cannot be repeated yet. */
export class DeliveryPendingError extends failure('DeliveryPendingError', 'delivery_pending', 'stop') {
  constructor() {
    super('The delivery is still under way.')
  }
}
