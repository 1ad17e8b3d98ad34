/** Text constants: '0x…' are bytes, and a text beside a time is a time. */

import { hexConstant, oddHexHint, textBesideBytes } from '../../../text.ts'
import type { Expression } from '../../parse/ast.ts'
import { type Compiled, type Compiler, invalid, quoteBytes, quoteText, refused } from '../Compiler.ts'
import { scalar, scaled, unsigned, type ValueType, varyingBytes } from '../valueType.ts'

type StringExpression = Extract<Expression, { kind: 'string' }>

const bits64 = 2n ** 63n - 1n
const bits256 = 2n ** 256n - 1n

/**
 * Numbers as PostgreSQL types them: int, bigint, then numeric. The engine reads wide ones and those
 * with a point as floats, so they are made of text.
 */
export function compileNumber(
  compiler: Compiler,
  { text, at }: Extract<Expression, { kind: 'number' }>,
): Compiled {
  if (/^\d+$/.test(text) && BigInt(text) <= bits64) {
    const value = BigInt(text)
    return { sql: String(value), type: unsigned(value > 0x7fff_ffffn ? 'bigint' : 'int') }
  }
  const [, whole = '', fraction = '', exponent = '0'] = /^(\d*)\.?(\d*)(?:[eE]([+-]?\d+))?$/.exec(text) ?? []
  const shift = Number(exponent)
  if (whole + fraction === '' || Math.abs(shift) > DECIMAL_DIGITS_MAX)
    throw refused(compiler, `the number ${text} is not supported`, at)
  const scale = Math.max(0, fraction.length - shift)
  const digits = BigInt(whole + fraction + '0'.repeat(Math.max(0, shift - fraction.length)))
  const unit = 10n ** BigInt(scale)
  if (digits > bits256 || scale > DECIMAL_DIGITS_MAX)
    throw refused(compiler, `the number ${text} has too many digits`, at)
  if (digits % unit === 0n) {
    const type = unsigned('numeric')
    return { sql: `toUInt256('${digits / unit}')`, type: scale > 0 ? { ...type, scale } : type }
  }
  if (String(digits).length > DECIMAL_DIGITS_MAX)
    throw refused(compiler, `the number ${text} has too many digits`, at)
  const padded = String(digits).padStart(scale + 1, '0')
  return {
    sql: `toDecimal256('${padded.slice(0, -scale)}.${padded.slice(-scale)}', ${scale})`,
    type: scaled('decimal', scale),
  }
}

const DECIMAL_DIGITS_MAX = 76

/** A text where nothing says what it is compared with. */
export function compileString(compiler: Compiler, expression: StringExpression): Compiled {
  const hex = hexConstant(expression.value)
  if (hex.kind === 'bytes')
    return { sql: quoteBytes(hex.hex), type: { ...varyingBytes, width: hex.hex.length / 2 } }
  if (hex.kind === 'odd') {
    throw invalid(compiler, "'0x…' with an odd number of digits", expression.at, oddHexHint)
  }
  return { sql: quoteText(expression.value), type: scalar('text') }
}

/** A text compared with values of `other`. */
export function compileStringBeside(
  compiler: Compiler,
  expression: StringExpression,
  other: ValueType,
): Compiled {
  const { value } = expression
  if (other.scalar === 'text' || other.scalar === 'json')
    return { sql: quoteText(value), type: scalar('text') }
  if (other.scalar === 'timestamp') return { sql: timeSql(compiler, expression, other), type: other }
  if (other.scalar === 'date') return { sql: dateSql(compiler, expression), type: other }
  if (other.scalar === 'numeric' && /^-?\d+$/.test(value)) return compileDigits(compiler, expression)
  if (other.scalar === 'bytes' && !other.isArray) return compileBytes(compiler, expression)
  return compileString(compiler, expression)
}

/** A text where values are bytes. */
export function compileBytes(compiler: Compiler, expression: StringExpression): Compiled {
  const { value, at } = expression
  const { kind } = hexConstant(value)
  if (kind === 'empty' || value === '') return { sql: quoteBytes(''), type: { ...varyingBytes, width: 0 } }
  if (kind !== 'none') return compileString(compiler, expression)
  const { problem, hint } = textBesideBytes(value)
  throw invalid(compiler, problem, at, hint)
}

/** A number past 256 bits, or past 255 with a sign, would wrap around. */
function compileDigits(compiler: Compiler, { value, at }: StringExpression): Compiled {
  const number = BigInt(value)
  if (number > bits256 || number < -(2n ** 255n))
    throw refused(compiler, `the number ${value} has too many digits`, at)
  return number < 0n
    ? { sql: `toInt256('${number}')`, type: scalar('numeric') }
    : { sql: `toUInt256('${number}')`, type: unsigned('numeric') }
}

/**
 * The engine's first and last year of a date; of another, and of a day that is none, it makes one
 * of these.
 */
const YEAR_MIN = 1900
const YEAR_MAX = 2299

/** A constant date. */
export function dateSql(compiler: Compiler, { value, at }: StringExpression): string {
  const [day, year] = /^(\d{4})-\d\d-\d\d$/.exec(value.trim()) ?? []
  if (day === undefined || !isDay(day))
    throw invalid(compiler, `'${value}' is not a date`, at, "write '2026-01-31'")
  if (Number(year) < YEAR_MIN || Number(year) > YEAR_MAX)
    throw invalid(compiler, `dates are of the years ${YEAR_MIN} to ${YEAR_MAX} here`, at)
  return `toDate32('${day}')`
}

const isDay = (text: string): boolean => new Date(`${text}T00:00:00Z`).toJSON()?.startsWith(text) ?? false

/** ISO 8601 only: the engine and PostgreSQL read 01/02/2026 as different days. */
const isoTime =
  /^(\d{4})-\d\d-\d\d(?:[T ](?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(\.\d{1,6})?)?\s*(?:Z|[+-]\d\d(?::?\d\d)?)?)?$/

/**
 * A constant time. Those with a fraction, and those beyond 32 bits of seconds, are wider than a
 * column's.
 */
export function timeSql(compiler: Compiler, { value, at }: StringExpression, type: ValueType): string {
  const [whole, year, fraction] = isoTime.exec(value.trim()) ?? []
  // PostgreSQL takes no notice of a zone where times have none.
  const match = type.isLocal ? whole?.replace(/(:\d\d(?:\.\d+)?)\s*(?:Z|[+-][\d:]+)$/, '$1') : whole
  if (match === undefined || !isDay(match.slice(0, 10)))
    throw invalid(compiler, `'${value}' is not a time`, at, "write '2026-01-31' or '2026-01-31 12:00:00'")
  const isPlain = fraction === undefined && Number(year) >= 1970 && Number(year) < 2106
  return isPlain
    ? `parseDateTimeBestEffort(${quoteText(match)}, 'UTC')`
    : `parseDateTime64BestEffort(${quoteText(match)}, 6, 'UTC')`
}
