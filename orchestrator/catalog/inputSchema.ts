/**
 * The JSON Schema of a stranger, made harmless where it enters: references inside it are written
 * out; references elsewhere, patterns that no linear engine reads and everything that asserts
 * nothing about an input's form are left out. What is left out is not checked; nothing is refused
 * for it.
 */
import type { RequestProblem } from '#http/errors.ts'
import { isRecord, shorten } from '#primitives.ts'
import { jsonBytes } from './jsonBytes.ts'
import { linearPattern } from './linearPattern.ts'
import { PARAGRAPH_CHARACTERS_MAX } from './service.ts'

/** Schemas in a schema, references written out; more is no description of a call. */
const SCHEMAS_MAX = 2_000
const DEPTH_MAX = 24
/** A schema with its references written out: far above what a caller fills in by hand. */
const BYTES_MAX = 64 * 1_024
/** Bytes around a member in JSON: quotes, colon, comma. */
const BYTES_AROUND = 4
/** Problems told of one schema; a list of hundreds says no more. */
const PROBLEMS_MAX = 5

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

export interface BoundSchema {
  /** Null where the schema says nothing that can be checked. */
  readonly schema: Json | null
  /** Checkable parts of a form that are left out, by their places in the schema. */
  readonly problems: readonly RequestProblem[]
}

export function boundSchema(schema: unknown): BoundSchema {
  if (!isRecord(schema)) return { schema: null, problems: [] }
  const budget = { left: SCHEMAS_MAX, bytesLeft: BYTES_MAX }
  const problems: RequestProblem[] = []
  const bounded = bound(schema, { root: schema, budget, problems, path: [], depth: 0 })
  if (budget.left < 0) return tooLarge(`${SCHEMAS_MAX} schemas`)
  if (budget.bytesLeft < 0) return tooLarge(`${BYTES_MAX} bytes`)
  return { schema: typeof bounded === 'boolean' ? null : bounded, problems }
}

const tooLarge = (bound: string): BoundSchema => ({
  schema: null,
  problems: [{ path: [], message: `is left out: it has more than ${bound}, references written out` }],
})

interface Bounding {
  readonly root: Json
  readonly budget: { left: number; bytesLeft: number }
  readonly problems: RequestProblem[]
  readonly path: readonly (string | number)[]
  readonly depth: number
}

function bound(schema: unknown, above: Bounding): Json | boolean {
  const within = { ...above, depth: above.depth + 1 }
  within.budget.left -= 1
  within.budget.bytesLeft -= BYTES_AROUND
  if (typeof schema === 'boolean') return schema
  const { budget, depth } = within
  if (!isRecord(schema) || budget.left < 0 || budget.bytesLeft < 0 || depth > DEPTH_MAX) return true
  const reference = schema['$ref']
  if (typeof reference === 'string') {
    const target = resolveLocal(within.root, reference)
    return target === undefined ? true : bound(target, below(within, '$ref'))
  }
  const kept: Record<string, unknown> = {}
  for (const [keyword, value] of Object.entries(schema)) {
    const read = keywordOf(keyword, value, below(within, keyword))
    if (read !== undefined) kept[keyword] = read
  }
  return kept
}

const below = (within: Bounding, step: string | number): Bounding => ({
  ...within,
  path: [...within.path, step],
})

/** Undefined for a keyword that is left out. */
function keywordOf(keyword: string, value: unknown, within: Bounding): unknown {
  if (plainKeywords.has(keyword)) return isPlain(keyword, value) ? plain(keyword, value, within) : undefined
  if (schemaKeywords.has(keyword)) return bound(value, within)
  if (listKeywords.has(keyword) && Array.isArray(value))
    return value.map((each, index) => bound(each, below(within, index)))
  if (keyword === 'properties' && isRecord(value))
    return Object.fromEntries(
      Object.entries(value).map(([name, each]) => {
        within.budget.bytesLeft -= name.length
        return [name, bound(each, below(within, name))]
      }),
    )
  if (keyword === 'pattern' && typeof value === 'string') return patternOf(value, within)
  // OpenAPI 3.0: such a value may be null whatever its type.
  return undefined
}

/** A text is cut later, where it is cleaned: here only so far that it counts for what it may be. */
function plain(keyword: string, value: unknown, { budget }: Bounding): unknown {
  const isText = (keyword === 'title' || keyword === 'description') && typeof value === 'string'
  const kept = isText ? value.slice(0, 2 * PARAGRAPH_CHARACTERS_MAX) : value
  budget.bytesLeft -= keyword.length + BYTES_AROUND + jsonBytes(kept, Math.max(budget.bytesLeft, 0))
  return kept
}

function patternOf(pattern: string, { problems, path }: Bounding): string | undefined {
  if (linearPattern(pattern)) return pattern
  const message = `is left out: no linear engine reads ${shorten(pattern)}`
  if (problems.length < PROBLEMS_MAX) problems.push({ path: path.map(shortStep), message })
  return undefined
}

const shortStep = (step: string | number): string | number =>
  typeof step === 'string' ? shorten(step) : step

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
