/** The price a seller asks now, in the currency of quotes, or why there is none. */
import type { EgressAnswer } from '#egress/Egress.ts'
import { EgressFailedError, EgressRefusedError } from '#egress/errors.ts'
import { MillraceError } from '#errors.ts'
import type { RecipientPolicy } from '#wallet/buyer.ts'
import type { QuoteTerms } from '#wallet/currencies.ts'
import type { Offered } from '#wallet/paying.ts'
import { choosePayable, type OfferRefusal } from '#wallet/spend/choosePayable.ts'

export interface LivePrice {
  /** In the smallest unit of the quote's currency. */
  readonly units: bigint
  /** The offer it is of; null for what costs nothing. */
  readonly offered: Offered | null
}

export const nothing: LivePrice = { units: 0n, offered: null }

export interface PriceTerms {
  readonly policy: RecipientPolicy | undefined
  readonly terms: QuoteTerms
  /** Offers of a 402 that can be paid. */
  readonly payable: (answer: EgressAnswer) => Promise<readonly Offered[]>
}

/** By the choice that a purchase makes. @throws NoPriceError */
export async function livePriceOf(
  answer: EgressAnswer,
  { policy, terms, payable }: PriceTerms,
): Promise<LivePrice> {
  if (answer.status !== 402) throw new NoPriceError(`answered ${answer.status} where a price was asked for`)
  const chosen = choosePayable(await payable(answer), {
    ...{ terms, unitsMax: null, recipientPolicy: policy },
  })
  if (typeof chosen === 'string') throw new NoPriceError(unpaid[chosen])
  return { units: chosen.units, offered: chosen.payable }
}

const unpaid = {
  offer_unpayable: 'asks for money in no way that is paid from here',
  recipient_refused: 'takes no money that could be paid to whom the catalog allows',
  price_exceeded: 'asks for more than is paid',
} as const satisfies Record<OfferRefusal, string>

/** A free endpoint's answer proves that it is there, and nothing else. @throws NoPriceError */
export async function freePrice(answer: EgressAnswer, ask: PriceTerms): Promise<LivePrice> {
  if (answer.status === 402) return livePriceOf(answer, ask)
  if (answer.status >= 500) throw new NoPriceError(`answered ${answer.status}`)
  return nothing
}

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
