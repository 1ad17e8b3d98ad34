/** A seller's demand of another price, or another recipient, than the catalog lists. */
import type { LiveOffer } from '#wallet/liveOffers.ts'
import type { CatalogService, PaymentOffer, ServiceEndpoint } from '../catalog/service.ts'

/** The endpoint that is looked at. */
export interface LookTarget {
  readonly service: CatalogService
  readonly endpoint: ServiceEndpoint
}

interface Difference {
  readonly listed: string
  readonly live: string
}

export interface Drift {
  /** In the token's smallest unit. */
  readonly price?: Difference
  readonly recipient?: Difference
}

/** Null for none. */
export function driftOf({ service, endpoint }: LookTarget, live: readonly LiveOffer[]): Drift | null {
  const price = priceDrift(endpoint.paymentOffers, live)
  const recipient = recipientDrift(recipientsListed(service.recipientPolicy, endpoint.paymentOffers), live)
  return price || recipient ? { ...(price && { price }), ...(recipient && { recipient }) } : null
}

function priceDrift(listed: readonly PaymentOffer[], live: readonly LiveOffer[]): Difference | null {
  // A listing without any offer is free.
  if (listed.length === 0) return { listed: '0', live: `${live[0]?.amount ?? 0n}` }
  for (const offer of listed) {
    if (offer.dynamic === true || typeof offer.amount !== 'string') continue
    const amount = BigInt(offer.amount)
    const same = live.filter((each) => isSame(offer, each))
    const [first] = same
    if (first && !same.some((each) => each.amount === amount))
      return { listed: offer.amount, live: `${first.amount}` }
  }
  return null
}

/** As far as the catalog says what is paid with. */
const isSame = ({ protocol, intent, network, currency }: PaymentOffer, live: LiveOffer): boolean =>
  protocol === live.protocol &&
  intent === live.intent &&
  (!network?.startsWith('eip155:') || network === live.network) &&
  (!currency?.startsWith('0x') || currency.toLowerCase() === live.token)

function recipientsListed(
  policy: CatalogService['recipientPolicy'],
  offers: readonly PaymentOffer[],
): readonly string[] {
  const named = offers.flatMap(({ recipient }) => recipient ?? [])
  const all = policy?.mode === 'allowlist' ? [...policy.recipients, ...named] : named
  return all.map((address) => address.toLowerCase())
}

function recipientDrift(listed: readonly string[], live: readonly LiveOffer[]): Difference | null {
  const [first] = listed
  if (first === undefined) return null
  const other = live.find(({ recipient }) => !listed.includes(recipient))
  return other ? { listed: first, live: other.recipient } : null
}
