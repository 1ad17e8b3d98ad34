/** The rows behind one request's payment: each payment is claimed by one, once. */
import { timingSafeEqual } from 'node:crypto'
import { ApiError } from '#http/errors.ts'
import type { AppDatabase } from '#rows/database.ts'
import {
  type Alongside,
  type CheckedPayment,
  claimPayment,
  findPayment,
  type Payment,
  type PaymentTerms,
  takePayment,
} from '#rows/payments/payments.ts'
import type { HeldPayments } from './HeldPayments.ts'
import type { Identity } from './methods/PaymentMethod.ts'

/** Longer than any request may last. */
export const HOLD_MS = 120_000
/** A repeat waits so often for another that works on the same payment. */
const WAITS_MAX = 5
const RETRY_SECONDS = 5

export interface ClaimsOptions {
  readonly app: AppDatabase
  readonly held: HeldPayments
  /** What is paid for, and by which method. */
  readonly terms: Pick<PaymentTerms, 'requestDigest' | 'scope' | 'method'>
}

export class Claims {
  readonly #options: ClaimsOptions

  constructor(options: ClaimsOptions) {
    this.#options = options
  }

  /**
   * The payment that has begun with the same credential; null where there is none.
   * @throws ApiError payment_used, settlement_pending
   */
  async reopen(
    { identity, digest }: Identity,
    txHash: string | null = null,
  ): Promise<Payment | 'failed' | null> {
    const { app, held, terms } = this.#options
    for (let waits = 0; waits < WAITS_MAX; waits++) {
      const found = await findPayment(app, { identity, txHash })
      if (!found) return null
      const isSame =
        timingSafeEqual(found.requestDigest, terms.requestDigest) &&
        timingSafeEqual(found.credentialDigest, digest)
      if (!isSame || found.isAnswered) throw new ApiError('payment_used')
      if (found.state === 'failed') return 'failed'
      const taken = await takePayment(app, found.id, HOLD_MS)
      if (taken) return taken
      if (found.state === 'settled' && !found.isHeld) throw new ApiError('payment_used')
      if (!(await held.released(found.identity))) break
    }
    throw settlementPending()
  }

  /** @throws ApiError payment_used, settlement_pending */
  async claim(checked: CheckedPayment, nowMs: number, alongside?: Alongside): Promise<Payment | 'failed'> {
    const { app, terms } = this.#options
    const { identity, credentialDigest: digest, txHash } = checked
    for (;;) {
      const claimed = await claimPayment(app, { ...checked, ...terms }, nowMs, HOLD_MS, alongside)
      if (claimed) return claimed
      const other = await this.reopen({ identity, digest }, txHash)
      // Given back meanwhile: it is claimed anew.
      if (other) return other
    }
  }
}

export const settlementPending = (): ApiError =>
  new ApiError('settlement_pending', undefined, { headers: { 'retry-after': `${RETRY_SECONDS}` } })
