/**
 * A plan as somebody writes it: what can be drawn of it before, and whether or not, the program
 * takes it.
 */
import { type FailureDetail, isObject } from './queryAnswer.ts'

export interface DraftNode {
  /** Its place among the nodes of the text. */
  readonly index: number
  readonly id: string
  readonly serviceId: string
  readonly method: string
  readonly path: string
  readonly dependsOn: readonly string[]
}

export interface PlanDraft {
  /** Stage after stage; a node runs when all those that it names have. */
  readonly stages: readonly (readonly DraftNode[])[]
  /** They wait for each other. */
  readonly stuck: readonly DraftNode[]
  /** Why nothing can be drawn; null where something is. */
  readonly problem: string | null
}

/** More nodes are refused by the program, and not drawn. */
const NODES_MAX = 100

export function readDraft(text: string): PlanDraft {
  const nothing = { stages: [], stuck: [] }
  if (text.trim() === '') return { ...nothing, problem: null }
  try {
    const nodes = nodesIn(JSON.parse(text))
    if (nodes.length === 0) return { ...nothing, problem: 'A plan is an object with a list of nodes.' }
    return { ...staged(nodes.slice(0, NODES_MAX).map(draftNode)), problem: null }
  } catch (error) {
    return { ...nothing, problem: error instanceof Error ? error.message : 'This is no JSON.' }
  }
}

function nodesIn(plan: unknown): readonly unknown[] {
  const nodes = isObject(plan) ? plan['nodes'] : null
  return Array.isArray(nodes) ? nodes : []
}

/** Draws a node whatever is given: its errors are told at it. */
function draftNode(given: unknown, index: number): DraftNode {
  const fields = isObject(given) ? given : {}
  const text = (name: string) => (typeof fields[name] === 'string' ? fields[name] : '')
  const named = Array.isArray(fields['dependsOn']) ? fields['dependsOn'] : []
  return {
    index,
    id: text('id') || `nodes.${index}`,
    serviceId: text('serviceId'),
    method: text('method'),
    path: text('path'),
    dependsOn: named.filter((id) => typeof id === 'string'),
  }
}

/** Nodes by stage; `stuck` are those that wait for each other. */
export function staged<Node extends Pick<DraftNode, 'id' | 'dependsOn'>>(
  nodes: readonly Node[],
): { readonly stages: readonly (readonly Node[])[]; readonly stuck: readonly Node[] } {
  const known = new Set(nodes.map(({ id }) => id))
  const stageOf = new Map<string, number>()
  const stages: Node[][] = []
  let stuck = [...nodes]
  for (let stage = 0; stuck.length > 0; stage += 1) {
    const isReady = ({ dependsOn }: Node) => dependsOn.every((id) => stageOf.has(id) || !known.has(id))
    const ready = stuck.filter(isReady)
    if (ready.length === 0) break
    for (const { id } of ready) stageOf.set(id, stage)
    stages.push(ready)
    stuck = stuck.filter((node) => !ready.includes(node))
  }
  return { stages, stuck }
}

export interface PlanProblems {
  /** By the node's place in the text. */
  readonly ofNodes: ReadonlyMap<number, readonly string[]>
  readonly ofPlan: readonly string[]
}

/** The problems in a refusal, by the node that they are about. */
export function problemsOf(details: readonly FailureDetail[]): PlanProblems {
  const ofNodes = new Map<number, string[]>()
  const ofPlan: string[] = []
  for (const { path, message } of details) {
    const [, , index, ...place] = path
    const text = place.length === 0 ? message : `${place.join('.')}: ${message}`
    if (typeof index === 'number') ofNodes.set(index, [...(ofNodes.get(index) ?? []), text])
    else ofPlan.push([path.slice(1).join('.'), message].filter(Boolean).join(': '))
  }
  return { ofNodes, ofPlan }
}

/**
 * The text with one more node, under an id that is free; the rest stays as it was written. Null
 * where the text is no plan.
 */
export function withNode(text: string, node: Readonly<Record<string, unknown>>): string | null {
  const whole = text.trim() === '' ? '{"nodes": []}' : text
  const count = nodesOfText(whole)
  const end = whole.lastIndexOf(']')
  if (count === -1 || end === -1) return null
  const { stages, stuck } = readDraft(whole)
  const taken = new Set([...stages.flat(), ...stuck].map(({ id }) => id))
  const added = JSON.stringify({ ...node, id: freeId(node['id'], taken) })
  const written = `${whole.slice(0, end).trimEnd()}${count === 0 ? '' : ','}\n  ${added}\n${whole.slice(end)}`
  return nodesOfText(written) === count + 1 ? written : null
}

/** -1 where the text is no JSON. */
const nodesOfText = (text: string): number => {
  try {
    return nodesIn(JSON.parse(text)).length
  } catch {
    return -1
  }
}

function freeId(wanted: unknown, taken: ReadonlySet<string>): string {
  const base = typeof wanted === 'string' && wanted !== '' ? wanted : 'node'
  for (let count = 1; ; count += 1) {
    const id = count === 1 ? base : `${base}-${count}`
    if (!taken.has(id)) return id
  }
}
