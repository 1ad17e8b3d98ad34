/**
 * The response schema as fast-json-stringify reads it best; the schema itself stays as it is for
 * OpenAPI.
 */
import type { TSchema } from 'typebox'
import { isRecord } from '#primitives.ts'
import * as s from '../schema.ts'

/**
 * `X or null` becomes a nullable X, which is serialized directly instead of by trying one schema
 * after the other, and objects whose properties we do not choose are left to JSON.stringify.
 */
export function serializerSchema(schema: TSchema): object {
  const plain: unknown = simplify(JSON.parse(JSON.stringify(schema)))
  if (!isRecord(plain)) throw new TypeError('a response schema is an object')
  return plain
}

/**
 * The serializer finds a union's branch by validating against one after the other, with validators
 * it makes at the first answer: 63 kinds of activity held the event loop for 3.5 s then. Wider
 * unions are left to JSON.stringify.
 */
const BRANCHES_MAX = 8

const plainTexts: readonly object[] = [s.address, s.hash, s.hex, s.quantity, s.amount, s.signedAmount]
const plainPatterns = new Set(plainTexts.flatMap((schema) => ('pattern' in schema ? [schema.pattern] : [])))

function simplify(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(simplify)
  if (!isRecord(node)) return node
  if (node['type'] === 'object' && node['additionalProperties'] === true && !node['properties']) return {}
  if (Array.isArray(node['anyOf']) && node['anyOf'].length > BRANCHES_MAX) return {}
  // Such texts are written from bytes and integers, and have nothing to escape: a third of a list's
  // serialization was that.
  if (plainPatterns.has(node['pattern'])) return { ...node, format: 'unsafe' }
  const members = Object.fromEntries(Object.entries(node).map(([key, value]) => [key, simplify(value)]))
  return nullableOf(members) ?? members
}

function nullableOf(node: Readonly<Record<string, unknown>>): object | undefined {
  const { anyOf, ...rest } = node
  if (!Array.isArray(anyOf) || anyOf.length !== 2) return undefined
  const other = anyOf.find((branch) => isRecord(branch) && branch['type'] !== 'null')
  const hasNull = anyOf.some((branch) => isRecord(branch) && branch['type'] === 'null')
  if (!hasNull || !isRecord(other) || typeof other['type'] !== 'string') return undefined
  return { ...rest, ...other, nullable: true }
}
