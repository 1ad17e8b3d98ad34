/**
 * The vocabulary of query and path parameters: `import * as p from '#http/request/parameter.ts'`. A
 * parameter knows how to read its text strictly and how to describe itself in OpenAPI. Query
 * parameters are optional unless wrapped in `required` or `withDefault`; path parameters are always
 * there.
 */
import type { TSchema } from 'typebox'
import { failure } from '#errors.ts'
import * as primitives from '#primitives.ts'
import type { ErrorCode } from '../errors.ts'
import * as s from '../schema.ts'

/**
 * `optional`: may be undefined; `required`: a missing one is refused; `defaulted`: has `fallback`
 * when missing.
 */
export type Presence = 'optional' | 'required' | 'defaulted'

export interface Parameter<Value = unknown, Present extends Presence = Presence> {
  /** The text's form, for OpenAPI. */
  readonly schema: TSchema
  /** One sentence for the reference. */
  readonly description: string
  /** The code when it stands in a path; in a query the code is `query_invalid`. */
  readonly code: ErrorCode
  readonly presence: Present
  readonly fallback?: Value
  /**
   * Largest number of values of a list parameter (comma lists and repeats); absent for a scalar.
   */
  readonly valuesMax?: number
  /** Values of a list hold commas themselves: it is given by repeats alone. */
  readonly repeatsOnly?: true
  /** The name whose example is taken for it. Default: its own. */
  readonly exampleOf?: string
  /** Reads one text. @throws ParameterError saying what is expected. */
  readonly parse: (text: string) => Value
  /** Turns the values of a list parameter into one. */
  readonly collect?: (values: readonly unknown[]) => Value
}

export type Parameters = Readonly<Record<string, Parameter>>

/** The values of a set of parameters; a missing optional one is undefined. */
export type Values<Set extends Parameters> = {
  readonly [Name in keyof Set]: Set[Name] extends Parameter<infer Value, infer Present>
    ? Present extends 'optional'
      ? Value | undefined
      : Value
    : never
}

/** The values of a path's parameters: all of them are there. */
export type PathValues<Set extends Parameters> = {
  readonly [Name in keyof Set]: Set[Name] extends Parameter<infer Value> ? Value : never
}

/** A text is not what the parameter expects; the message says what is. */
export class ParameterError extends failure('ParameterError', 'query_invalid', 'stop') {}

type Optional<Value> = Parameter<Value, 'optional'>

/** An address, accepted in any case. */
export const address = parameter({
  schema: { ...s.address, pattern: '^0[xX][0-9a-fA-F]{40}$' },
  description: 'Address: 0x and 40 hex characters, in any case.',
  code: 'address_invalid',
  parse: guarded(primitives.address, '0x and 40 hex characters'),
})

/** A token contract's address. */
export const token = { ...address, code: 'token_invalid' } as const satisfies Optional<primitives.Address>

/** A token contract's address, or the chain's own coin, which has none. */
export const tokenOrNative = parameter<primitives.Address | 'native'>({
  schema: { ...s.address, pattern: '^(native|0[xX][0-9a-fA-F]{40})$' },
  description: "Token contract, or `native` for the chain's own coin.",
  code: 'token_invalid',
  parse: (text) =>
    text === 'native' ? text : guarded(primitives.address, '`native`, or 0x and 40 hex characters')(text),
})

/** A 32-byte hash; in a path it names a transaction. */
export const transactionHash = parameter({
  schema: { ...s.hash, pattern: '^0[xX][0-9a-fA-F]{64}$' },
  description: '32-byte hash: 0x and 64 hex characters, in any case.',
  code: 'transaction_invalid',
  parse: guarded(primitives.hash, '0x and 64 hex characters'),
})

const UUID = '^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$'
const aUuid = new RegExp(UUID)

/** As RFC 9562 writes it, accepted in any case; read as lowercase. */
export const uuid = parameter({
  schema: { type: 'string', format: 'uuid', pattern: UUID },
  description: 'UUID, in any case.',
  code: 'param_invalid',
  parse: (text) => {
    if (!aUuid.test(text)) throw new ParameterError('expected a UUID')
    return text.toLowerCase()
  },
})

/** A height, in decimal. */
export const blockNumber = parameter({
  schema: s.count,
  description: 'Block number.',
  code: 'block_invalid',
  parse: (text) => parseInteger(text, 0, Number.MAX_SAFE_INTEGER),
})

/**
 * A moment, as milliseconds since the epoch. ISO 8601 with a zone; fractions and offsets are
 * accepted although we put out neither (decisions, "Interface").
 */
export const timestamp = parameter({
  schema: s.timestamp,
  description: 'Moment as ISO 8601, for example 2026-01-31T12:00:00Z.',
  code: 'param_invalid',
  parse: parseTimestampMs,
})

/** Exactly `true` or `false`. */
export const boolean = parameter({
  schema: s.boolean(),
  description: '`true` or `false`.',
  code: 'param_invalid',
  parse: (text) => {
    if (text !== 'true' && text !== 'false') throw new ParameterError('expected true or false')
    return text === 'true'
  },
})

/** An amount in a token's smallest unit, up to 256 bits. */
export const amount = parameter({
  schema: s.amount,
  description: "Amount in the token's smallest unit, as a decimal integer.",
  code: 'param_invalid',
  parse: (text) => {
    if (!/^[0-9]{1,78}$/.test(text)) throw new ParameterError('expected a decimal integer of up to 78 digits')
    return BigInt(text)
  },
})

/** A whole number within bounds; anything outside is refused, never clamped. */
export const integer = (minimum: number, maximum: number = Number.MAX_SAFE_INTEGER) =>
  parameter({
    schema: s.integer({ minimum, maximum }),
    description: 'Whole number.',
    code: 'param_invalid',
    parse: (text) => parseInteger(text, minimum, maximum),
  })

/** One of a few words. */
export const oneOf = <const Words extends readonly string[]>(...words: Words) =>
  parameter<Words[number]>({
    schema: s.oneOf(words),
    description: `One of ${words.join(', ')}.`,
    code: 'param_invalid',
    parse: (text) => {
      const word = words.find((candidate) => candidate === text)
      if (word === undefined) throw new ParameterError(`expected one of ${words.join(', ')}`)
      return word
    },
  })

/** Free text of a bounded length without control characters (Postgres text cannot hold NUL). */
export const text = (charactersMax: number, pattern?: RegExp) =>
  parameter({
    schema: s.text({
      minLength: 1,
      maxLength: charactersMax,
      pattern: pattern ? pattern.source : withoutControls,
    }),
    description: 'Text.',
    code: 'param_invalid',
    parse: (value) => parseText(value, charactersMax, pattern),
  })

/** Unicode category Cc, in words that every reader of JSON schemas knows. */
const withoutControls = '^[^\\u0000-\\u001f\\u007f-\\u009f]*$'

/** Several values of one kind: comma separated, repeated, or both. */
export const list = <Value>(item: Optional<Value>, valuesMax: number): Optional<readonly Value[]> => ({
  schema: s.array(item.schema, { maxItems: valuesMax }),
  description: `${item.description} Up to ${valuesMax}, comma separated or repeated.`,
  code: item.code,
  presence: 'optional',
  valuesMax,
  parse: (value) => [item.parse(value)],
  collect: (values) => values.flatMap((value) => (Array.isArray(value) ? value : [])),
})

/** Several values of one kind that may hold commas: the parameter is repeated. */
export const repeated = <Value>(item: Optional<Value>, valuesMax: number): Optional<readonly Value[]> => ({
  ...list(item, valuesMax),
  description: `${item.description} Up to ${valuesMax}, repeated.`,
  repeatsOnly: true,
})

/**
 * The first kind that accepts the text, for paths like `/v1/tokens/{token}` that take an address or
 * a symbol.
 */
export const either = <A, B>(first: Optional<A>, second: Optional<B>): Optional<A | B> => ({
  schema: s.union([first.schema, second.schema]),
  description: `${first.description} Or: ${second.description}`,
  code: first.code,
  presence: 'optional',
  parse: (value) => {
    try {
      return first.parse(value)
    } catch (error) {
      if (!(error instanceof ParameterError)) throw error
      return second.parse(value)
    }
  },
})

/** The same parameter, but a request without it is refused. */
export const required = <Value>(of: Optional<Value>): Parameter<Value, 'required'> => ({
  ...of,
  presence: 'required',
})

/** The same parameter with a value for requests that leave it out. */
export const withDefault = <Value>(
  of: Optional<Value>,
  fallback: NoInfer<Value>,
): Parameter<Value, 'defaulted'> => ({
  ...of,
  schema: { ...of.schema, default: fallback },
  presence: 'defaulted',
  fallback,
})

/** The same parameter under another sentence, and another code where it stands in a path. */
export const described = <Value, Present extends Presence>(
  of: Parameter<Value, Present>,
  description: string,
  code: ErrorCode = of.code,
): Parameter<Value, Present> => ({ ...of, description, code })

/** A parameter of one's own. `parse` throws ParameterError for a text it does not accept. */
export function parameter<Value>(of: {
  schema: TSchema
  description: string
  code: ErrorCode
  parse: (text: string) => Value
}): Optional<Value> {
  return { ...of, presence: 'optional' }
}

function guarded<Value>(make: (text: string) => Value, expected: string): (text: string) => Value {
  return (value) => {
    try {
      return make(value)
    } catch {
      throw new ParameterError(`expected ${expected}`)
    }
  }
}

function parseInteger(text: string, minimum: number, maximum: number): number {
  const value = /^-?[0-9]{1,16}$/.test(text) ? Number(text) : Number.NaN
  if (!Number.isSafeInteger(value)) throw new ParameterError('expected a whole number')
  if (value < minimum || value > maximum) {
    const bounds = maximum === Number.MAX_SAFE_INTEGER ? `at least ${minimum}` : `${minimum} to ${maximum}`
    throw new ParameterError(`expected ${bounds}`)
  }
  return value
}

function parseText(text: string, charactersMax: number, pattern: RegExp | undefined): string {
  if (text.length === 0 || text.length > charactersMax) {
    throw new ParameterError(`expected 1 to ${charactersMax} characters`)
  }
  if (/\p{Cc}/u.test(text)) throw new ParameterError('control characters are not accepted')
  if (pattern && !pattern.test(text)) throw new ParameterError(`expected text that matches ${pattern.source}`)
  return text
}

const isoPattern = /^(\d{4}-\d{2}-\d{2})T(\d{2}):(\d{2}):(\d{2})(\.\d{1,9})?(Z|[+ -]\d{2}:\d{2})$/

function parseTimestampMs(text: string): number {
  const expected = 'expected a moment such as 2026-01-31T12:00:00Z'
  const parts = isoPattern.exec(text)
  if (!parts) throw new ParameterError(expected)
  const [, date = '', , , , , zone = ''] = parts
  // An unencoded `+` in a query arrives as a space.
  const ms = Date.parse(zone.startsWith(' ') ? text.replace(' ', '+') : text)
  // Date.parse takes 30 February for 2 March; a date that does not come back as itself does not
  // exist.
  const day = Date.parse(`${date}T00:00:00Z`)
  if (Number.isNaN(ms) || Number.isNaN(day) || new Date(day).toISOString().slice(0, 10) !== date) {
    throw new ParameterError(expected)
  }
  return ms
}
