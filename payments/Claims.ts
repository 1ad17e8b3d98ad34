/** The rows behind one request's payment: each payment is claimed by one, once. */
import { timingSafeEqual } from 'node:crypto'
import { ApiError } from '#http/errors.ts'
import type { AppDatabase } from '#rows/database.ts'
import { isSingle, takePayment } from '#rows/payments/holds.ts'
import { findNamedPayment, forgetName } from '#rows/payments/namedPayments.ts'
import {
  type Alongside,
  CHANNEL_METHOD,
  type CheckedPayment,
  claimPayment,
  findPayment,
  type Payment,
  type PaymentTerms,
  releaseClaim,
} from '#rows/payments/payments.ts'
import type { HeldPayments } from './HeldPayments.ts'
import { HOLD_MS } from './Holds.ts'
import { type Identity, PaymentRefusedError } from './methods/PaymentMethod.ts'

/** A repeat waits so often for another that works on the same payment. */
const WAITS_MAX = 5
const RETRY_SECONDS = 5

export interface ClaimsOptions {
  readonly app: AppDatabase
  readonly held: HeldPayments
  /** The request that is paid for, and the method. */
  readonly terms: Pick<PaymentTerms, 'requestDigest' | 'scope' | 'method'>
}

export class Claims {
  readonly #options: ClaimsOptions

  constructor(options: ClaimsOptions) {
    this.#options = options
  }

  /**
   * The payment that has begun with the same credential; null where there is none, `spent` for a voucher
   * whose answer is given no more.
   * @throws ApiError payment_used, settlement_pending
   */
  async reopen(
    { identity, digest }: Identity,
    txHash: string | null = null,
  ): Promise<Payment | 'failed' | 'spent' | null> {
    const found = await this.#taken(
      () => findPayment(this.#options.app, { identity, txHash }),
      (found) => {
        const isSame = this.#isForRequest(found) && timingSafeEqual(found.credentialDigest, digest)
        if (!isSame) throw spentElsewhere()
        if (found.isAnswered && isSingle(found)) throw new ApiError('payment_used')
      },
    )
    if (found !== 'spent') return found?.state === 'failed' ? 'failed' : found
    if (this.#options.terms.method !== CHANNEL_METHOD) throw new ApiError('payment_used')
    return 'spent'
  }

  /** @throws ApiError payment_used, settlement_pending */
  async claim(
    checked: CheckedPayment,
    nowMs: number,
    alongside?: Alongside,
  ): Promise<Payment | 'failed' | 'spent'> {
    const { app, terms } = this.#options
    const { identity, credentialDigest: digest, txHash } = checked
    for (;;) {
      const claimed = await claimPayment(app, { ...checked, ...terms }, nowMs, HOLD_MS, alongside)
      if (claimed) return claimed
      const other = (await this.reopen({ identity, digest }, txHash)) ?? (await this.#named(checked))
      // Given back meanwhile: it is claimed anew.
      if (other) return other
    }
  }

  /**
   * The payment that has the payer's name already: its answer is given again, and `checked` is not
   * spent. Null where the name is free again.
   */
  async #named({ payer, reference }: CheckedPayment): Promise<Payment | null> {
    const { app } = this.#options
    if (reference === null) return null
    const found = await this.#taken(
      () => findNamedPayment(app, payer, reference),
      (found) => {
        if (!this.#isForRequest(found)) throw namedOtherwise()
      },
    )
    if (found === 'spent') throw new ApiError('payment_used')
    if (found?.state === 'failed') await forgetName(app, found.id)
    // Nothing was sent, and the credential that it was claimed for is not here.
    if (found?.state === 'claimed') await releaseClaim(app, found)
    return found?.state === 'failed' || found?.state === 'claimed' ? null : found
  }

  /**
   * A payment that nobody else works on, taken unless it has failed. Null where there is none, `spent`
   * where it has no answer left.
   * @throws ApiError settlement_pending, and what `allowed` throws
   */
  async #taken(
    find: () => Promise<Payment | null>,
    allowed: (found: Payment) => void,
  ): Promise<Payment | 'spent' | null> {
    const { app, held } = this.#options
    for (let waits = 0; waits < WAITS_MAX; waits++) {
      const found = await find()
      if (!found) return null
      allowed(found)
      if (found.state === 'failed') return found
      const taken = await takePayment(app, found.id, HOLD_MS)
      if (taken) return taken
      // Nothing is left to take, unless another has it or had it in between.
      const now = await find()
      const isUntouched = !found.isHeld && !now?.isHeld && now?.attempt === found.attempt
      if (found.state === 'settled' && isUntouched) return 'spent'
      if (!(await held.released(found.identity))) break
    }
    throw settlementPending()
  }

  #isForRequest({ requestDigest }: Payment): boolean {
    return timingSafeEqual(requestDigest, this.#options.terms.requestDigest)
  }
}

/** Refused, unlike a credential that comes once more. */
const spentElsewhere = (): ApiError =>
  new ApiError('payment_used', undefined, {
    cause: new PaymentRefusedError(new Error('it pays for another request')),
  })

const namedOtherwise = (): ApiError =>
  new ApiError('idempotency_conflict', undefined, {
    cause: new PaymentRefusedError(new Error('its payer has named another request so')),
  })

/** @param cause of one that counts as refused */
export const settlementPending = (cause?: PaymentRefusedError): ApiError =>
  new ApiError('settlement_pending', undefined, { headers: { 'retry-after': `${RETRY_SECONDS}` }, cause })
