/** The result of a search as both doors write it. */
import * as s from '#http/schema.ts'
import { methodSchema, serviceIdSchema } from '../catalog/service.ts'
import { planNodeSchema } from '../plan/plan.ts'
import type { FoundEndpoint, Ranked, SearchEvidence, SearchResult } from './search.ts'

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

export function presentSearch({
  endpoints,
  internal,
  ...rest
}: SearchResult): s.Static<typeof searchResultSchema> {
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
const ranking = { profile: 'slots-v3', strategy: 'relevance-price-v1' }

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
