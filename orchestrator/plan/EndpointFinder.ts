/** The endpoints that nodes mean. */
import type { RequestProblem } from '#http/errors.ts'
import {
  matchPath,
  PathError,
  type PathTemplate,
  parsePath,
  parseTemplate,
  urlOf,
} from '../catalog/pathTemplate.ts'
import type { CatalogService, ServiceEndpoint } from '../catalog/service.ts'
import type { PlanNode } from './plan.ts'

/** The catalog's services by id. */
export type Services = ReadonlyMap<string, CatalogService>

export interface ResolvedEndpoint {
  readonly service: CatalogService
  readonly endpoint: ServiceEndpoint
  /** Without the input; of the service's own origin and prefix. */
  readonly url: URL
}

/** Finds endpoints by concrete paths; reads a service's templates once. */
export class EndpointFinder {
  readonly #services: Services
  readonly #templates = new Map<string, readonly { template: PathTemplate; endpoint: ServiceEndpoint }[]>()

  constructor(services: Services) {
    this.#services = services
  }

  find({ serviceId, method, path }: PlanNode, at: RequestProblem['path']): ResolvedEndpoint | RequestProblem {
    const service = this.#services.get(serviceId)
    if (!service) return { path: [...at, 'serviceId'], message: `no service has the id ${serviceId}` }
    try {
      const segments = parsePath(path)
      const fitting = this.#templatesOf(service).filter(({ endpoint }) => endpoint.method === method)
      const found = matchPath(segments, fitting)
      if (!found) return { path: [...at, 'path'], message: `${serviceId} has no endpoint ${method} ${path}` }
      return { service, endpoint: found.endpoint, url: urlOf(service.serviceUrl, segments) }
    } catch (error) {
      if (error instanceof PathError) return { path: [...at, 'path'], message: error.message }
      throw error
    }
  }

  #templatesOf(service: CatalogService) {
    const known = this.#templates.get(service.id)
    if (known) return known
    const templates = service.endpoints.map((endpoint) => ({
      template: parseTemplate(endpoint.path),
      endpoint,
    }))
    this.#templates.set(service.id, templates)
    return templates
  }
}
