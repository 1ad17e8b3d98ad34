/** The demo's sellers as the catalog lists them. */
import type { DemoPrice, SellerEndpoint } from './seller.ts'
import { sellers } from './sellers/index.ts'

/** Services of our own format, at the origin where the sellers listen. */
export const demoServices = (origin: string): readonly object[] =>
  sellers.map(({ id, name, description, categories, endpoints }) => ({
    id,
    name,
    description,
    categories,
    tags: ['demo'],
    serviceUrl: `${origin}/${id}`,
    realm: `${id}.localhost`,
    recipientPolicy: { mode: 'origin' },
    endpoints: endpoints.map(listed),
  }))

const listed = ({ method, path, listing, price }: SellerEndpoint) => ({
  method,
  path,
  // Where a real service fits as well, it comes first.
  priority: 0,
  ...listing,
  paymentOffers: price === null ? [] : typeof price === 'function' ? [varying] : offersOf(price),
})

const varying = {
  protocol: 'mpp',
  method: 'tempo',
  intent: 'charge',
  amount: null,
  dynamic: true,
  decimals: 6,
}

function offersOf({ kind, amount }: DemoPrice) {
  const costs = { amount: `${Math.round(Number(amount) * 1e6)}`, decimals: 6 }
  const charge = { protocol: 'mpp', method: 'tempo', intent: 'charge', ...costs }
  const beside = {
    charge: [],
    session: [{ ...charge, intent: 'session' }],
    x402: [{ ...charge, protocol: 'x402', method: 'evm', scheme: 'exact' }],
  }
  return [...beside[kind], charge]
}
