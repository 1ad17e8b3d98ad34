/**
 * What callers pay for their requests. A credential is checked, claimed by a row, spent once the
 * answer is there, and its settlement, receipt and entries are one transaction. What became of it is
 * asked of the chain where it is unknown, and until then no other payment is asked for.
 */
import { timingSafeEqual } from 'node:crypto'
import { messageOf } from '#errors.ts'
import { ApiError } from '#http/errors.ts'
import type { Admission, Challenged, RequestPayment } from '#http/request/access.ts'
import type { AppDatabase } from '#rows/database.ts'
import {
  answerPayment,
  beginSending,
  claimPayment,
  failPayment,
  findPayment,
  letGo,
  listUnknown,
  type Payment,
  releaseClaim,
  settlePayment,
  takePayment,
} from '#rows/payments/payments.ts'
import { repeat } from '#runtime/repeat.ts'
import type { Clock } from '#runtime/runtime.ts'
import type { Logger } from '#telemetry.ts'
import { HeldPayments } from './HeldPayments.ts'
import { amountOf } from './price.ts'
import { type PaidRequest, requestDigest } from './requestDigest.ts'
import {
  ChargeRefusedError,
  type CheckedCharge,
  type Currency,
  identityOf,
  type Outcome,
  type Price,
  type TempoCharges,
} from './tempoCharges.ts'

export interface PaymentsOptions {
  readonly app: AppDatabase
  readonly charges: Pick<TempoCharges, 'challenge' | 'check' | 'send' | 'outcome'>
  readonly realm: string
  readonly chainId: number
  readonly recipient: `0x${string}`
  /** Those that are settled in now. */
  readonly currencies: () => readonly Currency[]
  /** Dollars a unit, by scope. */
  readonly prices: Readonly<Record<string, string>>
  readonly clock: Clock
  readonly log: Logger
}

/** A request that may be paid for. */
export interface Wanted extends PaidRequest {
  readonly scope: string
  /** What it counts as. */
  readonly units: number
  /** Accept-Payment. */
  readonly accept: string | undefined
}

/** Longer than any request may last. */
const HOLD_MS = 120_000
/** A repeat waits so often for another that works on the same payment. */
const WAITS_MAX = 5
const RETRY_SECONDS = 5
/** Between two looks of the reconciler, and before it asks about the same payment again. */
const RECONCILE_MS = 5_000
const RECONCILED_MAX = 100

export class Payments {
  readonly #options: PaymentsOptions
  readonly #held: HeldPayments

  constructor(options: PaymentsOptions) {
    this.#options = options
    this.#held = new HeldPayments(options.app, options.clock)
  }

  /** Whether requests of the scope are sold. */
  sells(scope: string): boolean {
    const dollars = Object.hasOwn(this.#options.prices, scope) ? this.#options.prices[scope] : undefined
    return dollars !== undefined && Number(dollars) > 0 && this.#options.currencies().length > 0
  }

  /** What a unit of the scope costs in each currency, for documents. */
  offersOf(scope: string) {
    const { prices } = this.#options
    const dollars = this.sells(scope) ? prices[scope] : undefined
    return dollars === undefined
      ? []
      : this.#options.currencies().map(({ address: currency, decimals }) => ({
          ...{ intent: 'charge', method: 'tempo', currency },
          amount: `${amountOf(dollars, 1, decimals)}`,
          description: `a unit of ${scope} beyond the quota`,
        }))
  }

  /** Writes no row. */
  async challenge(wanted: Wanted, problem?: Readonly<Record<string, unknown>> | null): Promise<Challenged> {
    const { charges } = this.#options
    const challenge = await charges.challenge(this.#priceOf(wanted), wanted.url, wanted.accept)
    return { kind: 'challenged', ...challenge, ...(problem && { body: JSON.stringify(problem) }) }
  }

  /**
   * Claims the payment of a request, or finds the one that it has claimed before.
   * @throws ApiError payment_used, settlement_pending
   */
  async begin(authorization: string, wanted: Wanted): Promise<Admission> {
    const { charges, clock } = this.#options
    const price = this.#priceOf(wanted)
    const claims = new Claims(this.#options, this.#held, wanted.scope, price)
    const identity = identityOf(authorization)
    const known = identity && (await claims.reopen(identity))
    if (known === 'failed') return this.challenge(wanted)
    if (known) return this.#paying(known, authorization, price, wanted)
    try {
      const charge = await charges.check(authorization, price)
      const claimed = await claims.claim(charge, clock.now())
      if (claimed === 'failed') return await this.challenge(wanted)
      return this.#paying(claimed, authorization, price, wanted, charge)
    } catch (error) {
      if (!(error instanceof ChargeRefusedError)) throw error
      return this.challenge(wanted, error.problem)
    }
  }

  /** Finds out what became of payments that nobody waits for, until aborted. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#options
    const failed = (error: unknown) => {
      log.warn({ problem: messageOf(error) }, 'payments could not be looked at')
      return RECONCILE_MS
    }
    await repeat({ clock, signal, failed }, async () => {
      await this.reconcile()
      return RECONCILE_MS
    })
  }

  /** One look at each payment whose outcome is unknown. */
  async reconcile(): Promise<void> {
    const { app, charges, log } = this.#options
    for (const { id } of await listUnknown(app, RECONCILED_MAX)) {
      const payment = await takePayment(app, id, HOLD_MS)
      if (!payment) continue
      if (payment.state === 'claimed') {
        await releaseClaim(app, payment)
        continue
      }
      const outcome = await charges.outcome({ ...payment, txHash: hexOf(payment.txHash) })
      await this.#keep(payment, outcome)
      if (outcome.kind === 'unknown') await letGo(app, payment, RECONCILE_MS)
      // Its answer waits for its payer.
      else await letGo(app, payment)
      log.info({ payment: id, outcome: outcome.kind }, 'a payment was looked for on the chain')
    }
  }

  #priceOf({ scope, units, ...request }: Wanted): Price {
    const { realm, currencies, prices } = this.#options
    const dollars = prices[scope]
    if (dollars === undefined) throw new TypeError(`${scope} is not sold`)
    return {
      digest: requestDigest(realm, request),
      amounts: currencies().map((currency) => ({
        currency,
        amount: amountOf(dollars, units, currency.decimals),
      })),
      description: `${units} of ${scope}`,
    }
  }

  #paying(
    payment: Payment,
    authorization: string,
    price: Price,
    wanted: Wanted,
    charge: CheckedCharge = chargeOf(payment, price),
  ): Admission {
    const { app } = this.#options
    const ofRequest: RequestPayment = {
      settle: async () => {
        if (payment.receipt !== null) return settled(payment.receipt)
        const outcome = await this.#send(payment, authorization, price, charge)
        return outcome === 'failed' ? this.challenge(wanted) : settled(outcome)
      },
      release: async () => {
        await releaseClaim(app, payment)
        await letGo(app, payment)
      },
      answered: () => answerPayment(app, payment.id),
    }
    return { kind: 'paid', payment: ofRequest }
  }

  /** The receipt. @throws ApiError settlement_pending */
  async #send(
    payment: Payment,
    authorization: string,
    price: Price,
    charge: CheckedCharge,
  ): Promise<string | 'failed'> {
    const { app, charges, log } = this.#options
    // Another process went on with it, since this one took too long.
    if (!(await beginSending(app, payment, HOLD_MS))) throw pending()
    const found =
      payment.state === 'sending'
        ? await charges.outcome(charge)
        : await charges.send(authorization, price, charge)
    if (found === 'unsent') {
      await releaseClaim(app, payment, 'sending')
      return 'failed'
    }
    const outcome: Outcome = found
    await this.#keep(payment, outcome)
    if (outcome.kind === 'settled') return outcome.receipt
    if (outcome.kind === 'failed') return 'failed'
    log.warn({ payment: payment.id }, 'the outcome of a payment is not known yet')
    await letGo(app, payment)
    throw pending()
  }

  async #keep(payment: Payment, outcome: Outcome): Promise<void> {
    const { app } = this.#options
    if (outcome.kind === 'settled') await settlePayment(app, payment, outcome.receipt)
    if (outcome.kind === 'failed') await failPayment(app, payment)
  }
}

/** The rows behind one request's payment. */
class Claims {
  readonly #options: PaymentsOptions
  readonly #held: HeldPayments
  readonly #scope: string
  readonly #price: Price

  constructor(options: PaymentsOptions, held: HeldPayments, scope: string, price: Price) {
    this.#options = options
    this.#held = held
    this.#scope = scope
    this.#price = price
  }

  /**
   * The payment that the challenge has begun; null where there is none.
   * @throws ApiError payment_used, settlement_pending
   */
  async reopen(
    { challengeId, digest }: { readonly challengeId: string; readonly digest: Uint8Array },
    txHash: string | null = null,
  ): Promise<Payment | 'failed' | null> {
    const { app } = this.#options
    for (let waits = 0; waits < WAITS_MAX; waits++) {
      const found = await findPayment(app, { challengeId, txHash })
      if (!found) return null
      const isSame =
        timingSafeEqual(found.requestDigest, this.#price.digest) &&
        timingSafeEqual(found.credentialDigest, digest)
      if (!isSame || found.isAnswered) throw new ApiError('payment_used')
      if (found.state === 'failed') return 'failed'
      const taken = await takePayment(app, found.id, HOLD_MS)
      if (taken) return taken
      if (found.state === 'settled' && !found.isHeld) throw new ApiError('payment_used')
      if (!(await this.#held.released(found.challengeId))) break
    }
    throw pending()
  }

  /** @throws ApiError payment_used, settlement_pending */
  async claim(charge: CheckedCharge, nowMs: number): Promise<Payment | 'failed'> {
    const { app, chainId, recipient } = this.#options
    const { currency, ...terms } = charge
    for (;;) {
      const claimed = await claimPayment(
        app,
        {
          ...terms,
          ...{ requestDigest: this.#price.digest, scope: this.#scope, method: 'tempo/charge' },
          ...{ chainId, recipient, currency: currency.address },
        },
        nowMs,
        HOLD_MS,
      )
      if (claimed) return claimed
      const { challengeId, credentialDigest: digest, txHash } = charge
      const other = await this.reopen({ challengeId, digest }, txHash)
      // Given back meanwhile: it is claimed anew.
      if (other) return other
    }
  }
}

/** A payment that was begun by another request is told by its row. */
function chargeOf(payment: Payment, { amounts }: Price): CheckedCharge {
  const asked = amounts.find(({ currency: { address } }) => address === payment.currency)
  return {
    challengeId: payment.challengeId,
    credentialDigest: payment.credentialDigest,
    currency: asked?.currency ?? { address: hexOf(payment.currency), decimals: 0 },
    amount: payment.amount,
    payer: hexOf(payment.payer),
    txHash: hexOf(payment.txHash),
    validBeforeSeconds: payment.validBeforeSeconds,
  }
}

const settled = (receipt: string) => ({ kind: 'settled', headers: { 'payment-receipt': receipt } }) as const

const pending = (): ApiError =>
  new ApiError('settlement_pending', undefined, { headers: { 'retry-after': `${RETRY_SECONDS}` } })

const hexOf = (text: string): `0x${string}` => `0x${text.slice(2)}`
