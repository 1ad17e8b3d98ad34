/**
 * Checks on the text of a user query that come before any parser, and the rule for '0x…' constants.
 */

import { positionAt, UserQueryError } from './UserQueryError.ts'

/** The contract's limit (chain-data contract, `sql`). */
export const SQL_BYTES_MAX = 65_536

/** For the reference of the API. */
export const sqlExample = 'SELECT num, hash, tx_count FROM blocks ORDER BY num DESC LIMIT 10'

/** The words the parsers and printers need; more is a flood. */
export const SQL_NODES_MAX = 20_000

/** Selects within selects. The reference allows 4; CTE chains of analysts reach 8. */
export const SELECT_DEPTH_MAX = 12

/** Sub-selects and CTEs in one statement, each of which may scan a table. */
export const SELECT_COUNT_MAX = 64

/** Rows of `generate_series`: a day of minutes, a year of hours. */
export const SERIES_ROWS_MAX = 10_000

export const seriesProblem = `generate_series gives at most ${SERIES_ROWS_MAX} rows, in steps that are not 0`

/** Whether a series that is written out comes to its end in time. */
export const isBoundedSeries = (from: number, to: number, step: number): boolean =>
  step !== 0 && Math.abs((to - from) / step) <= SERIES_ROWS_MAX

/** A series of `int`, as its bounds are on Postgres. */
const INT_MAX = 0x7fff_ffff

export const numbersProblem = `numbers needs whole numbers, written out, and at most ${SERIES_ROWS_MAX} rows`

/** First and last of `numbers(count)` or `numbers(from, count)`; undefined where these are none. */
export function numbersBounds(
  given: readonly (number | undefined)[],
): readonly [first: number, last: number] | undefined {
  const count = given.at(-1)
  const first = given.length === 2 ? given[0] : 0
  if (count === undefined || first === undefined || given.length > 2) return undefined
  const isBounded = count <= SERIES_ROWS_MAX && count >= 0 && first >= 0 && first + count <= INT_MAX
  return isBounded ? [first, first + count - 1] : undefined
}

/** @throws UserQueryError `sql_invalid` on empty, oversized or malformed text. */
export function assertText(sql: string): void {
  if (sql.trim() === '') throw new UserQueryError('sql_invalid', 'the query is empty')
  if (Buffer.byteLength(sql) > SQL_BYTES_MAX) {
    throw new UserQueryError('sql_invalid', `the query is longer than ${SQL_BYTES_MAX} bytes`)
  }
  const control = controlCharacter(sql)
  if (control >= 0) {
    throw new UserQueryError('sql_invalid', 'the query contains a control character', {
      position: positionAt(sql, control),
    })
  }
  if (!sql.isWellFormed()) throw new UserQueryError('sql_invalid', 'the query is not well-formed Unicode')
}

/** Offset of the first control character other than tab and line ends, or -1. */
function controlCharacter(sql: string): number {
  for (let offset = 0; offset < sql.length; offset++) {
    const unit = sql.charCodeAt(offset)
    if ((unit < 0x20 && unit !== 0x09 && unit !== 0x0a && unit !== 0x0d) || unit === 0x7f) return offset
  }
  return -1
}

/** The meaning of a string constant of the form '0x…', or PostgreSQL's `'\\x…'`. */
export type HexConstant =
  | { readonly kind: 'none' }
  | { readonly kind: 'bytes'; readonly hex: string }
  /** '0x' alone: empty bytes where it is compared with bytes, else the two characters. */
  | { readonly kind: 'empty' }
  | { readonly kind: 'odd' }

/** Classifies a string constant; `hex` is lowercase and without the prefix. */
export function hexConstant(value: string): HexConstant {
  if (value === '0x' || value === '\\x') return { kind: 'empty' }
  if (!/^(?:0|\\)x[0-9a-fA-F]+$/.test(value)) return { kind: 'none' }
  if (value.length % 2 === 1) return { kind: 'odd' }
  return { kind: 'bytes', hex: value.slice(2).toLowerCase() }
}

/** Whether a text is written as bytes are; the digits may be one too few. */
export const isHexConstant = (text: string): boolean => /^(bytes|odd)$/.test(hexConstant(text).kind)

export const oddHexHint = "a '0x…' constant needs two digits per byte; write '0x…'::text for plain text"

export const placeHint =
  "substring takes places, which are numbers; a pattern stands behind ~, written out: x ~ '^0x20'"
export const unquotedHint = "bytes are written in quotes: '0x…'"
export const textOfBytesHint = "a '0x…' beside text is '0x…'::text, a column's bytes are text as column::text"
export const timeHint = "seconds are a time as to_timestamp(…); a time is written '2026-01-31 12:00:00'"

/**
 * A pattern of LIKE whose escape is `\\`, which stands before `%`, `_` and itself alone; undefined for
 * one that ends within an escape. An empty escape is none.
 */
export function plainPattern(pattern: string, by = '\\'): string | undefined {
  const characters = [...pattern]
  let plain = ''
  for (let index = 0; index < characters.length; index++) {
    const isEscaped = characters[index] === by
    const character = characters[isEscaped ? ++index : index]
    if (character === undefined) return undefined
    const isLiteral = isEscaped || character === '\\'
    plain += isLiteral && /[%_\\]/.test(character) ? `\\${character}` : character
  }
  return plain
}

export const endlessPattern = 'the pattern ends with its escape, which has nothing to escape'
export const escapeProblem = 'ESCAPE takes a text of one character, written out'
export const escapeHint = "write LIKE 'a!%b' ESCAPE '!'"

/** Patterns behind ANY or ALL, each of which looks at every row. */
export const PATTERNS_MAX = 100

export const patternsProblem = `ANY and ALL match an array of at most ${PATTERNS_MAX} patterns, written out`
export const patternsHint = "write x LIKE ANY (ARRAY['a%', 'b%'])"

/** Those of an array that is written as a text, `{a%,b%}`; undefined for one with quotes or escapes. */
export function patternsWithin(text: string): readonly string[] | undefined {
  const [, items] = /^\{([^"\\{}]*)\}$/.exec(text) ?? []
  const patterns = items?.split(',').map((item) => item.trim())
  return patterns?.some((pattern) => pattern === '' || /^null$/i.test(pattern)) ? undefined : patterns
}

/** Whether it may stand behind ESCAPE. */
export const isEscape = (text: string | undefined): text is string =>
  text !== undefined && [...text].length <= 1

/**
 * From and below which bytes are those that a pattern of LIKE finds by their beginning, `0x…%`, as
 * hex. Undefined for another pattern, and where none is above.
 */
export function rangeOfPattern(pattern: string): { readonly low: string; readonly high: string } | undefined {
  const [, digits] = /^0[xX]([0-9a-fA-F]+)%$/.exec(pattern) ?? []
  if (digits === undefined) return undefined
  const isHalf = digits.length % 2 === 1
  const low = `${digits}${isHalf ? '0' : ''}`.toLowerCase()
  const next = BigInt(`0x${low}`) + (isHalf ? 16n : 1n)
  const high = next.toString(16).padStart(low.length, '0')
  return high.length > low.length ? undefined : { low, high }
}

/**
 * Whether a pattern of LIKE finds no bytes whatever they are: as text they are `0x` and hex digits.
 */
export function matchesNoBytes(pattern: string): boolean {
  const text = pattern.toLowerCase()
  const [beginning = '', ...rest] = text.split('%')
  const fits = [...beginning].every(
    (character, index) => character === '_' || forms[Math.min(index, 2)]?.test(character),
  )
  return !fits || /[^0-9a-fx%_]/.test(text) || (rest.length === 0 && beginning.length < 2)
}

/** The choices for the first, the second and every further character. */
const forms = [/0/, /x/, /[0-9a-f]/] as const

export const noBytesProblem = "a pattern that no bytes match: as text they are '0x' and hex digits"
export const noBytesHint = "write LIKE '0x20c0%'; the bytes of a text are found by their hex digits"

/**
 * Why no value is equal to a constant beside bytes: told, instead of an answer without rows.
 */
export interface ConstantProblem {
  readonly problem: string
  readonly hint: string
}

/** The problem of a text that is no '0x…' beside bytes. */
export function textBesideBytes(text: string): ConstantProblem {
  const problem = `${quoted(text)} is compared with bytes and is none`
  const digits = text.replace(/^(0[xX]|\\x)/, '')
  if (/^[0-9a-fA-F]+$/.test(digits) && digits.length % 2 === 0)
    return { problem, hint: `write '0x${digits.toLowerCase()}'` }
  return {
    problem,
    hint: "bytes are written '0x…', two digits each; '0x…%' with LIKE finds beginnings; beside a text a column's bytes are column::text",
  }
}

/**
 * The problem of a constant of `length` bytes compared with values of `width` bytes; undefined if they can
 * be equal.
 */
export function unequalWidths(length: number, width: number, hex: string): ConstantProblem | undefined {
  if (length === width) return undefined
  const problem = `a constant of ${length} bytes is compared with values of ${width}`
  if (length === SELECTOR_BYTES && width === WORD_BYTES)
    return { problem, hint: `write substring(x, 1, 4) = '0x${hex}', or x LIKE '0x${hex}%'` }
  if (length === ADDRESS_BYTES && width === WORD_BYTES)
    return { problem, hint: `an address fills a word from the right: '0x${'00'.repeat(12)}${hex}'` }
  const unpadded = length === WORD_BYTES ? withoutPadding(hex, width) : undefined
  if (unpadded !== undefined) return { problem, hint: `without what fills the word: write '0x${unpadded}'` }
  return { problem, hint: `write ${width} bytes, or x LIKE '0x…%' for a beginning` }
}

/** The problem of values of `left` bytes compared with others of `right`: none are equal. */
export function unequalValues(left: number, right: number): ConstantProblem {
  const problem = `values of ${left} bytes are compared with values of ${right}`
  const other = left === WORD_BYTES ? right : right === WORD_BYTES ? left : undefined
  if (other === ADDRESS_BYTES) return { problem, hint: 'the address in a word is abi_address(word)' }
  if (other === SELECTOR_BYTES) return { problem, hint: 'a word begins with substring(word, 1, 4)' }
  return { problem, hint: 'bytes of unlike lengths are never equal; substring(x, from, count) takes a part' }
}

/** A word holds addresses at its right, other bytes at its left. */
function withoutPadding(hex: string, width: number): string | undefined {
  const padding = '00'.repeat(hex.length / 2 - width)
  if (width !== ADDRESS_BYTES && hex.endsWith(padding)) return hex.slice(0, -padding.length)
  return hex.startsWith(padding) ? hex.slice(padding.length) : undefined
}

const SELECTOR_BYTES = 4
const ADDRESS_BYTES = 20
const WORD_BYTES = 32

const SHOWN_CHARACTERS = 40

const quoted = (text: string): string =>
  `'${text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}…` : text}'`
