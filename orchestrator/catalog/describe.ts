/** A service, or one of its endpoints, as it is described. */
import { ApiError } from '#api/http/errors.ts'
import * as s from '#api/http/schema.ts'
import { findServices, type StoredService } from '#store/app/catalogReads.ts'
import type { AppDatabase } from '#store/app/database.ts'
import type { CatalogService, ServiceEndpoint } from './service.ts'

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
}

/** @throws ApiError service_not_found, also for an endpoint that the service does not have */
export async function describeService(
  app: AppDatabase,
  { serviceId, method, path }: DescribeRequest,
): Promise<Description> {
  const [stored] = await findServices(app, [serviceId])
  if (!stored) throw new ApiError('service_not_found')
  const service = serviceOf(stored)
  if (method === undefined || path === undefined)
    return { scope: 'service', service, looksLike: stored.looksLike }
  const endpoints = service.endpoints.filter(
    (endpoint) => endpoint.method === method && endpoint.path === path,
  )
  if (endpoints.length === 0)
    throw new ApiError('service_not_found', `The service ${serviceId} has no endpoint ${method} ${path}.`)
  return { scope: 'endpoint', service: { ...service, endpoints }, looksLike: stored.looksLike }
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
