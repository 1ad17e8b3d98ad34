/** GET /v1/services/search. */
import { recognised } from '#api/http/access.ts'
import { conflict, endpoint } from '#api/http/endpoint.ts'
import * as p from '#api/http/parameter.ts'
import * as s from '#api/http/schema.ts'
import type { CallerRates } from '../CallerRates.ts'
import { methodSchema, SERVICE_ID_PATTERN, serviceIdSchema } from '../catalog/service.ts'
import { planNodeSchema } from '../plan/plan.ts'
import { type FoundEndpoint, type Ranked, type SearchEvidence, search } from '../search/search.ts'
import type { CatalogServices } from './services.ts'

export const QUERY_CHARACTERS_MAX = 500
export const SEARCH_LIMIT_MAX = 20
export const SEARCH_LIMIT_DEFAULT = 8
export const SERVICE_FILTERS_MAX = 20
/** Of one caller. */
export const SEARCHES_PER_MINUTE = 600

/** What searches work with. */
export interface SearchServices extends CatalogServices {
  readonly searchRates: CallerRates
}

const share = s.number({ minimum: 0, maximum: 1 })
const reasonSchema = s.oneOf([
  'alias_match',
  'capability_match',
  'catalog_default',
  'description_match',
  'example_match',
  'identity_match',
  'operation_match',
  'schema_match',
  'semantic_match',
])
const scoreDetailsSchema = s.object({ price: share, relevance: share })

const foundEndpointSchema = s.named('FoundEndpoint', {
  serviceId: serviceIdSchema,
  serviceName: s.text(),
  method: methodSchema,
  path: s.text(),
  estimatedPrice: s.object(
    {
      dynamic: s.boolean(),
      amount: s.optional(s.decimal),
      amountHint: s.optional(s.text()),
      currency: s.literal('USDC'),
    },
    { description: 'As the catalog says it; a quote asks the seller.' },
  ),
  rank: s.integer({ minimum: 1 }),
  score: share,
  scoreDetails: scoreDetailsSchema,
  reasons: s.array(reasonSchema),
  requiredArguments: s.array(s.text()),
  nextTool: s.oneOf(['describe_service', 'quote_plan'] as const),
  suggestedPlanNode: s.optional(planNodeSchema),
  lastCatalogedAt: s.optional(s.timestamp),
  lastVerifiedAt: s.optional(s.timestamp),
})

export const searchResultSchema = s.named('SearchResult', {
  endpoints: s.array(foundEndpointSchema),
  nextTool: s.oneOf(['describe_service', 'quote_plan', 'search_services'] as const),
  resolution: s.oneOf(['static', 'live'] as const, { description: 'What ran.' }),
  zeroResultGuidance: s.optional(s.text()),
  internal: s.optional(
    s.named('SearchEvidence', {
      catalog: s.object({
        serviceCount: s.count,
        endpointCount: s.count,
        generatedAt: s.timestamp,
        sourceVersion: s.text(),
      }),
      retrieval: s.object({
        candidates: s.array(
          s.object({
            serviceId: s.text(),
            method: methodSchema,
            path: s.text(),
            rank: s.integer({ minimum: 1 }),
            score: share,
            scoreDetails: scoreDetailsSchema,
            quality: s.object({ tier: s.oneOf(['standard', 'reviewed'] as const) }),
          }),
        ),
        ranking: s.object({ profile: s.text(), strategy: s.text() }),
      }),
    }),
  ),
})

const query = p.parameter<string>({
  schema: s.text({ maxLength: QUERY_CHARACTERS_MAX }),
  description: 'The intent, in words. Empty lists the catalog.',
  code: 'param_invalid',
  parse: (text) => {
    if (text.length > QUERY_CHARACTERS_MAX)
      throw new p.ParameterError(`expected up to ${QUERY_CHARACTERS_MAX} characters`)
    return text
  },
})
const serviceId = p.text(100, new RegExp(SERVICE_ID_PATTERN))

export const searchServicesEndpoint = endpoint({
  path: '/v1/services/search',
  summary: 'Finds endpoints of paid services by intent.',
  description:
    'Free. The best endpoints first, with the reasons for which they were found. `serviceId` without `serviceMode` requires those services.',
  tag: 'Services',
  chain: 'none',
  access: recognised,
  filters: {
    query: p.withDefault(query, ''),
    limit: p.withDefault(p.integer(1, SEARCH_LIMIT_MAX), SEARCH_LIMIT_DEFAULT),
    resolution: p.withDefault(
      p.described(
        p.oneOf('static', 'live'),
        '`live` probes sellers where it is enabled; the answer says what ran.',
      ),
      'static',
    ),
    serviceId: p.described(
      p.repeated(serviceId, SERVICE_FILTERS_MAX),
      'Only, or preferably, these services; repeated.',
    ),
    serviceMode: p.described(
      p.oneOf('require', 'prefer'),
      '`require`: only the named services; `prefer`: them first.',
    ),
    evidence: p.described(p.oneOf('pre-confidence'), 'Adds the candidates before the confidence filter.'),
  },
  check: ({ serviceId: ids, serviceMode }) =>
    serviceMode !== undefined && ids === undefined ? conflict('serviceMode', 'needs `serviceId`') : undefined,
  response: searchResultSchema,
  cache: 'none',
  errors: ['rate_limit_exceeded'],
  read: ({ filters, caller }, { app, searchRates }: SearchServices) => {
    searchRates.take(caller.id)
    return search(app, {
      query: filters.query,
      limit: filters.limit,
      resolution: filters.resolution,
      serviceIds: filters.serviceId ?? null,
      serviceMode: filters.serviceMode ?? null,
      withEvidence: filters.evidence !== undefined,
    })
  },
  present: presentSearch,
})

/** The result as both doors write it. */
export function presentSearch(
  result: Awaited<ReturnType<typeof search>>,
): s.Static<typeof searchResultSchema> {
  const { endpoints, internal, ...rest } = result
  return {
    ...rest,
    endpoints: endpoints.map(presentFound),
    ...(internal && { internal: presentEvidence(internal) }),
  }
}

const presentFound = ({
  lastCatalogedAt,
  lastVerifiedAt,
  reasons,
  requiredArguments,
  ...found
}: FoundEndpoint) => ({
  ...found,
  reasons: [...reasons],
  requiredArguments: [...requiredArguments],
  lastCatalogedAt: dateText(lastCatalogedAt),
  ...(lastVerifiedAt && { lastVerifiedAt: dateText(lastVerifiedAt) }),
})

/**
 * Names the ranking, so that a replay knows what it replays. Changed with any weight of rank.ts or
 * search.ts.
 */
const ranking = { profile: 'slots-v1', strategy: 'relevance-price-v1' }

const presentEvidence = ({ catalog, candidates }: SearchEvidence) => ({
  catalog: {
    serviceCount: catalog.serviceCount,
    endpointCount: catalog.endpointCount,
    generatedAt: dateText(catalog.generatedAt),
    sourceVersion: 'catalog-v1',
  },
  retrieval: { candidates: candidates.map(presentCandidate), ranking },
})

const presentCandidate = ({ candidate, document, score, price, relevance }: Ranked, index: number) => ({
  serviceId: candidate.serviceId,
  method: document.method,
  path: document.path,
  rank: index + 1,
  score,
  scoreDetails: { price, relevance },
  quality: { tier: 'standard' as const },
})

const dateText = (date: Date): string => s.isoSeconds(date.getTime() / 1_000)
