/** The catalog and quotes, as the API answers them and the console shows them. */
import { decimalOf } from './decimal.ts'
import { postResource, readResource } from './indexerClient.ts'

/** `test/console/wire.test.ts` holds these against the API's schemas. */
export interface SearchResult {
  readonly endpoints: readonly FoundEndpoint[]
  /** The kind of search that ran. */
  readonly resolution: 'live' | 'static'
  readonly zeroResultGuidance?: string
}

export interface FoundEndpoint {
  readonly serviceId: string
  readonly serviceName: string
  readonly method: string
  readonly path: string
  readonly estimatedPrice: EstimatedPrice
  readonly score: number
  readonly scoreDetails: { readonly price: number; readonly relevance: number }
  readonly reasons: readonly string[]
  readonly requiredArguments: readonly string[]
  readonly suggestedPlanNode?: PlanNode
  readonly lastVerifiedAt?: string
}

export interface EstimatedPrice {
  readonly dynamic: boolean
  readonly amount?: string
  readonly amountHint?: string
  readonly currency: string
}

export interface PlanNode {
  readonly id: string
  readonly serviceId: string
  readonly method: string
  readonly path: string
  readonly input?: unknown
  readonly dependsOn?: readonly string[]
}

export interface Description {
  readonly service: Service
  /** An older service whose name looks the same. */
  readonly looksLike?: string
  readonly health: readonly EndpointHealth[]
}

/** The one word for each state, in the console and on the command line. */
export const healthWords = {
  unknown: 'not probed yet',
  verified: 'verified',
  answering: 'answers',
  failing: 'fails',
  delisted: 'delisted',
  unprobed: 'not probed',
  suspended: 'suspended',
} as const satisfies Readonly<Record<EndpointHealth['state'], string>>

/** How an endpoint is, as unpaid probes find it. */
export interface EndpointHealth {
  readonly method: string
  readonly path: string
  readonly state: 'unknown' | 'verified' | 'answering' | 'failing' | 'delisted' | 'unprobed' | 'suspended'
  readonly suspension?: { readonly reason: string; readonly since: string; readonly until: string }
  readonly failures: number
  readonly lastProbedAt?: string
  readonly lastVerifiedAt?: string
  readonly drift?: { readonly price?: Difference; readonly recipient?: Difference }
  /** The newest first; of one endpoint alone. */
  readonly history?: readonly Probe[]
}

interface Difference {
  readonly listed: string
  readonly live: string
}

interface Probe {
  readonly at: string
  readonly outcome: string
  readonly status?: number
  readonly problem?: string
  readonly durationMs: number
}

export interface Service {
  readonly id: string
  readonly name: string
  readonly description: string
  readonly integration: string
  readonly realm: string
  readonly tags: readonly string[]
  readonly categories: readonly string[]
  readonly serviceUrl: string
  readonly provider: { readonly name: string; readonly url: string }
  readonly sourceRefs: readonly { readonly sourceId?: string; readonly externalId?: string }[]
  readonly docs: Readonly<Record<string, string>>
  readonly endpoints: readonly ServiceEndpoint[]
}

export interface ServiceEndpoint {
  readonly method: string
  readonly path: string
  readonly description: string
  readonly aliases: readonly string[]
  readonly capabilities: readonly string[]
  readonly examples: readonly string[]
  readonly paymentOffers: readonly Offer[]
  readonly requestFormat: 'json' | 'query'
  readonly inputSchema?: unknown
  readonly inputExample?: unknown
  readonly lastCatalogedAt?: string
  readonly lastVerifiedAt?: string
}

export interface Offer {
  readonly protocol: string
  readonly method: string
  readonly intent: string
  readonly amount?: unknown
  readonly amountHint?: string
  readonly currency?: string
  readonly decimals?: number
  readonly network?: string
  readonly unitType?: string
}

export interface Quote {
  readonly planHash: string
  readonly currency: string
  readonly totalAmount: string
  readonly totalNetAmount: string
  readonly costMultiplier: string
  readonly dynamic: boolean
  readonly stages: readonly (readonly string[])[]
  readonly nodes: readonly QuoteNode[]
  readonly quotedAt: string
  readonly validUntil?: string
}

export interface QuoteNode {
  readonly nodeId: string
  readonly amount: string
  readonly currency: string
  readonly input: 'example' | 'plan'
}

export interface SearchQuestion {
  readonly query: string
  readonly limit: number
  readonly resolution: 'live' | 'static'
}

/** @throws RequestFailure, or the signal's reason */
export const searchServices = (
  origin: string,
  { query, limit, resolution }: SearchQuestion,
  signal: AbortSignal,
): Promise<SearchResult> => {
  const asked = new URLSearchParams({ query, limit: `${limit}`, resolution })
  return readResource(origin, `v1/services/search?${asked}`, signal)
}

/** @throws RequestFailure, or the signal's reason */
export const readService = (origin: string, id: string, signal: AbortSignal): Promise<Description> =>
  readResource(origin, `v1/services/${encodeURIComponent(id)}`, signal)

/** How one endpoint was found by its last probes. @throws RequestFailure, or the signal's reason */
export async function readHealth(
  origin: string,
  id: string,
  { method, path }: Pick<ServiceEndpoint, 'method' | 'path'>,
  signal: AbortSignal,
): Promise<EndpointHealth | null> {
  const selector = new URLSearchParams({ method, path })
  const address = `v1/services/${encodeURIComponent(id)}?${selector}`
  return (await readResource<Description>(origin, address, signal)).health[0] ?? null
}

/** The plan is sent as it was written: no number becomes another. @throws RequestFailure */
export const quotePlan = (origin: string, plan: string, signal: AbortSignal): Promise<Quote> =>
  postResource(origin, 'v1/quote', plan, signal)

/** The price of an endpoint, as the catalog says. */
export function priceText({ dynamic, amount, amountHint, currency }: EstimatedPrice): string {
  if (amountHint !== undefined) return amountHint
  if (dynamic || amount === undefined) return 'price varies'
  return /^0(\.0*)?$/.test(amount) ? 'free' : `${amount} ${currency}`
}

/** The price of one offer, as far as its seller said. */
export function offerText({ amount, amountHint, decimals, unitType }: Offer): string {
  if (amountHint !== undefined) return amountHint
  if (typeof amount !== 'string') return 'price varies'
  const each = unitType === undefined ? '' : ` per ${unitType}`
  return decimals === undefined ? `${amount} units${each}` : `${decimalOf(amount, decimals)}${each}`
}
