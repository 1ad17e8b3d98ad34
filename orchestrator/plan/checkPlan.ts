/** A plan against the catalog: everything that is wrong with it, told at once. */
import { ApiError, type RequestProblem } from '#http/errors.ts'
import { CheckBudget } from './checkSteps.ts'
import { EndpointFinder, type ResolvedEndpoint, type Services } from './EndpointFinder.ts'
import { inputProblems } from './inputProblems.ts'
import type { Plan, PlanNode } from './plan.ts'
import { referencesOf } from './reference.ts'
import { dependencyProblems, stagesOf } from './stages.ts'

/** A node with what it calls. */
export interface PlannedNode extends ResolvedEndpoint {
  readonly node: PlanNode
  /** Its input holds values of other nodes. */
  readonly takesOutputs: boolean
}

export interface CheckedPlan {
  readonly nodes: readonly PlannedNode[]
  readonly stages: readonly (readonly string[])[]
}

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

export function planInvalid(problems: readonly RequestProblem[]): ApiError {
  const [first] = problems
  const where = first ? ` ${[first.path.slice(1).join('.'), first.message].filter(Boolean).join(': ')}` : ''
  const more = problems.length > 1 ? ` (and ${problems.length - 1} more, see details)` : ''
  return new ApiError('plan_invalid', `The plan cannot run:${where}${more}.`, { details: problems })
}

/**
 * An error of a plan that is the whole body, as it is told if the plan is the body's member `plan`.
 * Anything else stays as it is.
 */
export function ofMember(thrown: unknown): unknown {
  if (!(thrown instanceof ApiError) || !thrown.details.some(isOfBody)) return thrown
  const { code, message, details, headers, cause } = thrown
  const placed = details.map((problem) =>
    isOfBody(problem) ? { ...problem, path: ['body', 'plan', ...problem.path.slice(1)] } : problem,
  )
  return new ApiError(code, message, { details: placed, headers, cause })
}

const isOfBody = ({ path: [first] }: RequestProblem): boolean => first === 'body'
