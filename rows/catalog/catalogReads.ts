/** Services of the catalog: by id, all of them in pages; and the catalog's words. */
import { sql } from 'kysely'
import type { AppDatabase } from '../database.ts'
import { ENDPOINTS_TERM, SERVICES_TERM } from './catalogEntries.ts'

/** A service as it is held. */
export interface StoredService {
  readonly serviceId: string
  readonly document: unknown
  /** The names that its sources give it, the oldest first. */
  readonly sources: readonly { readonly sourceId: string; readonly externalId: string }[]
  /** An older service whose name looks the same. */
  readonly looksLike: string | null
  /** When its source last listed it. */
  readonly catalogedAt: Date
}

export async function findServices(app: AppDatabase, ids: readonly string[]): Promise<StoredService[]> {
  return present(await storedServices(app, ids).execute())
}

/** A service as lists show it: its endpoints, which may be large, are not read. */
export interface ServiceSummary {
  readonly serviceId: string
  /** The document without its endpoints. */
  readonly summary: unknown
  readonly endpointCount: number
  /** An older service whose name looks the same. */
  readonly looksLike: string | null
}

/** Services in the order of their ids, after one; `limit` of them at most. */
export async function listServices(
  app: AppDatabase,
  { after, limit }: { readonly after: string | null; readonly limit: number },
): Promise<ServiceSummary[]> {
  const page = shownEntries(app)
    .select(['e.service_id as serviceId', 'e.summary', 'e.endpoint_count as endpointCount'])
    .select('s.looks_like as looksLike')
    .orderBy('e.service_id')
    .limit(limit)
  return (after === null ? page : page.where('e.service_id', '>', after)).execute()
}

/** A realm that a service of the catalog says it asks for money with. */
export interface ListedRealm {
  readonly realm: string
  readonly name: string
  readonly serviceUrl: string
}

/**
 * Realms of all services but those that imitate another, the oldest first; `limit` of them at most.
 */
export async function listRealms(app: AppDatabase, limit: number): Promise<ListedRealm[]> {
  const text = (member: string) => sql<string>`e.summary ->> ${sql.lit(member)}`
  return app
    .selectFrom('app.catalog_entries as e')
    .innerJoin('app.catalog_services as s', 's.service_id', 'e.service_id')
    .where('e.is_shown', '=', true)
    .where('s.looks_like', 'is', null)
    .select([text('realm').as('realm'), text('name').as('name'), 's.service_url as serviceUrl'])
    .orderBy('s.created_at')
    .orderBy('s.service_id')
    .limit(limit)
    .execute()
}

const shownEntries = (app: AppDatabase) =>
  app
    .selectFrom('app.catalog_entries as e')
    .innerJoin('app.catalog_services as s', 's.service_id', 'e.service_id')
    .where('e.is_shown', '=', true)

const storedServices = (app: AppDatabase, ids: readonly string[]) =>
  shownEntries(app)
    .where('e.service_id', 'in', [...ids])
    .select(['e.service_id', 'e.document', 's.looks_like', 'e.cataloged_at', sourcesOf.as('sources')])

const sourcesOf = sql<{ sourceId: string; externalId: string }[]>`(
  SELECT jsonb_agg(jsonb_build_object('sourceId', o.source_id, 'externalId', o.external_id) ORDER BY o.entry)
  FROM app.catalog_entries o WHERE o.service_id = e.service_id)`

type Row = Awaited<ReturnType<ReturnType<typeof storedServices>['execute']>>[number]

const present = (rows: readonly Row[]): StoredService[] =>
  rows.map(({ service_id, document, looks_like, cataloged_at, sources }) => ({
    serviceId: service_id,
    document,
    sources,
    looksLike: looks_like,
    catalogedAt: cataloged_at,
  }))

/**
 * Words of the catalog: in how many endpoints each is, and how many endpoints and services there
 * are.
 */
export interface CatalogWords {
  readonly endpointCount: number
  readonly serviceCount: number
  readonly counts: ReadonlyMap<string, number>
}

export async function readWords(app: AppDatabase, words: readonly string[]): Promise<CatalogWords> {
  const rows = await app
    .selectFrom('app.catalog_terms')
    .select(['term', 'endpoints'])
    .where('term', 'in', [...words, SERVICES_TERM, ENDPOINTS_TERM])
    .execute()
  const counts = new Map(rows.map(({ term, endpoints }) => [term, endpoints]))
  const countOf = (term: string) => counts.get(term) ?? 0
  return { endpointCount: countOf(ENDPOINTS_TERM), serviceCount: countOf(SERVICES_TERM), counts }
}

/** Words of the catalog that share some of these trigrams, the most shared first. */
export async function findAlikeWords(
  app: AppDatabase,
  grams: readonly string[],
  limit: number,
): Promise<readonly { readonly word: string; readonly endpoints: number }[]> {
  const asked = sql`${[...grams]}::text[]`
  const { rows } = await sql<{ word: string; endpoints: number }>`
    SELECT term AS word, endpoints FROM app.catalog_terms WHERE grams && ${asked}
    ORDER BY cardinality(ARRAY(SELECT unnest(grams) INTERSECT SELECT unnest(${asked}))) DESC, term LIMIT ${limit}
  `.execute(app)
  return rows
}
