/**
 * Entries of the catalog as sources list them. An import is one transaction: it adds, changes and
 * drops what the source did, and readers see all of it at once. Documents are the orchestrator's;
 * nothing here looks into them.
 */
import { createHash } from 'node:crypto'
import { sql, type Transaction } from 'kysely'
import { probeAgain, settleHealth } from './catalogHealth.ts'
import { type AppDatabase, databaseNow } from './database.ts'
import type { AppSchema } from './tables.ts'

/** A service as one source lists it. */
export interface CatalogEntry {
  readonly externalId: string
  /** The id that the source gives; a service that is known by its URL keeps the id it has. */
  readonly serviceId: string
  readonly serviceUrl: string
  readonly skeleton: string
  readonly document: object
  readonly endpoints: readonly {
    /** A tsvector's literal. */
    readonly terms: string
    readonly document: object
  }[]
}

export interface ImportReport {
  readonly added: number
  readonly changed: number
  readonly unchanged: number
  readonly removed: number
  /** External ids of entries whose service id belongs to another URL: they were left out. */
  readonly idTaken: readonly string[]
}

/** Rows among the words that no word can be: how many services and endpoints there are. */
export const SERVICES_TERM = '#services'
export const ENDPOINTS_TERM = '#endpoints'

/** One import at a time: the words of the whole catalog are counted at its end. */
const IMPORT_LOCK = 7_414_214_218
/** Rows of one INSERT, far below the 65,535 parameters of a statement. */
const ROWS_MAX = 500

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
    await sql`SELECT pg_advisory_xact_lock(${IMPORT_LOCK})`.execute(transaction)
    const known = await readDigests(transaction, sourceId)
    const report = { added: 0, changed: 0, unchanged: 0, removed: 0, idTaken: [] as string[] }
    for (const entry of entries) {
      const outcome = await importEntry(transaction, sourceId, entry, known.get(entry.externalId))
      if (outcome === 'idTaken') report.idTaken.push(entry.externalId)
      else report[outcome] += 1
    }
    const listed = [...entries.map(({ externalId }) => externalId), ...keep]
    report.removed = await removeUnlisted(transaction, sourceId, listed)
    if (report.added + report.changed + report.removed > 0) await settle(transaction)
    return report
  })
}

/**
 * Removes a service with all its entries, or all entries of a source. Returns how many entries
 * there were.
 */
export async function removeEntries(
  app: AppDatabase,
  of: { readonly serviceId: string } | { readonly sourceId: string },
): Promise<number> {
  return app.transaction().execute(async (transaction) => {
    await sql`SELECT pg_advisory_xact_lock(${IMPORT_LOCK})`.execute(transaction)
    const deleting = transaction.deleteFrom('app.catalog_entries')
    const { numDeletedRows } = await ('serviceId' in of
      ? deleting.where('service_id', '=', of.serviceId)
      : deleting.where('source_id', '=', of.sourceId)
    ).executeTakeFirst()
    if (numDeletedRows > 0n) await settle(transaction)
    return Number(numDeletedRows)
  })
}

/**
 * Gives services that this source alone lists the URLs they have now. An id that another source
 * lists too stays where it is.
 */
export async function moveServices(
  app: AppDatabase,
  sourceId: string,
  places: readonly { readonly serviceId: string; readonly serviceUrl: string }[],
): Promise<void> {
  for (const { serviceId, serviceUrl } of places)
    await sql`
      UPDATE app.catalog_services s SET service_url = ${serviceUrl}
      WHERE s.service_id = ${serviceId} AND s.service_url <> ${serviceUrl}
        AND (SELECT bool_and(e.source_id = ${sourceId}) FROM app.catalog_entries e WHERE e.service_id = s.service_id)
        AND NOT EXISTS (SELECT FROM app.catalog_services o WHERE o.service_url = ${serviceUrl})
    `.execute(app)
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

async function importEntry(
  transaction: Transaction<AppSchema>,
  sourceId: string,
  entry: CatalogEntry,
  known: KnownEntry | undefined,
): Promise<'added' | 'changed' | 'unchanged' | 'idTaken'> {
  const serviceId = await claimService(transaction, entry)
  if (serviceId === null) return 'idTaken'
  const document = JSON.stringify(entry.document)
  const texts = entry.endpoints.map(({ terms, document: shown }) => ({ terms, shown: JSON.stringify(shown) }))
  const digest = createHash('sha256').update(serviceId).update(document)
  for (const { terms, shown } of texts) digest.update(terms).update(shown)
  const row = { service_id: serviceId, document, digest: digest.digest('hex') }
  const stored = known
    ? await updateEntry(transaction, known, row)
    : await insertEntry(transaction, { ...row, source_id: sourceId, external_id: entry.externalId })
  if (stored === null) return 'unchanged'
  for (let at = 0; at < texts.length; at += ROWS_MAX) {
    const rows = texts
      .slice(at, at + ROWS_MAX)
      .map(({ terms, shown }, index) => ({ entry: stored, ordinal: at + index, terms, document: shown }))
    await transaction.insertInto('app.catalog_endpoints').values(rows).execute()
  }
  if (!known) return 'added'
  await probeAgain(transaction, serviceId)
  return 'changed'
}

interface EntryRow {
  readonly service_id: string
  readonly document: string
  readonly digest: string
}

/** The entry's number, or null where nothing changed. */
async function updateEntry(
  transaction: Transaction<AppSchema>,
  known: KnownEntry,
  row: EntryRow,
): Promise<number | null> {
  const isSame = known.digest === row.digest
  await transaction
    .updateTable('app.catalog_entries')
    .set({ cataloged_at: databaseNow, ...(!isSame && row) })
    .where('entry', '=', known.entry)
    .execute()
  if (isSame) return null
  await transaction.deleteFrom('app.catalog_endpoints').where('entry', '=', known.entry).execute()
  return known.entry
}

async function insertEntry(
  transaction: Transaction<AppSchema>,
  row: EntryRow & { readonly source_id: string; readonly external_id: string },
): Promise<number> {
  const { entry } = await transaction
    .insertInto('app.catalog_entries')
    .values({ ...row, is_shown: false })
    .returning('entry')
    .executeTakeFirstOrThrow()
  return entry
}

/**
 * The id of the service at this URL, made where it is new; null when the id is another service's.
 */
async function claimService(
  transaction: Transaction<AppSchema>,
  { serviceId, serviceUrl, skeleton }: CatalogEntry,
): Promise<string | null> {
  const services = transaction.selectFrom('app.catalog_services')
  const known = await services.select('service_id').where('service_url', '=', serviceUrl).executeTakeFirst()
  if (known) return known.service_id
  const older = await services
    .select('service_id')
    .where('skeleton', '=', skeleton)
    .orderBy('created_at')
    .orderBy('service_id')
    .executeTakeFirst()
  const made = await transaction
    .insertInto('app.catalog_services')
    .values({
      service_id: serviceId,
      service_url: serviceUrl,
      skeleton,
      looks_like: older?.service_id ?? null,
    })
    .onConflict((conflict) => conflict.column('service_id').doNothing())
    .returning('service_id')
    .executeTakeFirst()
  return made?.service_id ?? null
}

async function removeUnlisted(
  transaction: Transaction<AppSchema>,
  sourceId: string,
  listed: readonly string[],
): Promise<number> {
  const { numDeletedRows } = await transaction
    .deleteFrom('app.catalog_entries')
    .where('source_id', '=', sourceId)
    .where(sql<boolean>`external_id <> ALL (${[...listed]}::text[])`)
    .executeTakeFirst()
  return Number(numDeletedRows)
}

/**
 * After any change: the oldest entry of each service is shown, and the words are those of what is
 * shown.
 */
async function settle(transaction: Transaction<AppSchema>): Promise<void> {
  await sql`
    UPDATE app.catalog_entries e SET is_shown = NOT is_shown
    WHERE is_shown <> (entry = (SELECT min(o.entry) FROM app.catalog_entries o WHERE o.service_id = e.service_id))
  `.execute(transaction)
  await sql`DELETE FROM app.catalog_terms`.execute(transaction)
  await sql`
    INSERT INTO app.catalog_terms (term, endpoints, grams)
    SELECT word, ndoc, ARRAY(SELECT substr('  ' || word || ' ', n, 3) FROM generate_series(1, length(word) + 1) n)
    FROM ts_stat('SELECT p.terms FROM app.catalog_endpoints p JOIN app.catalog_entries USING (entry) WHERE is_shown')
    UNION ALL SELECT ${SERVICES_TERM}, count(*), '{}' FROM app.catalog_entries WHERE is_shown
    UNION ALL SELECT ${ENDPOINTS_TERM}, count(*), '{}'
    FROM app.catalog_endpoints p JOIN app.catalog_entries USING (entry) WHERE is_shown
  `.execute(transaction)
  await settleHealth(transaction)
}
