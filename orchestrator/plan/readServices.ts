/** The catalog's services that a plan names, each with the endpoints that its nodes may mean. */
import { findServices } from '#rows/catalog/catalogReads.ts'
import type { AppDatabase } from '#rows/database.ts'
import { serviceOf } from '../catalog/description/describe.ts'
import { matchPath, PathError, parsePath, parseTemplate } from '../catalog/pathTemplate.ts'
import type { CatalogService, ServiceEndpoint } from '../catalog/service.ts'
import type { Services } from './EndpointFinder.ts'
import type { Plan, PlanNode } from './plan.ts'

/**
 * One service at a time: each may have 1 MiB, a plan may name a hundred, and what stands between
 * two of them is not held up.
 */
export async function readServices(app: AppDatabase, { nodes }: Plan): Promise<Services> {
  const services = new Map<string, CatalogService>()
  for (const [id, naming] of Map.groupBy(nodes, ({ serviceId }) => serviceId)) {
    const [stored] = await findServices(app, [id])
    if (stored) services.set(id, withNamed(serviceOf(stored), naming))
  }
  return services
}

function withNamed(service: CatalogService, nodes: readonly PlanNode[]): CatalogService {
  const templates = service.endpoints.map((endpoint) => ({
    endpoint,
    template: parseTemplate(endpoint.path),
  }))
  const named = new Set(nodes.flatMap((node) => endpointOf(node, templates) ?? []))
  return { ...service, endpoints: service.endpoints.filter((endpoint) => named.has(endpoint)) }
}

function endpointOf(
  { method, path }: PlanNode,
  templates: readonly {
    readonly endpoint: ServiceEndpoint
    readonly template: ReturnType<typeof parseTemplate>
  }[],
): ServiceEndpoint | undefined {
  try {
    const ofMethod = templates.filter(({ endpoint }) => endpoint.method === method)
    return matchPath(parsePath(path), ofMethod)?.endpoint
  } catch (error) {
    // The check of the plan tells it.
    if (error instanceof PathError) return undefined
    throw error
  }
}
