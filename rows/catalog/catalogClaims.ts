/**
 * A service id belongs for good to the first URL that had it, so that no listing takes over the
 * name in somebody's plan.
 */
import { sql, type Transaction } from 'kysely'
import type { AppSchema } from '../tables.ts'
import type { CatalogEntry } from './catalogEntries.ts'

type Claim = Pick<CatalogEntry, 'serviceId' | 'serviceUrl' | 'skeleton'>

interface KnownService extends Claim {
  readonly looksLike: string | null
}

/**
 * The ids of the services at these URLs, in their order, made where they are new; null where the id
 * is another service's. Of several claims the first counts.
 */
export async function claimServices(
  transaction: Transaction<AppSchema>,
  claims: readonly Claim[],
): Promise<(string | null)[]> {
  const known = await readKnown(transaction, claims)
  const byUrl = new Map(known.map(({ serviceUrl, serviceId }) => [serviceUrl, serviceId]))
  const ids = new Set(known.map(({ serviceId }) => serviceId))
  // The oldest of a look stays; `known` has the oldest first.
  const byLook = new Map(known.toReversed().map(({ skeleton, serviceId }) => [skeleton, serviceId]))
  const made: KnownService[] = []
  const claimed = claims.map(({ serviceId, serviceUrl, skeleton }) => {
    const there = byUrl.get(serviceUrl)
    if (there !== undefined) return there
    if (ids.has(serviceId)) return null
    const looksLike = byLook.get(skeleton) ?? null
    made.push({ serviceId, serviceUrl, skeleton, looksLike })
    ids.add(serviceId)
    byUrl.set(serviceUrl, serviceId)
    if (looksLike === null) byLook.set(skeleton, serviceId)
    return serviceId
  })
  await insertServices(transaction, made)
  return claimed
}

/** Services with one of these URLs, ids or looks, the oldest first. */
async function readKnown(transaction: Transaction<AppSchema>, claims: readonly Claim[]): Promise<Claim[]> {
  const { rows } = await sql<Claim>`
    SELECT service_id AS "serviceId", service_url AS "serviceUrl", skeleton FROM app.catalog_services
    WHERE service_url = ANY (${claims.map(({ serviceUrl }) => serviceUrl)}::text[])
      OR service_id = ANY (${claims.map(({ serviceId }) => serviceId)}::text[])
      OR skeleton = ANY (${claims.map(({ skeleton }) => skeleton)}::text[])
    ORDER BY created_at, service_id`.execute(transaction)
  return rows
}

async function insertServices(
  transaction: Transaction<AppSchema>,
  services: readonly KnownService[],
): Promise<void> {
  if (services.length === 0) return
  await transaction
    .insertInto('app.catalog_services')
    .values(
      services.map(({ serviceId, serviceUrl, skeleton, looksLike }) => ({
        ...{ service_id: serviceId, service_url: serviceUrl, skeleton, looks_like: looksLike },
      })),
    )
    .execute()
}
