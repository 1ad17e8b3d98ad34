/**
 * Operators of one filter field: an exact value, `eq`, `in` and `not`, and for numbers `gt`, `gte`,
 * `lt` and `lte`. What is not understood is refused, and a value that is not there never matches.
 */
import { failure } from '#errors.ts'
import { isRecord } from '#primitives.ts'

/** Texts are lowercase. */
export type Value = string | bigint

/** The place in the filters of an error, and the error. */
export interface FilterProblem {
  readonly path: readonly string[]
  readonly message: string
}

/** Filters are not valid for their event type. */
export class FiltersError extends failure('FiltersError', 'filters_invalid', 'stop') {
  readonly problem: FilterProblem

  constructor(path: readonly string[], message: string) {
    super(`${path.join('.')}: ${message}`)
    this.problem = { path, message }
  }
}

/** A condition on the values of one field. */
export interface Condition {
  /** The values are those of one event; none of them never matches. */
  readonly test: (values: readonly Value[]) => boolean
  /** Values of which one must be there; null where any may be. */
  readonly keys: readonly Value[] | null
}

export interface Kind {
  readonly isNumber: boolean
  /** The value a text or number of a filter means. @throws FiltersError */
  readonly read: (given: unknown, path: readonly string[]) => Value
}

/** How a value looks, for readers of the document. */
export type Text = { readonly pattern: string } | { readonly values: readonly string[] }

/** A kind whose values are texts that can be told. */
export interface TextKind extends Kind {
  readonly text: Text
}

/** Entries of `in`. */
export const ENTRIES_MAX = 64

const textKind = (pattern: RegExp, expected: string): TextKind => ({
  isNumber: false,
  text: { pattern: pattern.source.replaceAll('a-f', 'a-fA-F') },
  read: (given, path) => {
    const text = typeof given === 'string' ? given.toLowerCase() : ''
    if (!pattern.test(text)) throw new FiltersError(path, `is not ${expected}`)
    return text
  },
})

export const address = textKind(/^0x[0-9a-f]{40}$/, '0x and 40 hex characters')
export const hash = textKind(/^0x[0-9a-f]{64}$/, '0x and 64 hex characters')
export const bytes = textKind(/^0x([0-9a-f]{2}){0,4096}$/, '0x and pairs of hex characters')

const quantityPattern = /^0x[0-9a-fA-F]{1,64}$/
/** A number as hex, whatever zeros it is written with. */
const readQuantity = (given: unknown, path: readonly string[]): bigint => {
  if (typeof given !== 'string' || !quantityPattern.test(given))
    throw new FiltersError(path, 'is not 0x and up to 64 hex characters')
  return BigInt(given)
}
const quantityText = { pattern: quantityPattern.source }
/** Ordered. */
export const quantity: TextKind = { isNumber: true, read: readQuantity, text: quantityText }
/** A number that is a name, such as a transaction type. */
export const code: TextKind = { isNumber: false, read: readQuantity, text: quantityText }

export const oneOf = (...values: readonly string[]): TextKind => ({
  isNumber: false,
  text: { values },
  read: (given, path) => {
    if (typeof given !== 'string' || !values.includes(given))
      throw new FiltersError(path, `is not one of ${values.join(', ')}`)
    return given
  },
})

/** @throws FiltersError */
export function readCondition(kind: Kind, given: unknown, path: readonly string[]): Condition {
  if (!isRecord(given)) return isOneOf([kind.read(given, path)])
  const entries = Object.entries(given)
  const [first, ...others] = entries
  if (!first) throw new FiltersError(path, 'has no operator')
  if (kind.isNumber && entries.every(([name]) => name in orders || name === 'eq'))
    return allOf(entries.map(([name, value]) => readOrder(kind, name, value, [...path, name])))
  const [name, value] = first
  if (others.length > 0) throw new FiltersError(path, 'has more than one operator')
  switch (name) {
    case 'eq':
      return isOneOf([kind.read(value, [...path, name])])
    case 'in':
      return isOneOf(readEntries(kind, value, [...path, name]))
    case 'not': {
      const refused = kind.read(value, [...path, name])
      return { test: (values) => values.length > 0 && !values.includes(refused), keys: null }
    }
    default:
      throw new FiltersError([...path, name], 'is no operator of this field')
  }
}

const isOneOf = (keys: readonly Value[]): Condition => ({
  test: keys.length === 1 ? (values) => values.some((value) => value === keys[0]) : among(new Set(keys)),
  keys,
})

const among = (wanted: ReadonlySet<Value>) => (values: readonly Value[]) =>
  values.some((value) => wanted.has(value))

function readEntries(kind: Kind, given: unknown, path: readonly string[]): Value[] {
  if (!Array.isArray(given) || given.length < 1 || given.length > ENTRIES_MAX)
    throw new FiltersError(path, `is not a list of 1 to ${ENTRIES_MAX} values`)
  return given.map((value: unknown, index) => kind.read(value, [...path, `${index}`]))
}

const orders: Readonly<Record<string, (value: Value, bound: Value) => boolean>> = {
  gt: (value, bound) => value > bound,
  gte: (value, bound) => value >= bound,
  lt: (value, bound) => value < bound,
  lte: (value, bound) => value <= bound,
}

function readOrder(kind: Kind, name: string, given: unknown, path: readonly string[]): Condition {
  const bound = kind.read(given, path)
  const holds = orders[name]
  if (!holds) return isOneOf([bound])
  return { test: (values) => values.some((value) => holds(value, bound)), keys: null }
}

function allOf(conditions: readonly Condition[]): Condition {
  const keyed = conditions.find(({ keys }) => keys !== null)
  return {
    // The bounds of a range hold for one value.
    test: (values) => values.some((value) => conditions.every(({ test }) => test([value]))),
    keys: keyed?.keys ?? null,
  }
}

/** `{selector}`, `{startsWith}` or `{eq}`: how the data of a call begins. */
export function readCallData(given: unknown, path: readonly string[]): Condition {
  const [first, ...others] = isRecord(given) ? Object.entries(given) : []
  if (!first || others.length > 0)
    throw new FiltersError(path, 'is not one of {selector}, {startsWith} and {eq}')
  const [name, value] = first
  const wanted = String(bytes.read(value, [...path, name]))
  const begins = (values: readonly Value[]) =>
    values.some((text) => typeof text === 'string' && text.startsWith(wanted))
  if (name === 'eq') return isOneOf([wanted])
  if (name === 'startsWith') return { test: begins, keys: null }
  if (name !== 'selector' || wanted.length !== 10)
    throw new FiltersError([...path, name], 'is not a selector of 4 bytes')
  return { test: begins, keys: null }
}
