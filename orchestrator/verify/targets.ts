import type { EndpointName } from '#rows/catalog/catalogHealth.ts'
import { findServices } from '#rows/catalog/catalogReads.ts'
import type { AppDatabase } from '#rows/database.ts'
import { serviceOf } from '../catalog/description/describe.ts'
import type { LookTarget } from './drift.ts'

/** The endpoints that the names stand for, in their order; null for those that the catalog has not. */
export async function readTargets(
  app: AppDatabase,
  names: readonly EndpointName[],
): Promise<readonly (LookTarget | null)[]> {
  const ids = [...new Set(names.map(({ serviceId }) => serviceId))]
  if (ids.length === 0) return []
  const services = new Map((await findServices(app, ids)).map(serviceOf).map((each) => [each.id, each]))
  return names.map(({ serviceId, method, path }) => {
    const service = services.get(serviceId)
    const endpoint = service?.endpoints.find((each) => each.method === method && each.path === path)
    return service && endpoint ? { service, endpoint } : null
  })
}
