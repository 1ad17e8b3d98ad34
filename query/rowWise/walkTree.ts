import { isRecord } from '#primitives.ts'

export type Node = Readonly<Record<string, unknown>>

export const isNode = (value: unknown): value is Node => isRecord(value)
export const nodesOf = (value: unknown): readonly Node[] =>
  Array.isArray(value) ? value.filter(isNode) : isNode(value) ? [value] : []

/**
 * Every object of a tree, outer ones first, but none below one that `ends`. With a list of its own: a
 * tree as deep as the grammar takes would overflow the stack.
 */
export function* nodesIn(tree: unknown, ends: (node: Node) => boolean = () => false): Generator<Node> {
  const waiting: unknown[] = [tree]
  while (waiting.length > 0) {
    const value = waiting.pop()
    if (typeof value !== 'object' || value === null) continue
    if (Array.isArray(value)) {
      waiting.push(...value.toReversed())
      continue
    }
    if (!isNode(value) || ends(value)) continue
    yield value
    waiting.push(...Object.values(value).toReversed())
  }
}

/** The parts of a condition that all have to hold. */
export function partsOf(condition: unknown, operandsOf: (node: Node) => unknown): readonly Node[] {
  const parts: Node[] = []
  const waiting: unknown[] = [condition]
  for (let value = waiting.pop(); value !== undefined; value = waiting.pop()) {
    if (!isNode(value)) continue
    const operands = operandsOf(value)
    if (Array.isArray(operands)) waiting.push(...operands)
    else parts.push(value)
  }
  return parts
}
