/** How operations are paid for, as documents tell it (`x-payment-info`). */
import type { Endpoint } from '../endpoint.ts'

/** How one unit of a scope is paid for; the challenge of a live request decides. */
export interface PaymentOffer {
  readonly intent: string
  readonly method: string
  /** In the currency's smallest unit; null where the request decides. */
  readonly amount: string | null
  readonly currency: string
  readonly description: string
}

/** Offers of a scope; none where it is not sold. */
export type OffersOf = (scope: string) => readonly PaymentOffer[]

export function offersAt(
  { asks: own, access }: Endpoint<never>,
  offersOf: OffersOf,
): readonly PaymentOffer[] {
  const asks = own ?? access.buyers
  if (asks?.what === 'proof')
    return offersOf(asks.scope)
      .filter(({ method, intent }) => method === 'tempo' && intent === 'charge')
      .map((offer) => ({ ...offer, amount: '0', description: 'proves an account, and moves no money' }))
      .slice(0, 1)
  if (asks) return offersOf(asks.scope)
  return access.payable && access.scope !== null ? offersOf(access.scope) : []
}
