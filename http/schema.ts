/**
 * The vocabulary of response and body schemas, on TypeBox: `import * as s from
 * '#http/schema.ts'`. Every type of the specification's "Conventions" table exists once, here.
 * From a schema come the static type `present` must return, the serializer, the OpenAPI document
 * and (for bodies) the check.
 */
import * as t from 'typebox'

export type { Static, TObject, TProperties, TSchema } from 'typebox'

type Options = t.TSchemaOptions

/** Words for patterns, by which a text that does not fit is refused: nobody reads an expression. */
const patternWords = new Map([['^0x[0-9a-fA-F]{40}$', '0x and 40 hex characters']])

/** A pattern, and what a text that fits is: it goes on from `must be`. */
export function pattern(source: string, words: string): { readonly pattern: string } {
  patternWords.set(source, words)
  return { pattern: source }
}

export const wordsOf = (source: string): string =>
  patternWords.get(source) ?? 'of the form that its schema tells'

/** Account or token address: 0x and 40 hex characters, lowercase. */
export const address = t.String({
  ...pattern('^0x[0-9a-f]{40}$', '0x and 40 hex characters, in lower case'),
  examples: ['0x20c0000000000000000000000000000000000000'],
})

/** 32-byte hash of a block, transaction or topic, lowercase. */
export const hash = t.String({
  ...pattern('^0x[0-9a-f]{64}$', '0x and 64 hex characters, in lower case'),
  examples: [`0x${'ab'.repeat(32)}`],
})

/** Bytes as 0x and lowercase hex; `0x` when empty. */
export const hex = t.String({
  ...pattern('^0x([0-9a-f]{2})*$', '0x and pairs of hex characters, in lower case'),
  examples: ['0x'],
})

/** Raw chain quantity (gas, for example) as a 0x-prefixed hexadecimal integer. */
export const quantity = t.String({
  ...pattern('^0x[0-9a-fA-F]+$', '0x and hex characters'),
  examples: ['0x5208'],
})

/** Amount in the token's smallest unit, as a decimal string: it does not fit a JSON number. */
export const amount = t.String({
  ...pattern('^[0-9]+$', 'a whole number as a text'),
  examples: ['1000000'],
})

/** Like `amount`, for quantities that can be negative. */
export const signedAmount = t.String({
  ...pattern('^-?[0-9]+$', 'a whole number as a text'),
  examples: ['-1000000'],
})

/** Decimal number as a string, for prices and amounts scaled by decimals. */
export const decimal = t.String({
  ...pattern('^-?[0-9]+(\\.[0-9]+)?$', 'a number as a text'),
  examples: ['1.00000'],
})

/** Moment in UTC with whole seconds: YYYY-MM-DDTHH:MM:SSZ. */
export const timestamp = t.String({ format: 'date-time', examples: ['2026-01-31T12:00:00Z'] })

/** Height, count or index: a non-negative integer that is safe as a JSON number. */
export const count = t.Integer({ minimum: 0 })

/**
 * A chain's own number of up to 64 bits, such as a nonce or gas: an integer of JSON, with all its
 * digits where they are more than a double holds.
 */
export const chainNumberWith = (options: Options) =>
  t.Unsafe<number | bigint>({ type: 'integer', minimum: 0, ...options })
export const chainNumber = chainNumberWith({})

export const integer = (options: t.TNumberOptions = {}) => t.Integer(options)
export const number = (options: t.TNumberOptions = {}) => t.Number(options)
export const text = (options: t.TStringOptions = {}) => t.String(options)
export const boolean = (options: Options = {}) => t.Boolean(options)

/** An object that has exactly these properties; others are neither accepted nor put out. */
export const object = <Properties extends t.TProperties>(properties: Properties, options: Options = {}) =>
  t.Object(properties, { ...options, additionalProperties: false })

/** Like `object`, but others are let be: a file that is published for more readers than us. */
export const openObject = <Properties extends t.TProperties>(properties: Properties, options: Options = {}) =>
  t.Object(properties, options)

/**
 * Like `object`, under a name: it appears once in the OpenAPI document and is referred to from
 * everywhere else.
 */
export const named = <Properties extends t.TProperties>(
  name: string,
  properties: Properties,
  options: Options = {},
) => object(properties, { ...options, title: name })

/** Any keys, one kind of value. */
export const record = <Value extends t.TSchema>(value: Value, options: Options = {}) =>
  t.Record(t.String(), value, options)

export const array = <Item extends t.TSchema>(item: Item, options: t.TArrayOptions = {}) =>
  t.Array(item, options)

export const optional = <Schema extends t.TSchema>(schema: Schema) => t.Optional(schema)

export const nullable = <Schema extends t.TSchema>(schema: Schema) => t.Union([schema, t.Null()])

export const literal = <Value extends string | number | boolean>(value: Value, options: Options = {}) =>
  t.Literal(value, options)

/** One of these strings. */
export const oneOf = <const Values extends readonly string[]>(values: Values, options: Options = {}) =>
  t.Unsafe<Values[number]>({ ...options, type: 'string', enum: [...values] })

/** The same schema, for values that also satisfy a rule which no keyword says. */
export const refine = <Schema extends t.TSchema>(
  schema: Schema,
  holds: (value: t.Static<Schema>) => boolean,
) => t.Refine(schema, holds)

/** One of these schemas, tried in order. */
export const union = <Schemas extends t.TSchema[]>(schemas: [...Schemas], options: Options = {}) =>
  t.Union(schemas, options)

/**
 * The same schema under a narrower static type, for unions of so many shapes that the compiler
 * would be no help in choosing one.
 */
export const shown = <Type>(schema: t.TSchema) => t.Unsafe<Type>(schema)

/**
 * A JSON object passed on as its source gave it, whose properties we do not choose (a node's
 * payload, a client's metadata). Put out as it is.
 */
export const foreign = (description: string) =>
  t.Unsafe<object>({ type: 'object', additionalProperties: true, description })

/** Any JSON value, where the value really can be anything (a cell of a SQL result). */
export const json = (description: string) => t.Unsafe<unknown>({ description })

/**
 * Seconds since the epoch as the API writes them. A page's rows are of few days, so a day is
 * written once.
 */
export function isoSeconds(timestampSeconds: number): string {
  const day = Math.floor(timestampSeconds / SECONDS_PER_DAY)
  if (day !== writtenDay.number) {
    writtenDay.text = new Date(day * SECONDS_PER_DAY * 1000).toISOString().slice(0, 11)
    writtenDay.number = day
  }
  const second = Math.floor(timestampSeconds) - day * SECONDS_PER_DAY
  return `${writtenDay.text}${twoDigits(second / 3600)}:${twoDigits((second / 60) % 60)}:${twoDigits(second % 60)}Z`
}

const SECONDS_PER_DAY = 86_400
const writtenDay = { number: 0, text: '1970-01-01T' }
const twoDigits = (value: number): string => (value < 10 ? `0${Math.floor(value)}` : `${Math.floor(value)}`)
