/**
 * POST /v1/indexer/explain: what a query would read, how long it would take and what it costs,
 * without running it.
 */
import { command } from '#http/endpoint.ts'
import { isStranger, partyOf } from '#http/request/access.ts'
import * as s from '#http/schema.ts'
import { engines, isRecord } from '#primitives.ts'
import { SIGNATURES_MAX } from '#query/decoded/signature.ts'
import { ROWS_MAX } from '#query/limits.ts'
import { queryPriceOf } from '#query/price.ts'
import type { QueryPlan } from '#query/result.ts'
import { SQL_BYTES_MAX, sqlExample } from '#query/text.ts'
import { SIGNATURE_CHARACTERS_MAX } from '#transform/abi/signature.ts'
import {
  bodyChain,
  dollars,
  type IndexerServices,
  indexerQuery,
  publicly,
  TIMEOUT_MS_DEFAULT,
  visibleBlocks,
} from './userSql.ts'

const queryPlan = s.named('QueryPlan', {
  ok: s.literal(true),
  engine: s.oneOf(engines),
  relations: s.array(s.text(), { description: 'Tables the query reads.' }),
  estimate: s.object(
    { rows: s.count, bytes: s.count, time_ms: s.count },
    {
      description:
        'What it would read, from statistics, and how long it would take on an idle machine with its data in memory: an ' +
        'order of magnitude. What else runs, what is cached and how many rows a condition keeps, it cannot know.',
    },
  ),
  price: s.object({ amount: dollars, currency: s.literal('USD') }),
  plan: s.array(
    s.foreign(
      'A plan as the engine gave it: EXPLAIN (FORMAT JSON) of Postgres, EXPLAIN json = 1 of ClickHouse.',
    ),
    { description: 'The engine’s plan.' },
  ),
})

export const explainIndexerQueryEndpoint = command({
  path: '/v1/indexer/explain',
  method: 'POST',
  summary: 'Plan, estimate and price of a SQL query, without running it.',
  access: indexerQuery,
  errors: [
    'sql_invalid',
    'chain_id_invalid',
    'chain_id_unsupported',
    'overloaded',
    'request_timeout',
    'upstream_error',
    'store_rebuilding',
  ],
  errorFields: { ok: false },
  body: s.object({
    sql: s.text({ minLength: 1, maxLength: SQL_BYTES_MAX, examples: [sqlExample] }),
    chainId: s.optional(s.union([s.text(), s.integer({ minimum: 1 })])),
    signature: s.optional(
      s.array(s.text({ minLength: 1, maxLength: SIGNATURE_CHARACTERS_MAX }), { maxItems: SIGNATURES_MAX }),
    ),
    engine: s.optional(s.oneOf(engines)),
    limit: s.optional(s.integer({ minimum: 1, maximum: ROWS_MAX })),
  }),
  bodyBytesMax: 3 * SQL_BYTES_MAX,
  response: queryPlan,
  run: ({ body, caller, signal }, services: IndexerServices) => {
    const { sql, engine = 'postgres', limit = ROWS_MAX, signature: signatures = [] } = body
    const chainId = bodyChain(body.chainId, services, caller)
    const { blocks } = visibleBlocks({ engine, chainId }, services)
    const shares = { party: partyOf(caller), behind: isStranger(caller) }
    const request = {
      ...{ chainId, sql, signatures, limit, timeoutMs: TIMEOUT_MS_DEFAULT, blocks, signal },
      ...shares,
    }
    return publicly(() => services.sql[engine].explain(request))
  },
  present: ({ engine, relations, plan, estimate }: QueryPlan) => ({
    ok: true as const,
    engine,
    relations: [...relations],
    estimate: { rows: estimate.rows, bytes: estimate.bytes, time_ms: estimate.timeMs },
    price: { amount: queryPriceOf(estimate), currency: 'USD' as const },
    plan: plansOf(plan),
  }),
})

/** An engine explains each statement of a query; a query has one. */
function plansOf(plan: unknown): object[] {
  const plans: unknown[] = Array.isArray(plan) ? plan : [plan]
  return plans.filter(isRecord)
}
