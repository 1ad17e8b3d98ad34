/** The port of payments: what goes beyond the quota may be paid for. */
import { ApiError } from '#http/errors.ts'
import type { PriceFinder } from '#http/request/access.ts'
import type { Payments } from '#payments/Payments.ts'
import { type PaidRequest, requestDigest } from '#payments/requestDigest.ts'
import { BoundedMap } from '#runtime/BoundedMap.ts'
import type { Clock } from '#runtime/runtime.ts'
import { addressGroup } from './clientAddress.ts'
import type { Quotas } from './Quotas.ts'

export type PaidRequests = Pick<
  Payments,
  'sells' | 'isOpen' | 'presentedIn' | 'challenge' | 'find' | 'begin' | 'managed'
>

/** Challenges are good for five minutes. */
const HELD_MS = 5 * 60_000
const HELD_MAX = 10_000
/** Prices that are found out for one address a minute: each is work of an engine. */
const FOUND_MAX = 60

/**
 * Prices that requests have of their own. What a payer was told stays for as long as a challenge is
 * good: an estimate of the engine that moves meanwhile changes nothing.
 */
export class RequestPrices {
  readonly #quotas: Pick<Quotas, 'take'>
  readonly #clock: Clock
  readonly #held: BoundedMap<string, string>

  constructor({ quotas, clock }: { readonly quotas: Pick<Quotas, 'take'>; readonly clock: Clock }) {
    this.#quotas = quotas
    this.#clock = clock
    this.#held = new BoundedMap({ max: HELD_MAX, now: () => clock.monotonic() })
  }

  /** Dollars, as decimal text. @throws ApiError where an address asks for too many, and as `price` */
  async of(request: PaidRequest, remoteAddress: string, price: PriceFinder): Promise<string> {
    const name = requestDigest('', request).toString('base64')
    const held = this.#held.get(name)
    if (held !== undefined) return held
    const { granted } = await this.#quotas.take(
      [{ subject: `priced:${addressGroup(remoteAddress)}`, limit: FOUND_MAX }],
      1,
    )
    if (!granted)
      throw new ApiError('rate_limit_exceeded', 'Too many prices were asked for from this address.', {
        headers: { 'Retry-After': '60' },
      })
    const dollars = await price()
    this.#held.set(name, dollars, this.#clock.monotonic() + HELD_MS)
    return dollars
  }
}
