/**
 * An endpoint as search holds it: its words by field, and what an answer shows; and the terms it is found
 * by.
 */
import { decimalText, type Scaled, scaledOf } from '#money/amounts.ts'
import { skeletonOf } from '#text/skeleton.ts'
import { parametersOf, parseTemplate } from '../catalog/pathTemplate.ts'
import type { CatalogService, PaymentOffer, ServiceEndpoint } from '../catalog/service.ts'
import type { SearchFields } from './rank.ts'
import { catalogWordsOf } from './words.ts'

export interface SearchDocument {
  readonly serviceName: string
  readonly integration: string
  readonly method: ServiceEndpoint['method']
  readonly path: string
  readonly priority: number
  readonly estimatedPrice: EstimatedPrice
  /** Arguments that a caller fills in: parameters of the path, then members that the schema demands. */
  readonly requiredArguments: readonly string[]
  readonly fields: SearchFields
}

export interface EstimatedPrice {
  readonly dynamic: boolean
  /** Decimal, in currency units. Absent when it depends on the request. */
  readonly amount?: string
  readonly amountHint?: string
  readonly currency: 'USDC'
}

export function searchDocument(service: CatalogService, endpoint: ServiceEndpoint): SearchDocument {
  const template = parseTemplate(endpoint.path)
  const required = endpoint.inputSchema && requiredOf(endpoint.inputSchema)
  return {
    serviceName: service.name,
    integration: service.integration,
    method: endpoint.method,
    path: endpoint.path,
    priority: endpoint.priority,
    estimatedPrice: estimatedPrice(endpoint.paymentOffers),
    requiredArguments: [...new Set([...parametersOf(template), ...(required ?? [])])],
    fields: fieldsOf(service, endpoint),
  }
}

/**
 * The lowest fixed price; dynamic where none is fixed. An endpoint without offers costs nothing.
 */
export function estimatedPrice(offers: readonly PaymentOffer[]): EstimatedPrice {
  if (offers.length === 0) return { dynamic: false, amount: '0', currency: 'USDC' }
  const hint = offers.find(({ amountHint }) => amountHint !== undefined)?.amountHint
  const fixed = offers.filter(({ amount, dynamic }) => typeof amount === 'string' && dynamic !== true)
  const prices = fixed.map(({ amount, decimals }) => ({
    units: BigInt(String(amount)),
    decimals: decimals ?? 6,
  }))
  const [first, ...others] = prices
  if (!first) return { dynamic: true, ...(hint && { amountHint: hint }), currency: 'USDC' }
  const lowest = others.reduce((low, price) => (isLower(price, low) ? price : low), first)
  return {
    dynamic: false,
    amount: decimalText(lowest.units, lowest.decimals),
    ...(hint && { amountHint: hint }),
    currency: 'USDC',
  }
}

const isLower = (a: Scaled, b: Scaled): boolean =>
  a.units * 10n ** BigInt(b.decimals) < b.units * 10n ** BigInt(a.decimals)

/** The price as the score takes it; null where it depends on the request. */
export function knownPrice({ amount }: EstimatedPrice): Scaled | null {
  return amount === undefined ? null : scaledOf(amount)
}

function requiredOf(schema: object): string[] {
  if (!('required' in schema) || !Array.isArray(schema.required)) return []
  return schema.required.filter((name): name is string => typeof name === 'string')
}

function fieldsOf(service: CatalogService, endpoint: ServiceEndpoint): SearchFields {
  const words = (...texts: readonly string[]) => [...new Set(catalogWordsOf(texts.join(' ')))]
  const schema: { properties?: unknown } = endpoint.inputSchema ?? {}
  return {
    identity: words(service.id, service.name, service.provider.name, skeletonOf(service.name)),
    alias: words(...endpoint.aliases),
    capability: words(...endpoint.capabilities, ...service.tags, ...service.categories),
    operation: words(
      endpoint.path.replaceAll(/[:{*][\w.-]*[}*]?/g, ' '),
      ...(endpoint.workflow?.produces ?? []),
    ),
    description: words(endpoint.description),
    example: words(...endpoint.examples),
    schema: words(...parametersOf(parseTemplate(endpoint.path)), ...Object.keys(schema.properties ?? {})),
    service: words(service.description),
  }
}

/**
 * Postgres' weight of each field's words: where a question's words most likely are what the
 * endpoint does.
 */
const weights: readonly (readonly [keyof SearchFields, 'A' | 'B' | 'C' | 'D'])[] = [
  ['schema', 'D'],
  ['service', 'C'],
  ['identity', 'B'],
  ['capability', 'B'],
  ['example', 'B'],
  ['alias', 'A'],
  ['operation', 'A'],
  ['description', 'A'],
]

/**
 * The words as a tsvector's literal, each under its best weight. Words are letters and digits,
 * which need no escape.
 */
export function termsOf(fields: SearchFields): string {
  const best = new Map<string, string>()
  for (const [field, weight] of weights) for (const word of fields[field]) best.set(word, weight)
  return [...best].map(([word, weight], index) => `'${word}':${index + 1}${weight}`).join(' ')
}
