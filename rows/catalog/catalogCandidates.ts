/**
 * Endpoints as a search finds them: numbers first, then the documents of those that are not known
 * yet, and what changes without them for the few that are shown.
 */
import { type RawBuilder, sql } from 'kysely'
import type { AppDatabase } from '../database.ts'

/** tsquery literals: what must be there, and what the order is by. */
export interface CandidateQuery {
  readonly matches: string
  readonly ranks: string
}

export interface CandidateRequest {
  /** Candidates come from each, the most relevant of each first. Empty: from the whole catalog. */
  readonly queries: readonly CandidateQuery[]
  readonly limitPerQuery: number
  /** Only of these services; null for all. */
  readonly serviceIds: readonly string[] | null
}

/** Numbers of endpoints, distinct, in no order, without what was delisted or is suspended. */
export async function findCandidates(app: AppDatabase, request: CandidateRequest): Promise<number[]> {
  const { queries, limitPerQuery, serviceIds } = request
  const only = serviceIds === null ? sql`` : sql`AND p.service_id = ANY (${[...serviceIds]}::text[])`
  const has = (condition: RawBuilder<boolean>) => sql`EXISTS (SELECT FROM app.catalog_health h
    WHERE h.service_id = p.service_id AND h.endpoint_key = p.endpoint_key AND ${condition})`
  // Each of the two has an index of its own.
  const isDelisted = has(sql`h.state = 'delisted'`)
  const isSuspended = has(sql`h.suspended_until > now()`)
  const listed = sql`p.is_shown ${only} AND NOT ${isDelisted} AND NOT ${isSuspended}`
  const part = ({ matches, ranks }: CandidateQuery) => sql`(
    SELECT p.endpoint FROM app.catalog_endpoints p WHERE ${listed} AND p.terms @@ ${matches}::tsquery
    ORDER BY ts_rank(p.terms, ${ranks}::tsquery) DESC, p.endpoint LIMIT ${limitPerQuery})`
  const everything = sql`
    SELECT p.endpoint FROM app.catalog_endpoints p WHERE ${listed}
    ORDER BY p.ordinal, p.service_id LIMIT ${limitPerQuery}`
  const found = queries.length === 0 ? everything : sql.join(queries.map(part), sql` UNION `)
  const { rows } = await sql<{ endpoint: number }>`${found}`.execute(app)
  return rows.map(({ endpoint }) => endpoint)
}

/** The document that an endpoint's number stands for: it never changes. */
export interface CandidateDocument {
  readonly endpoint: number
  readonly serviceId: string
  readonly document: unknown
}

/** Without those that have left the catalog. */
export async function readDocuments(
  app: AppDatabase,
  endpoints: readonly number[],
): Promise<CandidateDocument[]> {
  return app
    .selectFrom('app.catalog_endpoints')
    .select(['endpoint', 'service_id as serviceId', 'document'])
    .where(sql<boolean>`endpoint = ANY (${[...endpoints]}::bigint[])`)
    .execute()
}

export interface CandidateDates {
  /** When its source last listed it. */
  readonly catalogedAt: Date
  /** When its seller last answered as it is listed. */
  readonly verifiedAt: Date | null
  /** Whether that was within a day. */
  readonly isFresh: boolean
}

/** By number, without those that have left the catalog. */
export async function readDates(
  app: AppDatabase,
  endpoints: readonly number[],
): Promise<ReadonlyMap<number, CandidateDates>> {
  const rows = await app
    .selectFrom('app.catalog_endpoints as p')
    .innerJoin('app.catalog_entries as e', 'e.entry', 'p.entry')
    .leftJoin('app.catalog_health as h', (join) =>
      join.onRef('h.service_id', '=', 'p.service_id').onRef('h.endpoint_key', '=', 'p.endpoint_key'),
    )
    .select(['p.endpoint', 'e.cataloged_at as catalogedAt', 'h.verified_at as verifiedAt'])
    .select(sql<boolean>`coalesce(h.verified_at > now() - interval '24 hours', false)`.as('isFresh'))
    .where(sql<boolean>`p.endpoint = ANY (${[...endpoints]}::bigint[])`)
    .execute()
  return new Map(rows.map(({ endpoint, ...dates }) => [endpoint, dates]))
}
