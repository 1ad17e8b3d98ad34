/**
 * The places of what a row made impossible. Neither engine tells them, so they are told by what the
 * text has: the one part that can fail so is the place; of several all are named, since no one can
 * say which it was.
 */

import { noBytesHint } from '../text.ts'
import { positionAt, UserQueryError } from '../UserQueryError.ts'
import { divisionHint, longSeriesHint } from './hints.ts'

/** The stream, whose failure by a row gets its place in the user's text and a hint. */
export async function* withPlaces<Event>(
  sql: string,
  events: AsyncIterable<Event>,
): AsyncGenerator<Event, void, undefined> {
  try {
    yield* events
  } catch (error) {
    throw placedFailure(sql, error)
  }
}

/** Texts, names and comments, which hold no operators. */
const hiding = /'(?:[^']|'')*'|"(?:[^"]|"")*"|`[^`]*`|--[^\n]*|\/\*[\s\S]*?\*\//g

/** A division, but none by a number that is written out. */
const divisions = /[/%](?!\s*[\d.]*[1-9])|\b(?:mod|div|intDiv|divide|modulo)\s*\(/gi
/** Casts to documents. */
const documents = /::\s*jsonb?\b|\bcast\s*\((?=[^)]*\bas\s+jsonb?\b)/gi
const documentHint = "a document is JSON: CASE WHEN x LIKE '{%' THEN x::jsonb END"
/** Casts to what not every text or number is. */
const casts =
  /::\s*(?!text\b|varchar\b|string\b|jsonb?\b)[a-z]|\bcast\s*\(|\bto_?(?:u?int\d|float\d|decimal\d|date|timestamp)\w*\s*\(/gi
/** Operations that make a number wider: between two operands, or as a call. */
const widening =
  /(?<=[\w)\]"'`]\s*)(?<!\b(?:SELECT|DISTINCT|\d+e)\s*)(?:\+|-(?!>)|\*)(?!\s*(?:[),;]|FROM\b|$))|\b(?:sum|abs|lcm|plus|minus|multiply|pow|power|negate)\s*\(/gi

interface Kind {
  readonly message: RegExp
  readonly parts: readonly RegExp[]
  readonly hint: string
}

/** The calls of functions of these names. */
const calls = (names: string): RegExp => new RegExp(`\\b(?:${names})\\s*\\(`, 'gi')

const castHint =
  "leave out what is no such value before the cast: CASE WHEN x ~ '^[0-9]+$' THEN x::bigint END"

const kinds: readonly Kind[] = [
  { message: /^division by zero$/, parts: [divisions], hint: divisionHint },
  {
    message: /generate_series (?:gives|is|of)|^step size cannot equal zero$/,
    parts: [calls('generate_series')],
    hint: longSeriesHint,
  },
  {
    message: /^(?:timestamp|date)\b.* out of range|time that is out of range|seven thousand years$/,
    parts: [casts, calls('to_timestamp|make_date|make_timestamptz'), /\bINTERVAL\b/gi],
    hint: 'the times of blocks are seconds: to_timestamp(x); milliseconds are to_timestamp(x / 1000)',
  },
  {
    message: /^(smallint|integer|bigint) out of range|is out of range for type|out of the range of its type$/,
    parts: [casts, widening],
    hint: 'cast to a wider type first: x::numeric',
  },
  { message: /wider than 256 bits$/, parts: [widening], hint: 'take floats: x::float8' },
  {
    message:
      /^value (?:out of range: \w+|overflows numeric format)$|^numeric field overflow$|negative power is undefined$|complex result$|power that is no number/,
    parts: [widening, casts, calls('exp|pow|power')],
    hint: 'leave the largest values out with CASE or WHERE',
  },
  { message: /for type json$|no document$|^a document with/, parts: [documents], hint: documentHint },
  {
    message: /^invalid hexadecimal d|no hex$/,
    parts: [calls('decode'), casts],
    hint: 'digits of hex come in pairs, without 0x',
  },
  {
    message:
      /^invalid input syntax for type|^Cannot (?:parse|read (?:Date|bool))|is not a valid hexadecimal digit$|no date or time$/i,
    parts: [casts],
    hint: castHint,
  },
  { message: /^a pattern that no bytes match/, parts: [/\bI?LIKE\b/gi], hint: noBytesHint },
  {
    message: /^cannot take (?:logarithm|square root) of/,
    parts: [calls('ln|log|log10|log2|sqrt')],
    hint: 'leave out what is not above zero: CASE WHEN x > 0 THEN ln(x) END',
  },
  {
    message: /negative substring length|length below zero$/,
    parts: [calls('substring|substr')],
    hint: 'a length is at least 0: greatest(x, 0)',
  },
  {
    message: /^invalid regular expression|cannot compile re2/,
    parts: [/!?~\*?/g, calls('match|extract|extractAll')],
    hint: "a bracket or a point in a pattern is written '[(]', '[.]'",
  },
  {
    message: /^more than one row returned by a subquery|^Scalar subquery returned more than one row/,
    parts: [/\(\s*SELECT\b/gi],
    hint: 'a sub-select that stands for a value has one row: max(x), or LIMIT 1',
  },
]

/** Places named in a hint. */
const PLACES_MAX = 5

/** The failure with its place, or as it is. */
export function placedFailure(sql: string, error: unknown): unknown {
  if (!(error instanceof UserQueryError) || error.line !== undefined) return error
  const kind = kinds.find(({ message }) => message.test(error.message))
  if (!kind) return error
  const plain = sql.replace(hiding, hidden)
  const found = new Set(kind.parts.flatMap((part) => [...plain.matchAll(part)].map(({ index }) => index)))
  const [first, ...others] = [...found].sort((a, b) => a - b).map((at) => positionAt(sql, at))
  const position = others.length > 0 ? undefined : first
  if (!first && !kind.parts.includes(divisions)) return error
  const shown = [first, ...others].slice(0, PLACES_MAX).map((place) => `${place?.line}:${place?.column}`)
  const advice = error.hint ?? kind.hint
  const hint = others.length > 0 ? `one of those at ${shown.join(', ')} (line:column); ${advice}` : advice
  return new UserQueryError(error.code, error.message, { position, hint, cause: error })
}

/** In as many characters: names and texts stay operands, comments become blanks. */
const hidden = (part: string): string =>
  /^(--|\/\*)/.test(part) ? part.replace(/[^\n]/g, ' ') : part.replace(/[^\n]/g, '_')
