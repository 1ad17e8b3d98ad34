/**
 * The JSON Schema of a stranger, made harmless where it enters: references inside it are written
 * out, references elsewhere, slow patterns and everything that asserts nothing about an input's
 * form are left out. What is left out is not checked; nothing is refused for it.
 */
import { isRecord } from '#primitives.ts'

/** Schemas in a schema, references written out; more is no description of a call. */
const SCHEMAS_MAX = 2_000
const DEPTH_MAX = 24
const PATTERN_CHARACTERS_MAX = 200

type Json = Readonly<Record<string, unknown>>

/**
 * Keywords whose value is data. `uniqueItems` compares all with all; `format` means something else
 * to everybody.
 */
const plainKeywords = new Set([
  ...['type', 'enum', 'const', 'required', 'title', 'description', 'default', 'examples'],
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
  ...['minLength', 'maxLength', 'minItems', 'maxItems', 'minProperties', 'maxProperties'],
])
const schemaKeywords = new Set(['items', 'additionalProperties', 'not', 'contains', 'propertyNames'])
const listKeywords = new Set(['anyOf', 'oneOf', 'allOf', 'prefixItems'])

/** Null where the schema says nothing that can be checked. */
export function boundSchema(schema: unknown): Json | null {
  if (!isRecord(schema)) return null
  const budget = { left: SCHEMAS_MAX }
  const bounded = bound(schema, { root: schema, budget, depth: 0 })
  return budget.left < 0 || bounded === true || bounded === false ? null : bounded
}

interface Bounding {
  readonly root: Json
  readonly budget: { left: number }
  readonly depth: number
}

function bound(schema: unknown, within: Bounding): Json | boolean {
  within.budget.left -= 1
  if (typeof schema === 'boolean') return schema
  if (!isRecord(schema) || within.budget.left < 0 || within.depth > DEPTH_MAX) return true
  const below = { ...within, depth: within.depth + 1 }
  const reference = schema['$ref']
  if (typeof reference === 'string') {
    const target = resolveLocal(within.root, reference)
    return target === undefined ? true : bound(target, below)
  }
  const kept: Record<string, unknown> = {}
  for (const [keyword, value] of Object.entries(schema)) {
    const read = keywordOf(keyword, value, below)
    if (read !== undefined) kept[keyword] = read
  }
  return kept
}

/** Undefined for a keyword that is left out. */
function keywordOf(keyword: string, value: unknown, below: Bounding): unknown {
  if (plainKeywords.has(keyword)) return isPlain(keyword, value) ? value : undefined
  if (schemaKeywords.has(keyword)) return bound(value, below)
  if (listKeywords.has(keyword) && Array.isArray(value)) return value.map((each) => bound(each, below))
  if (keyword === 'properties' && isRecord(value))
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, bound(each, below)]))
  if (keyword === 'pattern') return typeof value === 'string' && isFastPattern(value) ? value : undefined
  // OpenAPI 3.0: such a value may be null whatever its type.
  return undefined
}

/** A keyword of the wrong kind would make the checker throw. */
function isPlain(keyword: string, value: unknown): boolean {
  if (keyword === 'required') return Array.isArray(value) && value.every((name) => typeof name === 'string')
  if (keyword === 'enum' || keyword === 'examples') return Array.isArray(value)
  if (keyword === 'type') return [value].flat().every((type) => typeof type === 'string' && types.has(type))
  if (/^(min|max|exclusive|multiple)/.test(keyword))
    return typeof value === 'number' && Number.isFinite(value) && (keyword !== 'multipleOf' || value > 0)
  return true
}

const types = new Set(['array', 'boolean', 'integer', 'null', 'number', 'object', 'string'])

function resolveLocal(root: Json, reference: string): unknown {
  if (reference === '#') return root
  if (!reference.startsWith('#/')) return undefined
  let found: unknown = root
  for (const segment of reference.slice(2).split('/')) {
    const name = segment.replaceAll('~1', '/').replaceAll('~0', '~')
    if (!isRecord(found) || !Object.hasOwn(found, name)) return undefined
    found = found[name]
  }
  return found
}

/**
 * Patterns whose time grows no faster than the text: no groups, nothing to look back at, at most
 * one open repeat.
 */
function isFastPattern(pattern: string): boolean {
  if (pattern.length > PATTERN_CHARACTERS_MAX) return false
  const withoutClasses = pattern
    .replaceAll(/\\[dDwWsStnr./\\^$*+?()[\]{}|-]/g, 'x')
    .replaceAll(/\[[^\]]*\]/g, 'x')
  if (/[()\\|[\]]/.test(withoutClasses)) return false
  const open = withoutClasses.match(/[*+]|\{\d*,\}/g)?.length ?? 0
  const repeats = [...withoutClasses.matchAll(/\{(\d+)(?:,(\d+))?\}/g)].map(([, low, high]) =>
    Number(high ?? low),
  )
  if (open > 1 || (open === 1 && !pattern.startsWith('^')) || repeats.some((count) => count > 1_000))
    return false
  try {
    new RegExp(pattern, 'u')
    return true
  } catch {
    return false
  }
}
