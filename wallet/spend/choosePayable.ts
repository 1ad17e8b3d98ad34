/** Which of a seller's offers is paid: the cheapest one within what the job was quoted. */
import { rescaled } from '#money/amounts.ts'
import type { RecipientPolicy, RefusalCode } from '../buyer.ts'
import { type QuoteTerms, tokenKey } from '../currencies.ts'
import type { Offered, Payable, Paying } from '../paying.ts'

export interface Bounds {
  readonly terms: QuoteTerms
  /** In the smallest unit of quotes; fees are the wallet's. Null where any price is taken. */
  readonly unitsMax: bigint | null
  readonly recipientPolicy: RecipientPolicy | undefined
}

export interface Chosen<One extends Offered> {
  readonly payable: One
  /** The amount in the smallest unit of quotes, rounded up. */
  readonly units: bigint
}

/** The last reason that an offer meets is told: what came nearest to being paid. */
const reasons = ['offer_unpayable', 'recipient_refused', 'price_exceeded'] as const satisfies RefusalCode[]
export type OfferRefusal = (typeof reasons)[number]

/** Offers of a 402 that one of the protocols can pay. */
export async function payableBy(
  paying: readonly Paying[],
  answer: Parameters<Paying['payable']>[0],
): Promise<readonly Payable[]> {
  const payable = await Promise.all(paying.map((one) => one.payable(answer)))
  return payable.flat()
}

export function choosePayable<One extends Offered>(
  payable: readonly One[],
  { terms, unitsMax, recipientPolicy }: Bounds,
): Chosen<One> | OfferRefusal {
  let nearest = 0
  let best: Chosen<One> | null = null
  for (const one of payable) {
    const { network, token, amount, recipient } = one.offer
    const decimals = terms.atPar.get(tokenKey(network, token))
    if (decimals === undefined) continue
    nearest = Math.max(nearest, 1)
    if (!isAllowed(recipientPolicy, recipient)) continue
    nearest = Math.max(nearest, 2)
    const units = rescaled(amount, decimals, terms.decimals)
    if (unitsMax !== null && units > unitsMax) continue
    if (best === null || units + one.statedFeeUnits < best.units + best.payable.statedFeeUnits)
      best = { payable: one, units }
  }
  return best ?? reasons[nearest] ?? 'offer_unpayable'
}

/** The catalog's allowlist decides; without one the seller's own challenge does. */
const isAllowed = (policy: RecipientPolicy | undefined, recipient: string): boolean =>
  policy?.mode !== 'allowlist' || policy.recipients.some((each) => each.toLowerCase() === recipient)
