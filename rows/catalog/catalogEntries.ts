/**
 * Entries of the catalog as sources list them, and what follows from any change of them. Documents
 * are the orchestrator's; nothing here looks into them.
 */
import { sql, type Transaction } from 'kysely'
import { advisoryLocks } from '#store/locks.ts'
import type { AppDatabase } from '../database.ts'
import type { AppSchema } from '../tables.ts'
import { settleHealth } from './catalogHealth.ts'

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

/** Rows among the words that no word can be: how many services and endpoints there are. */
export const SERVICES_TERM = '#services'
export const ENDPOINTS_TERM = '#endpoints'

/**
 * Removes a service with all its entries, or all entries of a source. Returns how many entries
 * there were.
 */
export async function removeEntries(
  app: AppDatabase,
  of: { readonly serviceId: string } | { readonly sourceId: string },
): Promise<number> {
  return app.transaction().execute(async (transaction) => {
    await lockImports(transaction)
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
 * Gives services that this source alone lists, or nobody any more, the URLs they have now. An id
 * that another source lists too stays where it is.
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
        AND NOT EXISTS (
          SELECT FROM app.catalog_entries e WHERE e.service_id = s.service_id AND e.source_id <> ${sourceId})
        AND NOT EXISTS (SELECT FROM app.catalog_services o WHERE o.service_url = ${serviceUrl})
    `.execute(app)
}

/** One import at a time, until its transaction ends: it counts the words of the whole catalog. */
export const lockImports = (transaction: Transaction<AppSchema>) =>
  sql`SELECT pg_advisory_xact_lock(${advisoryLocks.imports})`.execute(transaction)

/**
 * After any change: the oldest entry of each service is shown, and the words are those of what is
 * shown.
 */
export async function settle(transaction: Transaction<AppSchema>): Promise<void> {
  await sql`
    UPDATE app.catalog_entries e SET is_shown = NOT is_shown
    WHERE is_shown <> (entry = (SELECT min(o.entry) FROM app.catalog_entries o WHERE o.service_id = e.service_id))
  `.execute(transaction)
  await sql`
    UPDATE app.catalog_endpoints p SET is_shown = e.is_shown
    FROM app.catalog_entries e WHERE e.entry = p.entry AND p.is_shown <> e.is_shown
  `.execute(transaction)
  await sql`DELETE FROM app.catalog_terms`.execute(transaction)
  await sql`
    INSERT INTO app.catalog_terms (term, endpoints, grams)
    SELECT word, ndoc, ARRAY(SELECT substr('  ' || word || ' ', n, 3) FROM generate_series(1, length(word) + 1) n)
    FROM ts_stat('SELECT terms FROM app.catalog_endpoints WHERE is_shown')
    UNION ALL SELECT ${SERVICES_TERM}, count(*), '{}' FROM app.catalog_entries WHERE is_shown
    UNION ALL SELECT ${ENDPOINTS_TERM}, count(*), '{}'
    FROM app.catalog_endpoints WHERE is_shown
  `.execute(transaction)
  await settleHealth(transaction)
}
