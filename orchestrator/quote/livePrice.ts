/** The price a seller asks now, in the currency of quotes, or why there is none. */
import type { EgressAnswer } from '#egress/egress.ts'
import { EgressFailedError, EgressRefusedError } from '#egress/errors.ts'
import { MillraceError } from '#errors.ts'
import { rescaled } from '#money/amounts.ts'
import type { RecipientPolicy } from '#wallet/buyer.ts'
import { type QuoteTerms, tokenKey } from '#wallet/currencies.ts'
import { type LiveOffer, liveOffers } from '#wallet/liveOffers.ts'
import { isAllowed } from '#wallet/spend/choosePayable.ts'

export interface LivePrice {
  /** In the smallest unit of the quote's currency. */
  readonly units: bigint
  /** The offer it is of; null for what costs nothing. */
  readonly offer: LiveOffer | null
}

export const nothing: LivePrice = { units: 0n, offer: null }

type Policy = RecipientPolicy | undefined

/** @throws NoPriceError */
export async function priceOf(
  answer: EgressAnswer,
  { policy, terms, nowMs }: { readonly policy: Policy; readonly terms: QuoteTerms; readonly nowMs: number },
): Promise<LivePrice> {
  if (answer.status !== 402) throw new NoPriceError(`answered ${answer.status} where a price was asked for`)
  const offers = await liveOffers(answer, nowMs)
  if (offers.length === 0) throw new NoPriceError('asks for money in no way that can be read')
  const payable = offers.flatMap((offer) => {
    const decimals = terms.atPar.get(tokenKey(offer.network, offer.token))
    if (decimals === undefined || !isAllowed(policy, offer.recipient)) return []
    return [{ units: rescaled(offer.amount, decimals, terms.decimals), offer }]
  })
  const [first, ...others] = payable
  if (!first) throw new NoPriceError('takes no money that could be paid to whom the catalog allows')
  return others.reduce((best, price) => (isBetter(price, best) ? price : best), first)
}

/** What a free endpoint answers proves that it is there, and nothing else. @throws NoPriceError */
export async function freePrice(
  answer: EgressAnswer,
  ask: Parameters<typeof priceOf>[1],
): Promise<LivePrice> {
  if (answer.status === 402) return priceOf(answer, ask)
  if (answer.status >= 500) throw new NoPriceError(`answered ${answer.status}`)
  return nothing
}

/** The cheaper one; of equal ones a charge, which is what it says, before a session of units. */
const isBetter = (a: Required<LivePrice>, b: Required<LivePrice>): boolean =>
  a.units !== b.units ? a.units < b.units : a.offer?.intent === 'charge' && b.offer?.intent === 'session'

/** Why nobody answered with a price, of what egress or its signal threw. */
export function silenceOf(cause: unknown): NoPriceError {
  if (cause instanceof NoPriceError) return cause
  if (cause instanceof EgressRefusedError)
    return new NoPriceError(refusals[cause.reason] ?? 'is where this service does not go', { cause })
  if (cause instanceof EgressFailedError)
    return new NoPriceError(cause.reason === 'connection' ? 'cannot be reached' : 'did not answer in time', {
      cause,
    })
  if (cause instanceof DOMException) return new NoPriceError('did not answer in time', { cause })
  throw cause
}

const refusals: Partial<Record<EgressRefusedError['reason'], string>> = {
  unresolved: 'has a host that does not resolve',
  tooLong: 'answered with more than a price',
  encoding: 'answered in an encoding that is not read',
}

/** A seller without a price that can be quoted. The message says what it did. */
export class NoPriceError extends MillraceError {
  override readonly name = 'NoPriceError'
  readonly code = 'quote_unavailable'
  readonly remedy = 'retry'
}
