/** Plans that call a suspended endpoint are neither quoted nor sold. */
import type { RequestProblem } from '#http/errors.ts'
import { isoSeconds } from '#http/schema.ts'
import { readSuspended, type SuspendedEndpoint } from '#rows/catalog/suspensions.ts'
import type { AppDatabase } from '#rows/database.ts'
import { EndpointFinder } from '../plan/EndpointFinder.ts'
import type { Plan, PlanNode } from '../plan/plan.ts'
import { readServices } from '../plan/readServices.ts'
import { sentenceOf, unavailable } from './unavailable.ts'

/** Suspended endpoints that a plan is compared with; its hundred services rarely have one. */
const SUSPENDED_MAX = 1_000

/**
 * @param carried nodes that have their outputs, and call nobody
 * @throws ApiError quote_unavailable naming each node that calls a suspended endpoint
 */
export async function assertSold(
  app: AppDatabase,
  { nodes }: Plan,
  carried: readonly string[] = [],
): Promise<void> {
  const serviceIds = [...new Set(nodes.map(({ serviceId }) => serviceId))]
  const suspended = await readSuspended(app, { serviceIds, limit: SUSPENDED_MAX })
  if (suspended.length === 0) return
  const named = new Set(suspended.map(({ serviceId }) => serviceId))
  const called = nodes.filter(({ id, serviceId }) => named.has(serviceId) && !carried.includes(id))
  const finder = new EndpointFinder(await readServices(app, { nodes: called }))
  const problems = called.flatMap((node): RequestProblem[] => {
    const its = suspensionOf(node, finder, suspended)
    if (!its) return []
    const message = `is suspended until ${isoSeconds(its.until.getTime() / 1_000)}: ${its.reason}`
    return [{ path: ['body', 'nodes', nodes.indexOf(node)], message: sentenceOf(node, message) }]
  })
  if (problems.length > 0) throw unavailable(problems)
}

function suspensionOf(
  node: PlanNode,
  finder: EndpointFinder,
  suspended: readonly SuspendedEndpoint[],
): SuspendedEndpoint | undefined {
  const found = finder.find(node, [])
  if ('message' in found) return undefined
  const { method, path } = found.endpoint
  return suspended.find(
    (each) => each.serviceId === node.serviceId && each.method === method && each.path === path,
  )
}
