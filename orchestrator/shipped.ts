/**
 * Services that ship in the catalog: this program's own chain data, and the demo's sellers while they run.
 * Their addresses differ from start to start; their ids do not.
 */
import { membersOf } from '#primitives.ts'
import { moveServices } from '#rows/catalog/catalogEntries.ts'
import type { AppDatabase } from '#rows/database.ts'
import { type ShippedPlaces, shippedServices } from './catalog/services/index.ts'
import { type CatalogImport, importDocument } from './importCatalog.ts'

/** Name of the source of what ships. */
const SHIPPED_SOURCE = 'millrace'

/** Makes the catalog hold what ships, at the addresses of this start. */
export async function importShipped(app: AppDatabase, at: ShippedPlaces): Promise<CatalogImport> {
  const services = shippedServices(at)
  const places = services.map(membersOf).map(({ id, serviceUrl }) => ({
    serviceId: String(id),
    serviceUrl: String(serviceUrl),
  }))
  await moveServices(app, SHIPPED_SOURCE, places)
  return importDocument(app, { services }, { location: SHIPPED_SOURCE, sourceId: SHIPPED_SOURCE })
}
