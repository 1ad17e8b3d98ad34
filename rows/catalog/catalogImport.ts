/**
 * Makes the catalog hold what a source lists. An import is one transaction of few statements, each
 * for many entries: it adds, changes and drops what the source did, and readers see all of it at
 * once.
 */
import { createHash } from 'node:crypto'
import { sql, type Transaction } from 'kysely'
import type { AppDatabase } from '../database.ts'
import type { AppSchema } from '../tables.ts'
import { claimServices } from './catalogClaims.ts'
import { type CatalogEntry, lockImports, settle } from './catalogEntries.ts'
import { probeAgain } from './catalogHealth.ts'

export interface ImportReport {
  readonly added: number
  readonly changed: number
  readonly unchanged: number
  readonly removed: number
  /** External ids of entries whose service id belongs to another URL: they were left out. */
  readonly idTaken: readonly string[]
}

/** Endpoints of one statement, some 2 KB each; an entry with more is a statement of its own. */
const ENDPOINTS_PER_STATEMENT = 500
const ENTRIES_PER_STATEMENT = 200

/**
 * Makes the catalog hold what a source lists now. Entries whose external id is in `keep` stay as
 * they are: the source still lists them, in a form that could not be read.
 */
export async function importEntries(
  app: AppDatabase,
  sourceId: string,
  entries: readonly CatalogEntry[],
  keep: readonly string[],
): Promise<ImportReport> {
  return app.transaction().execute(async (transaction) => {
    await lockImports(transaction)
    const known = await readDigests(transaction, sourceId)
    const report = { added: 0, changed: 0, unchanged: 0, removed: 0, idTaken: [] as string[] }
    for (const batch of batchesOf(entries)) {
      const serviceIds = await claimServices(transaction, batch)
      const rows = batch.flatMap((entry, index) => {
        const serviceId = serviceIds[index] ?? null
        if (serviceId === null) report.idTaken.push(entry.externalId)
        return serviceId === null ? [] : [rowOf(entry, serviceId, known.get(entry.externalId))]
      })
      const added = rows.filter(({ entry }) => entry === null)
      const changed = rows.filter(({ entry, isSame }) => entry !== null && !isSame)
      const unchanged = rows.filter(({ isSame }) => isSame)
      await touchEntries(transaction, unchanged)
      await updateEntries(transaction, changed)
      await insertEntries(transaction, sourceId, added)
      await insertEndpoints(transaction, sourceId, [...changed, ...added])
      report.added += added.length
      report.changed += changed.length
      report.unchanged += unchanged.length
    }
    const listed = [...entries.map(({ externalId }) => externalId), ...keep]
    report.removed = await removeUnlisted(transaction, sourceId, listed)
    if (report.added + report.changed + report.removed > 0) await settle(transaction)
    return report
  })
}

function* batchesOf(entries: readonly CatalogEntry[]): Generator<readonly CatalogEntry[]> {
  let batch: CatalogEntry[] = []
  let endpoints = 0
  for (const entry of entries) {
    const isFull =
      batch.length === ENTRIES_PER_STATEMENT || endpoints + entry.endpoints.length > ENDPOINTS_PER_STATEMENT
    if (isFull && batch.length > 0) {
      yield batch
      batch = []
      endpoints = 0
    }
    batch.push(entry)
    endpoints += entry.endpoints.length
  }
  if (batch.length > 0) yield batch
}

interface KnownEntry {
  readonly entry: number
  readonly digest: string
}

async function readDigests(
  transaction: Transaction<AppSchema>,
  sourceId: string,
): Promise<Map<string, KnownEntry>> {
  const rows = await transaction
    .selectFrom('app.catalog_entries')
    .select(['external_id', 'entry', 'digest'])
    .where('source_id', '=', sourceId)
    .execute()
  return new Map(rows.map(({ external_id, entry, digest }) => [external_id, { entry, digest }]))
}

interface EntryRow {
  /** Null: a new one. */
  readonly entry: number | null
  readonly externalId: string
  readonly serviceId: string
  readonly document: string
  readonly digest: string
  readonly isSame: boolean
  readonly endpoints: readonly { readonly terms: string; readonly document: string }[]
}

function rowOf(
  { externalId, document: described, endpoints: listed }: CatalogEntry,
  serviceId: string,
  known: KnownEntry | undefined,
): EntryRow {
  const document = JSON.stringify(described)
  const endpoints = listed.map(({ terms, document: shown }) => ({ terms, document: JSON.stringify(shown) }))
  const hash = createHash('sha256').update(serviceId).update(document)
  for (const endpoint of endpoints) hash.update(endpoint.terms).update(endpoint.document)
  const digest = hash.digest('hex')
  const isSame = known?.digest === digest
  return { entry: known?.entry ?? null, externalId, serviceId, document, digest, isSame, endpoints }
}

async function touchEntries(transaction: Transaction<AppSchema>, rows: readonly EntryRow[]): Promise<void> {
  if (rows.length === 0) return
  await sql`
    UPDATE app.catalog_entries SET cataloged_at = clock_timestamp()
    WHERE entry = ANY (${rows.map(({ entry }) => entry)}::bigint[])`.execute(transaction)
}

async function updateEntries(transaction: Transaction<AppSchema>, rows: readonly EntryRow[]): Promise<void> {
  if (rows.length === 0) return
  await sql`
    UPDATE app.catalog_entries e
    SET cataloged_at = clock_timestamp(), service_id = n.service_id, document = n.document, digest = n.digest
    FROM unnest(
      ${rows.map(({ entry }) => entry)}::bigint[], ${rows.map(({ serviceId }) => serviceId)}::text[],
      ${rows.map(({ document }) => document)}::jsonb[], ${rows.map(({ digest }) => digest)}::text[]
    ) n (entry, service_id, document, digest)
    WHERE e.entry = n.entry`.execute(transaction)
  await sql`
    DELETE FROM app.catalog_endpoints WHERE entry = ANY (${rows.map(({ entry }) => entry)}::bigint[])
  `.execute(transaction)
  await probeAgain(
    transaction,
    rows.map(({ serviceId }) => serviceId),
  )
}

/** The only entry of a service is shown at once; `settle` decides between several. */
async function insertEntries(
  transaction: Transaction<AppSchema>,
  sourceId: string,
  rows: readonly EntryRow[],
): Promise<void> {
  if (rows.length === 0) return
  await sql`
    INSERT INTO app.catalog_entries (source_id, external_id, service_id, document, digest, is_shown)
    SELECT ${sourceId}, external_id, service_id, document, digest,
      NOT EXISTS (SELECT FROM app.catalog_entries o WHERE o.service_id = n.service_id)
    FROM unnest(
      ${rows.map(({ externalId }) => externalId)}::text[], ${rows.map(({ serviceId }) => serviceId)}::text[],
      ${rows.map(({ document }) => document)}::jsonb[], ${rows.map(({ digest }) => digest)}::text[]
    ) WITH ORDINALITY n (external_id, service_id, document, digest, place)
    ORDER BY place`.execute(transaction)
}

async function insertEndpoints(
  transaction: Transaction<AppSchema>,
  sourceId: string,
  rows: readonly EntryRow[],
): Promise<void> {
  const endpoints = rows.flatMap(({ externalId, endpoints: listed }) =>
    listed.map((endpoint, ordinal) => ({ ...endpoint, externalId, ordinal })),
  )
  for (let at = 0; at < endpoints.length; at += ENDPOINTS_PER_STATEMENT) {
    const some = endpoints.slice(at, at + ENDPOINTS_PER_STATEMENT)
    await sql`
      INSERT INTO app.catalog_endpoints (entry, ordinal, service_id, is_shown, terms, document)
      SELECT e.entry, n.ordinal, e.service_id, e.is_shown, n.terms::tsvector, n.document
      FROM unnest(
        ${some.map(({ externalId }) => externalId)}::text[], ${some.map(({ ordinal }) => ordinal)}::integer[],
        ${some.map(({ terms }) => terms)}::text[], ${some.map(({ document }) => document)}::jsonb[]
      ) n (external_id, ordinal, terms, document)
      JOIN app.catalog_entries e ON e.source_id = ${sourceId} AND e.external_id = n.external_id
    `.execute(transaction)
  }
}

async function removeUnlisted(
  transaction: Transaction<AppSchema>,
  sourceId: string,
  listed: readonly string[],
): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    DELETE FROM app.catalog_entries WHERE source_id = ${sourceId} AND NOT EXISTS (
      SELECT FROM unnest(${[...listed]}::text[]) l (external_id) WHERE l.external_id = catalog_entries.external_id)
  `.execute(transaction)
  return Number(numAffectedRows)
}
