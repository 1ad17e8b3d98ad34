/**
 * Casts: what PostgreSQL rounds is rounded, what it refuses is refused, and a value that does not
 * fit is an error.
 */
import { typeHint } from '../../../words/hints.ts'
import type { Expression } from '../../parse/ast.ts'
import { type Compiled, type Compiler, type NameScope, quoteText, refused } from '../Compiler.ts'
import { demanded } from '../demanded.ts'
import { accurate, asNumber, bind } from '../numbers.ts'
import { isNumber, isWhole, scalar, scaled, type ValueType } from '../valueType.ts'
import { compileBytes, compileNumber, dateSql, timeSql } from './compileConstant.ts'
import { type CastType, castType } from './types.ts'

type CastExpression = Extract<Expression, { kind: 'cast' }>

export function compileCast(compiler: Compiler, expression: CastExpression, scope: NameScope): Compiled {
  const { operand, type: name } = expression
  const bits = operand.kind === 'cast' ? numberOfBits(compiler, operand, name.name, scope) : undefined
  if (bits) return bits
  const target = castType(name)
  if (typeof target === 'string') throw refused(compiler, target, name.at, typeHint(name.name))
  if (operand.kind === 'string') return castText(compiler, operand, target)
  const value = compiler.expression(operand, scope)
  const { type } = value
  if (target.type.isArray || type.isArray || type.scalar === 'null' || type.scalar === 'unknown')
    return { sql: `CAST(${value.sql} AS ${target.sql})`, type: target.type }
  if (target.type.scalar === 'text') return { sql: asText(compiler, value, expression.at), type: target.type }
  if (target.type.scalar === 'json') {
    if (type.scalar === 'json') return value
    if (type.scalar === 'text') return { sql: documentSql(value.sql), type: target.type }
    throw refused(compiler, 'only a text is read as a document', expression.at, 'cast a text: x::jsonb')
  }
  if (isNumber(type) && isNumber(target.type)) return castNumber(compiler, value, target, expression.at)
  if (type.scalar === 'text' && target.type.scalar === 'date')
    return { sql: dateOf(value.sql), type: target.type }
  return { sql: `CAST(${value.sql} AS ${target.sql})`, type: target.type }
}

/**
 * `('x' || digits)::bit(64)::bigint`, the number of hex digits; of fewer, zeros fill them from the
 * right. Undefined for another cast.
 */
function numberOfBits(
  compiler: Compiler,
  { operand, type }: CastExpression,
  whole: string,
  scope: NameScope,
): Compiled | undefined {
  const [bits] = type.args
  const isWide = /^(bigint|int8)$/i.test(whole)
  const isNumber = isWide || (bits === 32 && /^(int|int4|integer)$/i.test(whole))
  if (type.name.toLowerCase() !== 'bit' || !isNumber || (bits !== 64 && bits !== 32)) return undefined
  if (!beginsWithX(operand))
    throw refused(
      compiler,
      'bits are read of hex digits alone',
      type.at,
      `write ('x' || digits)::bit(${bits})`,
    )
  const digits = `substring(${compiler.expression(operand, scope).sql}, 2)`
  const count = bits / 4
  const word = `reverse(unhex(rightPad(substring(${digits}, 1, ${count}), ${count}, '0')))`
  const value =
    isWide && bits === 32 ? `toInt64(reinterpretAsUInt32(${word}))` : `reinterpretAsInt${bits}(${word})`
  const isHex = `match(${digits}, '^[0-9a-fA-F]*$')`
  return { sql: demanded(isHex, 'noHex', value), type: scalar(isWide ? 'bigint' : 'int') }
}

function beginsWithX(expression: Expression): boolean {
  if (expression.kind === 'string') return /^[xX]$/.test(expression.value)
  return expression.kind === 'binary' && expression.operator === '||' && beginsWithX(expression.left)
}

/**
 * The engine finds nothing in a text that is no document, and reads numbers as floats or 64 bits;
 * PostgreSQL says that it is none, and keeps every digit.
 */
const documentSql = (text: string): string =>
  demanded(
    `isValidJSON(${text})`,
    'noDocument',
    demanded(`NOT match(${text}, ${quoteText(inexact)})`, 'otherNumber', text),
  )

/** Numbers that the engine would write in another way: long ones, with an exponent or zeros at their end. */
const inexact = '(?:^|[\\[:,\\s])-?(?:\\d{19,}|\\d+\\.\\d*0\\b|\\d+\\.\\d{12,}|\\d+(?:\\.\\d+)?[eE])'

function castText(
  compiler: Compiler,
  operand: Extract<Expression, { kind: 'string' }>,
  target: CastType,
): Compiled {
  const { value, at } = operand
  const { type } = target
  if (type.isArray && value.trimStart().startsWith('{'))
    throw refused(compiler, 'an array within a text is not supported here', at, 'write ARRAY[1, 2]::bigint[]')
  if (type.isArray) return { sql: `CAST(${quoteText(value)} AS ${target.sql})`, type }
  if (type.scalar === 'text') return { sql: quoteText(value), type }
  if (type.scalar === 'json') return { sql: documentSql(quoteText(value)), type }
  if (type.scalar === 'timestamp') return { sql: timeSql(compiler, operand, type), type }
  if (type.scalar === 'date') return { sql: dateSql(compiler, operand), type }
  if (type.scalar === 'bytes') return { sql: compileBytes(compiler, operand).sql, type }
  if (type.scalar === 'float' && /nan/i.test(value))
    throw refused(compiler, 'a float that is no number is compared in another way here', at, 'write NULL')
  const [, sign, digits] = /^\s*(-?)(\d+(?:\.\d+)?)\s*$/.exec(value) ?? []
  if (digits !== undefined && (type.scalar === 'numeric' || type.scalar === 'decimal')) {
    const number = compileNumber(compiler, { kind: 'number', text: digits, at })
    const signed =
      sign === '-'
        ? { sql: `(- ${asNumber(number, scaledOf(number.type))})`, type: scaledOf(number.type) }
        : number
    return castNumber(compiler, signed, target, at)
  }
  return { sql: `CAST(${quoteText(value)} AS ${target.sql})`, type }
}

/** A text as a date; the engine makes the first day it knows of a text that is none. */
const dateOf = (text: string): string =>
  bind([text], ([day = '']) => {
    const date = `CAST(${day} AS Date32)`
    return demanded(`toString(${date}) = ${day}`, 'noDate', date)
  })

/** Without the mark of no sign. */
const scaledOf = ({ scalar: type, scale }: ValueType): ValueType => ({
  ...scalar(type),
  ...(scale && { scale }),
})

function castNumber(
  compiler: Compiler,
  value: Compiled,
  { sql: engineType, type: target, isExact, digitsMax }: CastType,
  at: number,
): Compiled {
  const { type } = value
  assertTruth(compiler, type, target, at)
  switch (target.scalar) {
    case 'bool':
    case 'float':
      return {
        sql:
          target.scalar === 'float' && engineType === 'Float64'
            ? asNumber(value, target)
            : `CAST(${value.sql} AS ${engineType})`,
        type: target,
      }
    case 'int':
    case 'bigint':
      return { sql: accurate(isWhole(type) ? value.sql : `round(${value.sql})`, engineType), type: target }
    case 'numeric': {
      // `numeric` without digits is the number as it is.
      if (isExact && type.scalar === 'decimal') return value
      if (isExact && isWhole(type))
        return {
          sql: type.isUnsigned ? asNumber(value, { ...target, isUnsigned: true }) : asNumber(value, target),
          type: {
            ...target,
            ...(type.isUnsigned && { isUnsigned: true as const }),
            ...(type.scale && { scale: type.scale }),
          },
        }
      const exact = type.scalar === 'float' ? exactFloat(value) : value
      if (isExact && type.scalar === 'float') return exact
      const whole = accurate(isWhole(type) ? value.sql : `round(${exact.sql})`, engineType)
      return { sql: digitsMax === undefined ? whole : withinDigits(whole, digitsMax), type: target }
    }
    default: {
      const scale = target.scale ?? 0
      const given = type.scalar === 'float' ? exactFloat(value) : value
      const own = given.type.scalar === 'decimal' ? (given.type.scale ?? 0) : 0
      const exact = asNumber(given, scaled('decimal', own))
      const rounded = withinDigits(`round(${exact}, ${scale})`, digitsMax ?? 0)
      return { sql: `CAST(${rounded} AS ${engineType})`, type: target }
    }
  }
}

/** PostgreSQL casts whole numbers of 32 bits to a truth value and back, and no others. */
function assertTruth(compiler: Compiler, from: ValueType, to: ValueType, at: number): void {
  if ((from.scalar === 'bool') === (to.scalar === 'bool')) return
  const number = from.scalar === 'bool' ? to : from
  if (number.scalar === 'int' && !number.isSmall) return
  const name = number.isSmall ? 'smallint' : number.scalar
  throw from.scalar === 'bool'
    ? refused(compiler, `a truth value is not cast to ${name}`, at, 'write x::int, and cast that')
    : refused(compiler, `a value of type ${name} is not cast to bool`, at, 'write x <> 0')
}

/** Digits behind the point of what a float is cast to; 15 of them count, as on PostgreSQL. */
const FLOAT_SCALE = 37

/** A float as PostgreSQL's numeric: its first 15 digits. */
function exactFloat({ sql }: Compiled): Compiled {
  const exact = bind([sql], ([x = '']) => {
    const isHeld = `${x} = 0 OR abs(${x}) >= 1e-22 AND abs(${x}) < 1e38`
    return demanded(isHeld, 'farFloat', `toDecimal256(printf('%.15g', ${x}), ${FLOAT_SCALE})`)
  })
  return { sql: exact, type: scaled('decimal', FLOAT_SCALE) }
}

/** The engine's decimals hold more digits before the point than they are declared with. */
const withinDigits = (sql: string, digitsMax: number): string =>
  bind([sql], ([value = '']) =>
    demanded(`toInt256(abs(${value})) < toInt256('1${'0'.repeat(digitsMax)}')`, 'numericOverflow', value),
  )

/** Types whose cast to text is the same on both engines. */
const castAsText: ReadonlySet<string> = new Set([
  'text',
  'json',
  'int',
  'bigint',
  'numeric',
  'uuid',
  'date',
  'null',
])

/** Text that prints alike on both engines; bytes as '0x…'. */
export function asText(compiler: Compiler, { sql, type }: Compiled, at: number): string {
  if (type.scalar === 'bytes') return hexText(sql)
  if (type.scalar === 'bool') return `toString(toBool(${sql}))`
  if (castAsText.has(type.scalar) && !type.scale) return `CAST(${sql} AS String)`
  throw refused(
    compiler,
    `a value of type ${type.scalar} is written differently by each engine`,
    at,
    'leave the cast out',
  )
}

/** Bytes as readable text; the raw ones would be no text at all. */
export const hexText = (sql: string): string => `concat('0x', lower(hex(${sql})))`
