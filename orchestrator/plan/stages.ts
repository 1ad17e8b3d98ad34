/**
 * The order of a plan's nodes: stages that may run together, and what is wrong with its
 * dependencies.
 */
import type { RequestProblem } from '#http/errors.ts'
import type { PlanNode } from './plan.ts'

/** Node ids by stage: each stage needs those before it. Nodes of cycles are in none. */
export function stagesOf(nodes: readonly PlanNode[]): string[][] {
  const done = new Set<string>()
  const stages: string[][] = []
  let waiting = [...nodes]
  while (waiting.length > 0) {
    const ready = waiting.filter(({ dependsOn }) => dependsOn.every((id) => done.has(id)))
    if (ready.length === 0) break
    stages.push(ready.map(({ id }) => id))
    for (const { id } of ready) done.add(id)
    waiting = waiting.filter((node) => !ready.includes(node))
  }
  return stages
}

/** A problem for each bad dependency: doubled ids, unknown and own ones, cycles with their ids. */
export function dependencyProblems(nodes: readonly PlanNode[]): RequestProblem[] {
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const problems: RequestProblem[] = []
  const seen = new Set<string>()
  for (const [index, { id, dependsOn }] of nodes.entries()) {
    const at = ['body', 'nodes', index] as const
    if (seen.has(id)) problems.push({ path: [...at, 'id'], message: `another node has the id ${id}` })
    seen.add(id)
    const named = new Set<string>()
    for (const [place, other] of dependsOn.entries()) {
      const message = named.has(other)
        ? `names ${other} twice`
        : other === id
          ? 'is the node itself'
          : byId.has(other)
            ? null
            : `no node has the id ${other}`
      named.add(other)
      if (message !== null) problems.push({ path: [...at, 'dependsOn', place], message })
    }
  }
  for (const cycle of cyclesOf(nodes, byId)) {
    const message = `these nodes wait for each other: ${cycle.join(', ')}`
    const index = nodes.findIndex(({ id }) => id === cycle[0])
    problems.push({ path: ['body', 'nodes', index, 'dependsOn'], message })
  }
  return problems
}

/**
 * Groups of nodes that reach each other, in the plan's order (Tarjan); at most 100 nodes, so it may
 * recurse.
 */
function cyclesOf(nodes: readonly PlanNode[], byId: ReadonlyMap<string, PlanNode>): string[][] {
  const order = new Map<string, number>()
  const low = new Map<string, number>()
  const stack: string[] = []
  const cycles: string[][] = []
  const visit = (node: PlanNode) => {
    const own = order.size
    order.set(node.id, own)
    let lowest = own
    stack.push(node.id)
    for (const id of node.dependsOn) {
      const next = byId.get(id)
      if (!next) continue
      if (!order.has(id)) visit(next)
      if (stack.includes(id)) lowest = Math.min(lowest, low.get(id) ?? order.get(id) ?? lowest)
    }
    low.set(node.id, lowest)
    if (lowest !== own) return
    const group = stack.splice(stack.indexOf(node.id))
    if (group.length > 1) cycles.push(group)
  }
  for (const node of nodes) if (!order.has(node.id)) visit(node)
  const place = new Map(nodes.map(({ id }, index) => [id, index]))
  const byPlace = (a: string, b: string) => (place.get(a) ?? 0) - (place.get(b) ?? 0)
  return cycles.map((cycle) => cycle.sort(byPlace))
}
