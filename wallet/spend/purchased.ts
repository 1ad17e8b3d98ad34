/** A purchase's result, in the port's words. */
import { rescaled } from '#money/amounts.ts'
import { FEE_DECIMALS, type Fee } from '#money/fees.ts'
import type { Spend, SpentFee } from '#rows/jobs/spends.ts'
import type { Reservation } from '#rows/jobs/wallet.ts'
import type { Paid, Purchased, RefusalCode } from '../buyer.ts'
import { type QuoteTerms, tokenKey } from '../currencies.ts'

const RETRY_MS = 2_000

/** It may have been paid. */
export const later: Purchased = { kind: 'unknown', retryAfterMs: RETRY_MS }

export const refusedPurchase = (code: RefusalCode, message: string): Purchased => ({
  kind: 'refused',
  code,
  message,
})

export const rejected = refusedPurchase(
  'payment_rejected',
  'The seller did not take the payment, and the chain has none.',
)

export const answeredPurchase = (
  { status, contentType, body }: Omit<Extract<Purchased, { kind: 'answered' }>, 'kind' | 'paid'>,
  paid: Paid | null,
): Purchased => ({ kind: 'answered', status, contentType, body, paid })

const offerRefusals = {
  offer_unpayable: 'The seller asks for money in no way that this wallet pays.',
  recipient_refused: 'The seller asks to pay somebody whom the catalog does not name.',
  price_exceeded: 'The seller asks for more than was quoted.',
} as const

export const refusedOffer = (code: keyof typeof offerRefusals): Purchased =>
  refusedPurchase(code, offerRefusals[code])

export function refusedReservation(
  reservation: Exclude<Reservation, { readonly kind: 'reserved' | 'taken' }>,
): Purchased {
  if (reservation.kind === 'limited')
    return refusedPurchase('budget_exceeded', `The wallet's limit per ${reservation.limit} is reached.`)
  if (reservation.kind === 'cancelled') return refusedPurchase('job_cancelled', 'The job was cancelled.')
  return refusedPurchase(
    'wallet_paused',
    reservation.kind === 'paused'
      ? 'The wallet is paused by its operator.'
      : 'The wallet looks for what was paid before its database was restored.',
  )
}

/** The amount in the smallest unit of quotes; fees are beside it. */
export function unitsOf({ chainId, currency, amount, units }: Spend, terms: QuoteTerms): bigint {
  const decimals = terms.atPar.get(tokenKey(`eip155:${chainId}`, currency))
  // A token that is at par no more counts as it was reserved.
  return decimals === undefined ? units : rescaled(amount, decimals, terms.decimals)
}

/** With what it counts in the smallest unit of quotes. */
export const feeIn = (paid: Fee, chainId: number, terms: QuoteTerms): SpentFee => ({
  ...paid,
  units: rescaled(
    paid.fee,
    terms.atPar.get(tokenKey(`eip155:${chainId}`, paid.feeCurrency)) ?? FEE_DECIMALS,
    terms.decimals,
  ),
})

export const paidOf = (spend: Spend, reference: string, terms: QuoteTerms): Paid => ({
  chainId: spend.chainId,
  currency: spend.currency,
  amount: spend.amount,
  units: unitsOf(spend, terms),
  reference,
})
