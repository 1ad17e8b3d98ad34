/** A plan against the catalog: everything that is wrong with it, told at once. */
import { ApiError, type Problem } from '#http/errors.ts'
import {
  matchPath,
  PathError,
  type PathTemplate,
  parsePath,
  parseTemplate,
  urlOf,
} from '../catalog/pathTemplate.ts'
import type { CatalogService, ServiceEndpoint } from '../catalog/service.ts'
import { CheckBudget } from './checkSteps.ts'
import { inputProblems } from './inputProblems.ts'
import type { Plan, PlanNode } from './plan.ts'
import { referencesOf } from './reference.ts'
import { dependencyProblems, stagesOf } from './stages.ts'

/** A node with what it calls. */
export interface PlannedNode {
  readonly node: PlanNode
  readonly service: CatalogService
  readonly endpoint: ServiceEndpoint
  /** Without the input; of the service's own origin and prefix. */
  readonly url: URL
  /** Its input holds values of other nodes. */
  readonly takesOutputs: boolean
}

export interface CheckedPlan {
  readonly nodes: readonly PlannedNode[]
  readonly stages: readonly (readonly string[])[]
}

/** The catalog's services by id. */
export type Services = ReadonlyMap<string, CatalogService>

/** @throws ApiError plan_invalid with a detail for each problem */
export function checkPlan({ nodes }: Plan, services: Services): CheckedPlan {
  const problems = dependencyProblems(nodes)
  const finder = new EndpointFinder(services)
  const planned: PlannedNode[] = []
  const budget = new CheckBudget()
  for (const [index, node] of nodes.entries()) {
    const at = ['body', 'nodes', index] as const
    const found = finder.find(node, at)
    const { references, places, problems: malformed } = referencesOf(node.input, [...at, 'input'])
    problems.push(...malformed)
    const named = new Set(node.dependsOn)
    for (const nodeId of new Set(references.map((reference) => reference.nodeId)))
      if (!named.has(nodeId))
        problems.push({
          path: [...at, 'dependsOn'],
          message: `the input takes from ${nodeId}, which is not named`,
        })
    if ('message' in found) {
      problems.push(found)
      continue
    }
    const { inputSchema } = found.endpoint
    if (inputSchema)
      problems.push(
        ...inputProblems({
          ...{ schema: inputSchema, input: node.input, places, budget },
          path: [...at, 'input'],
        }),
      )
    planned.push({ node, ...found, takesOutputs: references.length > 0 })
  }
  if (problems.length > 0) throw planInvalid(problems)
  return { nodes: planned, stages: stagesOf(nodes) }
}

/** Finds endpoints by concrete paths; reads a service's templates once. */
class EndpointFinder {
  readonly #services: Services
  readonly #templates = new Map<string, readonly { template: PathTemplate; endpoint: ServiceEndpoint }[]>()

  constructor(services: Services) {
    this.#services = services
  }

  find(
    { serviceId, method, path }: PlanNode,
    at: Problem['path'],
  ): Pick<PlannedNode, 'service' | 'endpoint' | 'url'> | Problem {
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

export function planInvalid(problems: readonly Problem[]): ApiError {
  const [first] = problems
  const where = first ? ` ${first.path.slice(1).join('.')}: ${first.message}` : ''
  const more = problems.length > 1 ? ` (and ${problems.length - 1} more, see details)` : ''
  return new ApiError('plan_invalid', `The plan cannot run:${where}${more}.`, { details: problems })
}
