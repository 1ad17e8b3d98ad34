/**
 * Callers' payments for their requests. A credential is checked, claimed by a row, spent once the answer is
 * there, and its settlement, receipt and entries are one transaction. If the outcome is unknown, its method
 * is asked for it, and until then no other payment is.
 */
import type { IncomingHttpHeaders } from 'node:http'
import { ApiError } from '#http/errors.ts'
import type { Admission, Challenged, Managed, RequestPayment } from '#http/request/access.ts'
import { amountOf } from '#money/amounts.ts'
import type { AppDatabase } from '#rows/database.ts'
import { answerPayment, endPayment, takePayment } from '#rows/payments/holds.ts'
import {
  type Alongside,
  beginSending,
  type CheckedPayment,
  failPayment,
  findPayment,
  letGo,
  listUnknown,
  type Payment,
  releaseClaim,
  settlePayment,
} from '#rows/payments/payments.ts'
import { repeat } from '#runtime/repeat.ts'
import type { Clock } from '#runtime/runtime.ts'
import type { Logger } from '#telemetry.ts'
import { acceptedOf } from './acceptPayment.ts'
import { Claims, settlementPending } from './Claims.ts'
import { challengeOf } from './challengeOf.ts'
import { HeldPayments } from './HeldPayments.ts'
import { HOLD_MS, Holds } from './Holds.ts'
import { mppPaymentIn } from './methods/mpp.ts'
import {
  type Managed as ManagedByMethod,
  type ManagingRequest,
  type PaymentMethod,
  type PaymentOutcome,
  PaymentRefusedError,
  type RequestPrice,
  type Unsent,
} from './methods/PaymentMethod.ts'
import { type Priced, Prices } from './Prices.ts'
import type { RefusedPayments } from './RefusedPayments.ts'
import { type PaidRequest, requestDigest } from './requestDigest.ts'
import { type Paid, settledFirst, type Taken } from './settledFirst.ts'

export interface PaymentsOptions extends Priced {
  readonly app: AppDatabase
  readonly realm: string
  /** Counts what is not accepted. */
  readonly refused: RefusedPayments
  readonly clock: Clock
  readonly log: Logger
}

/** A request that may be paid for. */
export interface Wanted extends PaidRequest {
  /** The thing sold: the account of its revenue. */
  readonly scope: string
  /** The units that it counts as. */
  readonly units: number
  /** The chain that is asked about; none for what is about no chain. */
  readonly chainId?: number
  /** Price of a unit, where the request has one of its own. Default: that of the scope. */
  readonly dollars?: string
  /** Dollars that all of it costs at least. */
  readonly atLeast?: string
  /** Further data that the payment is bound to, by name. */
  readonly meta?: Readonly<Record<string, string>>
  /** Accept-Payment. */
  readonly accept: string | undefined
  /** In the transaction that claims its payment. */
  readonly claimed?: Alongside
}

/** A payment that came with a request. */
export interface PresentedPayment {
  /** Id of whoever sends it, by which refusals are counted. */
  readonly caller: string
  readonly method: PaymentMethod
  readonly credential: string
}

/** Those of a price in dollars. */
const DIGITS = 18
/** Between two looks of the reconciler, and before it asks about the same payment again. */
const RECONCILE_MS = 5_000
const RECONCILED_MAX = 100

/** One credential for one request. */
interface Paying extends PresentedPayment {
  readonly wanted: Wanted
  readonly price: RequestPrice
  readonly payment: Payment
  /** The row says the same where another request has checked it. */
  readonly checked: CheckedPayment
}

export class Payments {
  readonly #options: PaymentsOptions
  readonly #prices: Prices
  readonly #held: HeldPayments
  readonly #holds: Holds
  readonly #alongside = new Map<string, Alongside>()

  constructor(options: PaymentsOptions) {
    this.#options = options
    this.#prices = new Prices(options)
    this.#held = new HeldPayments(options.app, options.clock)
    this.#holds = new Holds(options)
  }

  /** Adds writes to the transaction that settles a payment of the scope, whoever finds it out. */
  onSettled(scope: string, alongside: Alongside): void {
    this.#alongside.set(scope, alongside)
  }

  /** Whether anything can be paid now. */
  get isOpen(): boolean {
    return this.#options.methods.some((method) => method.offersOf('1').length > 0)
  }

  /** Whether requests of the scope are sold, where anything can be paid. */
  sells(scope: string): boolean {
    return this.#prices.sells(scope)
  }

  /** The price of a unit of the scope by each method, for documents; null if each request has a price. */
  offersOf(scope: string) {
    const isPriced = this.#prices.isPriced(scope)
    const when = this.#options.single?.has(scope) ? '' : ' beyond the quota'
    const description = isPriced ? `the price of ${scope}` : `a unit of ${scope}${when}`
    return this.#prices
      .methodsFor(scope)
      .flatMap((method) => method.offersOf(isPriced ? '1' : this.#prices.of(scope, method)))
      .map((offer) => ({ ...offer, description, ...(isPriced && { amount: null }) }))
  }

  /**
   * The payment in a request of the caller; undefined for none.
   * @throws ApiError for two, for one by a method that is not offered, and rate_limit_exceeded where too
   *   many of the caller's were refused
   */
  presentedIn(headers: IncomingHttpHeaders, caller: string): PresentedPayment | undefined {
    const found = this.#options.methods.flatMap((method) => {
      const credential = method.presentedIn(headers)
      return credential === null ? [] : [{ caller, method, credential }]
    })
    if (found.length > 1) throw new ApiError('request_invalid', 'A request carries one payment.')
    if (found.length === 0 && mppPaymentIn(headers)) throw notTaken()
    if (found.length > 0) this.#options.refused.assertLeft(caller)
    return found[0]
  }

  /** The payment that has begun with the same credential for the same request; null for none. */
  async find({ method, credential }: PresentedPayment, wanted: PaidRequest): Promise<Payment | null> {
    const identity = method.identityOf(credential)
    const found = identity && (await findPayment(this.#options.app, identity))
    const digest = requestDigest(this.#options.realm, wanted)
    return found &&
      digest.equals(found.requestDigest) &&
      identity.digest.every((byte, place) => byte === found.credentialDigest[place])
      ? found
      : null
  }

  /** Decimals of a token that is taken now. @throws ApiError payment_required for another */
  decimalsOf(method: string, token: string): number {
    const offers = this.#options.methods
      .filter(({ name }) => name === method)
      .flatMap((each) => each.offersOf('1'))
    const dollar = offers.find(({ currency }) => currency === token)?.amount
    // One dollar: a 1, and a zero for each of them.
    if (dollar === undefined) throw nothingTaken()
    return dollar.length - 1
  }

  /**
   * Writes no row. HEAD sells nothing: a payer can prove who it is, if a method lets it.
   * @param refused a payment that was not accepted
   */
  async challenge(
    wanted: Wanted,
    problem?: Readonly<Record<string, unknown>> | null,
    refused?: PresentedPayment,
  ): Promise<Challenged> {
    const methods = this.#prices.methodsFor(wanted.scope, wanted.chainId)
    if (wanted.method === 'HEAD') {
      const proof = await methods.find(({ identify }) => identify)?.identify?.(wanted.url)
      return challengeOf(proof ? [proof] : []) ?? nothingOffered()
    }
    const accepted = acceptedOf(methods, wanted.accept)
    const challenges = await Promise.all(
      accepted.map((method) =>
        method.challenge(
          this.#askedFor(wanted, method),
          wanted.url,
          refused?.method === method ? refused.credential : undefined,
        ),
      ),
    )
    const offered = challenges.filter((challenge) => challenge !== null)
    return challengeOf(offered, problem) ?? nothingOffered()
  }

  /** A request of the caller to a method alone; undefined if it asks for an answer. */
  managed(request: ManagingRequest, caller: string): Promise<Managed> | undefined {
    for (const method of this.#options.methods) {
      const manage = method.managedBy?.(request)
      if (!manage) continue
      return this.#options.refused.look(caller, async () => {
        const done = await manage()
        return done.kind === 'managed' ? done : refusalOf(done)
      })
    }
    return undefined
  }

  /**
   * Claims the payment of a request, or finds the one that it has claimed before. What is not accepted
   * counts against its caller, then and when it is settled.
   * @throws ApiError payment_used, settlement_pending, request_invalid for a method that does not pay for
   *   it, and rate_limit_exceeded
   */
  async begin(presented: PresentedPayment, wanted: Wanted): Promise<Admission> {
    const { refused } = this.#options
    const { caller } = presented
    const admission = await refused.look(caller, () => this.#begin(presented, wanted))
    if (admission.kind !== 'paid') return admission
    const { payment } = admission
    return { kind: 'paid', payment: { ...payment, settle: () => refused.counted(caller, payment.settle()) } }
  }

  /** Holds what is worked on, and finds out what became of what nobody waits for, until aborted. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#options
    const failed = { log, ms: RECONCILE_MS, message: 'payments could not be looked at' }
    const reconciling = repeat({ clock, signal, failed }, async () => {
      await this.reconcile()
      return RECONCILE_MS
    })
    await Promise.all([this.#holds.run(signal), reconciling])
  }

  /** One look at each payment whose outcome is unknown and whose method is one of those here. */
  async reconcile(): Promise<void> {
    const { app, methods, log } = this.#options
    const names = methods.map(({ name }) => name)
    for (const { id } of await listUnknown(app, names, RECONCILED_MAX)) {
      const payment = await takePayment(app, id, HOLD_MS)
      if (!payment) continue
      if (payment.state === 'claimed') {
        await releaseClaim(app, payment)
        continue
      }
      const outcome = await this.#holds.during(payment, () => this.outcome(payment))
      await this.#keep(payment, outcome)
      // Where it is known, its answer waits for its payer.
      await letGo(app, payment, outcome.kind === 'unknown' ? RECONCILE_MS : 0)
      log.info({ payment: id, outcome: outcome.kind }, 'a payment was looked for on the chain')
    }
  }

  /** A payment's outcome, from its method. */
  async outcome(payment: Payment): Promise<PaymentOutcome> {
    const method = this.#options.methods.find(({ name }) => name === payment.method)
    return (await method?.outcome(payment)) ?? { kind: 'unknown' }
  }

  async #begin(presented: PresentedPayment, wanted: Wanted): Promise<Admission> {
    const { app, clock } = this.#options
    const { method, credential } = presented
    if (!this.#prices.methodsFor(wanted.scope, wanted.chainId).includes(method)) throw notTaken()
    if (wanted.method === 'HEAD') throw new ApiError('request_invalid', 'HEAD has no answer to pay for.')
    const price = this.#askedFor(wanted, method)
    const terms = { requestDigest: price.digest, scope: wanted.scope, method: method.name }
    const claims = new Claims({ app, held: this.#held, terms })
    const paying = (payment: Payment, checked: CheckedPayment = payment) => {
      const paid = this.#paid({ ...presented, wanted, price, payment, checked })
      const isProved = method.provesPayer?.(credential, payment.payer) ?? true
      return !isProved || method.isPushed?.(credential) ? settledFirst(paid, payment) : paid
    }
    const identity = method.identityOf(credential)
    const known = identity && (await claims.reopen(identity))
    if (known === 'failed') return this.challenge(wanted)
    if (known && known !== 'spent') return paying(known)
    try {
      // A spent payment is refused for what its method finds.
      const checked = await method.check(credential, price)
      const claimed = known ?? (await claims.claim(checked, clock.now(), wanted.claimed))
      if (claimed === 'spent') return await this.challenge(wanted, null, presented)
      return claimed === 'failed' ? await this.challenge(wanted) : paying(claimed, checked)
    } catch (error) {
      if (!(error instanceof PaymentRefusedError)) throw error
      return this.challenge(wanted, error.problem, presented)
    }
  }

  #askedFor(wanted: Wanted, method: PaymentMethod): RequestPrice {
    const {
      scope,
      units,
      atLeast = '0',
      meta = {},
      chainId,
      dollars = this.#prices.of(scope, method, chainId),
      ...request
    } = wanted
    const digest = requestDigest(this.#options.realm, request)
    const isDearer = amountOf(atLeast, 1, DIGITS) > amountOf(dollars, units, DIGITS)
    const asked = isDearer ? { dollars: atLeast, units: 1 } : { dollars, units }
    return { digest, ...asked, description: `${units} of ${scope}`, meta }
  }

  /** Held until it is released or answered. */
  #paid(paying: Paying): Paid {
    const { app } = this.#options
    const { payment } = paying
    this.#holds.keep(payment)
    const ending = (end: () => Promise<unknown>) => async () => {
      this.#holds.drop(payment)
      await end()
      await letGo(app, payment)
    }
    const ofRequest: RequestPayment = {
      id: payment.id,
      payer: payment.payer,
      validUntilMs: payment.receipt === null ? payment.validBeforeSeconds * 1_000 : Number.POSITIVE_INFINITY,
      settle: () => this.#settled(paying),
      release: ending(() => releaseClaim(app, payment)),
      answered: ending(() => answerPayment(app, payment.id)),
      over: ending(() => endPayment(app, payment.id)),
    }
    return { kind: 'paid', payment: ofRequest }
  }

  /** @throws ApiError settlement_pending */
  async #settled(paying: Paying): Promise<Taken> {
    const { payment, wanted, method } = paying
    const settled = (receipt: string) =>
      ({ kind: 'settled', headers: method.receiptHeaders(receipt) }) as const
    if (payment.receipt === null) {
      const outcome = await this.#send(paying)
      if (outcome.kind === 'settled') return settled(outcome.receipt)
      return this.challenge(wanted, outcome.kind === 'unsent' ? outcome.problem : null, paying)
    }
    if (!(await this.#holds.isOurs(payment))) throw settlementPending()
    return settled(payment.receipt)
  }

  /** @throws ApiError settlement_pending */
  async #send(paying: Paying): Promise<Exclude<PaymentOutcome, { kind: 'unknown' }> | Unsent> {
    const { app, log } = this.#options
    const { method, credential, price, payment, checked } = paying
    // Another process went on with it, since this one took too long.
    if (!(await beginSending(app, payment, HOLD_MS))) throw settlementPending()
    const outcome =
      payment.state === 'sending'
        ? await method.outcome(payment)
        : await method.send(credential, price, checked)
    if (outcome.kind === 'unsent') await releaseClaim(app, payment, 'sending')
    else await this.#keep(payment, outcome)
    if (outcome.kind !== 'unknown') return outcome
    log.warn({ payment: payment.id }, 'the outcome of a payment is not known yet')
    await letGo(app, payment)
    throw settlementPending()
  }

  async #keep(payment: Payment, outcome: PaymentOutcome): Promise<void> {
    const { app } = this.#options
    if (outcome.kind === 'settled')
      await settlePayment(app, payment, outcome, this.#alongside.get(payment.scope))
    if (outcome.kind === 'failed') await failPayment(app, payment)
  }
}

const notTaken = () => new ApiError('request_invalid', 'Payments by this method are not taken here.')

const nothingOffered = (): never => {
  throw nothingTaken()
}

const nothingTaken = () => new ApiError('payment_required', 'Nothing can be paid here for the moment.')

/** The method's refusal as an answer, with a challenge to repeat it by where there is one. */
const refusalOf = ({ challenge, problem }: Extract<ManagedByMethod, { kind: 'refused' }>): Challenged =>
  challengeOf(challenge ? [challenge] : [withoutOffer], problem) ?? nothingOffered()

const withoutOffer = { headers: {}, body: '', contentType: 'application/problem+json' }
