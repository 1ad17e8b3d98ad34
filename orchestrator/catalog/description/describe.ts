/** A service, or one of its endpoints, as it is described. */
import { ApiError } from '#http/errors.ts'
import * as s from '#http/schema.ts'
import { readHealth, readProbes } from '#rows/catalog/catalogHealth.ts'
import { findServices, type StoredService } from '#rows/catalog/catalogReads.ts'
import type { AppDatabase } from '#rows/database.ts'
import type { CatalogService, ServiceEndpoint } from '../service.ts'
import { type EndpointHealth, presentHealth } from './health.ts'
import { type EndpointQuality, qualityOf } from './quality.ts'

export interface DescribeRequest {
  readonly serviceId: string
  /** Both, for one endpoint, or neither. */
  readonly method: string | undefined
  readonly path: string | undefined
}

export interface Description {
  readonly scope: 'endpoint' | 'service'
  readonly service: CatalogService
  /** An older service whose name looks the same. */
  readonly looksLike: string | null
  /** Health of the endpoints described; a single endpoint has what its last probes found. */
  readonly health: readonly EndpointHealth[]
  /** Outcomes of jobs' calls; endpoints without any are left out. */
  readonly quality: readonly EndpointQuality[]
}

/** @throws ApiError service_not_found, also for an endpoint that the service does not have */
export async function describeService(
  app: AppDatabase,
  { serviceId, method, path }: DescribeRequest,
): Promise<Description> {
  const [stored] = await findServices(app, [serviceId])
  if (!stored) throw new ApiError('service_not_found')
  const held = await readHealth(app, [serviceId])
  const service = verified(serviceOf(stored), held)
  const { looksLike } = stored
  const measured = (endpoints: readonly ServiceEndpoint[]) => qualityOf(app, serviceId, endpoints)
  if (method === undefined || path === undefined) {
    const health = held.map((each) => presentHealth(each))
    return { scope: 'service', service, looksLike, health, quality: await measured(service.endpoints) }
  }
  const isAsked = (each: { readonly method: string; readonly path: string }) =>
    each.method === method && each.path === path
  const endpoints = service.endpoints.filter(isAsked)
  if (endpoints.length === 0)
    throw new ApiError('service_not_found', `The service ${serviceId} has no endpoint ${method} ${path}.`)
  const probes = await readProbes(app, { serviceId, method, path })
  const health = held.filter(isAsked).map((each) => presentHealth(each, probes))
  const quality = (await measured(service.endpoints)).filter(isAsked)
  return { scope: 'endpoint', service: { ...service, endpoints }, looksLike, health, quality }
}

function verified(service: CatalogService, held: Awaited<ReturnType<typeof readHealth>>): CatalogService {
  const dates = new Map(held.map(({ method, path, verifiedAt }) => [`${method} ${path}`, verifiedAt]))
  const endpoints = service.endpoints.map((endpoint): ServiceEndpoint => {
    const date = dates.get(`${endpoint.method} ${endpoint.path}`)
    return date ? { ...endpoint, lastVerifiedAt: s.isoSeconds(date.getTime() / 1_000) } : endpoint
  })
  return { ...service, endpoints }
}

/** The document as this program's import wrote it, with what the store knows beside it. */
export function serviceOf({ serviceId, document, sources, catalogedAt }: StoredService): CatalogService {
  const service = document as CatalogService
  const lastCatalogedAt = s.isoSeconds(catalogedAt.getTime() / 1_000)
  const dated = (endpoint: ServiceEndpoint) => ({ ...endpoint, lastCatalogedAt })
  return {
    ...service,
    id: serviceId,
    sourceRefs: sources.map(({ sourceId, externalId }) => ({ sourceId, externalId })),
    endpoints: service.endpoints.map(dated),
  }
}
