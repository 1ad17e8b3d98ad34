/** Which of a seller's offers is paid: the cheapest one within what the job was quoted. */
import { rescaled } from '#money/amounts.ts'
import type { RecipientPolicy, RefusalCode } from '../buyer.ts'
import { type QuoteTerms, tokenKey } from '../currencies.ts'
import type { Payable } from '../paying.ts'

export interface Bounds {
  readonly terms: QuoteTerms
  /** In the smallest unit of quotes; fees are the wallet's. */
  readonly unitsMax: bigint
  readonly recipientPolicy: RecipientPolicy | undefined
}

export interface Chosen {
  readonly payable: Payable
  /** The amount in the smallest unit of quotes, rounded up. */
  readonly units: bigint
}

/** The last reason that an offer meets is told: what came nearest to being paid. */
const reasons = ['offer_unpayable', 'recipient_refused', 'price_exceeded'] as const satisfies RefusalCode[]

export function choosePayable(
  payable: readonly Payable[],
  { terms, unitsMax, recipientPolicy }: Bounds,
): Chosen | (typeof reasons)[number] {
  let nearest = 0
  let best: Chosen | null = null
  for (const one of payable) {
    const { network, token, amount, recipient } = one.offer
    const decimals = terms.atPar.get(tokenKey(network, token))
    if (decimals === undefined) continue
    nearest = Math.max(nearest, 1)
    if (!isAllowed(recipientPolicy, recipient)) continue
    nearest = Math.max(nearest, 2)
    const units = rescaled(amount, decimals, terms.decimals)
    if (units > unitsMax) continue
    if (best === null || units + one.feeUnits < best.units + best.payable.feeUnits)
      best = { payable: one, units }
  }
  return best ?? reasons[nearest] ?? 'offer_unpayable'
}

/** Where the catalog names nobody, the seller's own challenge does. */
export const isAllowed = (policy: RecipientPolicy | undefined, recipient: string): boolean =>
  policy?.mode !== 'allowlist' || policy.recipients.some((each) => each.toLowerCase() === recipient)
