/**
 * What ships in the catalog: this program's own chain data, and the demo's sellers while they run.
 * Their addresses differ from start to start; their ids do not.
 */
import { moveServices } from '#store/app/catalogEntries.ts'
import type { AppDatabase } from '#store/app/database.ts'
import { membersOf } from './catalog/members.ts'
import { chainData } from './catalog/services/chainData.ts'
import { demoServices } from './demo/listing.ts'
import { type CatalogImport, importDocument } from './import/importCatalog.ts'

/** Name of the source of what ships. */
const SHIPPED_SOURCE = 'millrace'

export interface ShippedPlaces {
  /** Where this program is reached. */
  readonly api: string
  /** Where the demo's sellers listen; null where they do not run. */
  readonly demo: string | null
}

/** Makes the catalog hold what ships, at the addresses of this start. */
export async function importShipped(app: AppDatabase, { api, demo }: ShippedPlaces): Promise<CatalogImport> {
  const services = [chainData(api), ...(demo === null ? [] : demoServices(demo))]
  const places = services.map(membersOf).map(({ id, serviceUrl }) => ({
    serviceId: String(id),
    serviceUrl: String(serviceUrl),
  }))
  await moveServices(app, SHIPPED_SOURCE, places)
  return importDocument(app, { services }, { location: SHIPPED_SOURCE, sourceId: SHIPPED_SOURCE })
}
