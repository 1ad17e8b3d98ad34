/**
 * Functions whose name both engines know and whose results would differ: here they are
 * PostgreSQL's.
 */
import type { CallExpression, Expression } from '../../parse/ast.ts'
import { type Compiled, type Compiler, invalid, refused } from '../Compiler.ts'
import { demanded } from '../demanded.ts'
import { accurate, asNumber, bind, wholeDivision } from '../numbers.ts'
import { operate } from '../operators/compileArithmetic.ts'
import { asText, hexText } from '../operators/compileCast.ts'
import { commonType, isNumber, isWhole, localTime, scalar, varyingBytes } from '../valueType.ts'
import type { FunctionRule } from './functions.ts'
import type { PortableCall as Call } from './portableCall.ts'
import { ofSeconds, translated } from './translated.ts'
import { trimmed } from './trimmed.ts'

/** By the engine's name; undefined means that the engine's own will do. */
const portable: Readonly<Record<string, (call: Call) => Compiled | undefined>> = {
  plus: (call) => operator(call, '+'),
  minus: (call) => operator(call, '-'),
  multiply: (call) => operator(call, '*'),
  modulo: (call) => operator(call, '%'),
  div: wholeQuotient,
  round: rounded,
  ceil: rounded,
  floor: rounded,
  trunc: rounded,
  sign: signOf,
  abs: magnitude,
  log: logarithm,
  ...Object.fromEntries(
    ['sqrt', 'cbrt', 'exp', 'ln', 'log2', 'log10', 'pow', 'power'].map((name) => [name, ofFloats]),
  ),
  ...Object.fromEntries(
    ['length', 'lower', 'upper', 'reverse', 'left', 'right', 'position', 'leftPad', 'rightPad'].map(
      (name) => [name, ofText],
    ),
  ),
  ...Object.fromEntries(['trimBoth', 'trimLeft', 'trimRight'].map((name) => [name, trimmed])),
  substring,
  concat: joined,
  concatWithSeparator: joinedBetween,
  gcd: divisorOrMultiple,
  lcm: divisorOrMultiple,
  toString: bytesText,
  date_trunc: truncatedTime,
  timezone: inZone,
  toDateTime: ofSeconds,
  ...translated,
}

export function compilePortable(
  compiler: Compiler,
  call: CallExpression,
  rule: FunctionRule,
  args: readonly Compiled[],
): Compiled | undefined {
  return rule.kind === 'scalar' ? portable[rule.name]?.({ compiler, call, rule, args }) : undefined
}

function operator({ compiler, call, args: [left, right] }: Call, word: string): Compiled | undefined {
  if (!left || !right || call.args.length !== 2)
    throw invalid(compiler, `${call.name} takes two arguments`, call.at)
  return operate(compiler, word, left, right, call.at)
}

function wholeQuotient({ compiler, call, args: [left, right] }: Call): Compiled {
  if (!left || !right || !isWhole(left.type) || !isWhole(right.type))
    throw invalid(compiler, 'div takes two whole numbers', call.at)
  const isUnsigned = left.type.isUnsigned && right.type.isUnsigned && { isUnsigned: true as const }
  return { sql: wholeDivision('intDiv', left, right), type: { ...scalar('numeric'), ...isUnsigned } }
}

/** PostgreSQL rounds whole numbers to floats; with a number of digits it is exact. */
function rounded({ call, rule, args }: Call): Compiled | undefined {
  const [value] = args
  if (!value || !isNumber(value.type)) return undefined
  const { scalar: type } = value.type
  if (args.length > 1)
    return {
      sql: `${rule.name}(${args.map(({ sql }) => sql).join(', ')})`,
      type: isWhole(value.type) ? scalar('numeric') : value.type,
    }
  if (type === 'int' || type === 'bigint') return { sql: `toFloat64(${value.sql})`, type: scalar('float') }
  return call.args.length === 1 && type === 'numeric' ? value : undefined
}

function signOf({ args: [value] }: Call): Compiled | undefined {
  if (!value || !isNumber(value.type)) return undefined
  const isExact = value.type.scalar === 'numeric' || value.type.scalar === 'decimal'
  return isExact
    ? { sql: `toInt256(sign(${value.sql}))`, type: scalar('numeric') }
    : { sql: `toFloat64(sign(${value.sql}))`, type: scalar('float') }
}

/** The least whole number of a type has no magnitude within it. */
function magnitude({ args: [value] }: Call): Compiled | undefined {
  if (!value || !isNumber(value.type) || value.type.isUnsigned) return undefined
  const { scalar: type, isSmall } = value.type
  const sql = `abs(${value.sql})`
  if (type === 'int') return { sql: accurate(sql, isSmall ? 'Int16' : 'Int32'), type: value.type }
  return type === 'bigint' ? { sql: accurate(sql, 'Int64'), type: value.type } : undefined
}

function logarithm(call: Call): Compiled {
  if (call.args.length !== 1)
    throw refused(
      call.compiler,
      'log takes one argument here, and is of base 10',
      call.call.at,
      'write ln(x) / ln(base)',
    )
  return ofFloats({ ...call, rule: { ...call.rule, name: 'log10' } })
}

function ofFloats({ compiler, call, rule, args }: Call): Compiled {
  if (args.some(({ type }) => type.scalar === 'numeric' || type.scalar === 'decimal')) {
    // A constant such as 0.5 is exact too; beside a float PostgreSQL makes it one.
    if (!args.some(({ type }) => type.scalar === 'float'))
      throw refused(
        compiler,
        `${call.name} of an exact number is not supported`,
        call.at,
        'cast it to float8',
      )
  }
  const values = args.map((value) => asNumber(value, scalar('float')))
  return {
    sql: bind(values, (names) => defined(rule.name, names, `${rule.name}(${names.join(', ')})`)),
    type: scalar('float'),
  }
}

/** A function that has no value in PostgreSQL gives infinity, zero or no number in the engine. */
function defined(name: string, values: readonly string[], result: string): string {
  const [value = ''] = values
  if (name === 'sqrt') return demanded(`NOT ${value} < 0`, 'negativeRoot', result)
  if (/^(?:ln|log)/.test(name)) return demanded(`NOT ${value} <= 0`, 'noLogarithm', result)
  const areFinite = values.map((each) => `isFinite(${each})`).join(' AND ')
  if (name === 'exp')
    return demanded(`isFinite(${result}) AND ${result} > 0 OR NOT (${areFinite})`, 'noPower', result)
  return /^pow/.test(name) ? demanded(`isFinite(${result}) OR NOT (${areFinite})`, 'noPower', result) : result
}

/** PostgreSQL counts characters, the engine bytes. */
function ofText({ compiler, call, rule, args }: Call): Compiled | undefined {
  const [value] = args
  if (value?.type.isArray || (value?.type.scalar !== 'text' && value?.type.scalar !== 'json'))
    return undefined
  const [, , fill] = call.args
  if (fill?.kind === 'string' && fill.value === '')
    throw refused(compiler, `${call.name} fills with a text that is not empty`, fill.at, 'write left(x, 10)')
  const type = rule.result === 'int' ? scalar('int') : scalar('text')
  return { sql: `${rule.name}UTF8(${args.map(({ sql }) => sql).join(', ')})`, type }
}

/** From before the first character PostgreSQL counts on, the engine counts from the end. */
function substring({ compiler, call, args }: Call): Compiled | undefined {
  const [value, start, length] = args
  if (!value || !start) return undefined
  const name = value.type.scalar === 'text' ? 'substringUTF8' : 'substring'
  const type = value.type.scalar === 'bytes' ? varyingBytes : value.type
  const isPlain = isPositive(call.args[1]) && (length === undefined || isPositive(call.args[2]))
  if (isPlain) return { sql: `${name}(${args.map(({ sql }) => sql).join(', ')})`, type }
  if (call.name.toLowerCase() !== 'substr' && !isWhole(start.type))
    throw refused(compiler, 'the start of a piece is a whole number', call.at)
  const from = `toInt64(${start.sql})`
  const bounded = (x: string, min: number) => `if(${x} < ${min}, ${min}, ${x})`
  if (!length) return { sql: `${name}(${value.sql}, ${bounded(from, 1)})`, type }
  const window = bind(
    [from, demanded(`${length.sql} >= 0`, 'negativeLength', `toInt64(${length.sql})`)],
    ([a = '', n = '']) => `(${a}, ${bounded(`${a} + ${n}`, 1)})`,
  )
  const count = `(${window}.2 - ${bounded(`${window}.1`, 1)})`
  return { sql: `${name}(${value.sql}, ${bounded(from, 1)}, ${bounded(count, 0)})`, type }
}

const isPositive = (expression: Expression | undefined): boolean =>
  expression?.kind === 'number' && /^\d+$/.test(expression.text) && Number(expression.text) > 0

/** PostgreSQL leaves out what is NULL. */
function joined({ compiler, call, args }: Call): Compiled {
  if (args.some(({ type }) => type.isArray))
    throw refused(compiler, 'concat takes texts', call.at, 'use arrayConcat')
  const parts = args.map((value) => `ifNull(${asText(compiler, value, call.at)}, '')`)
  return { sql: `concat(${parts.join(', ')})`, type: scalar('text') }
}

function joinedBetween({ compiler, call, args: [separator, ...values] }: Call): Compiled {
  if (!separator || values.some(({ type }) => type.isArray))
    throw refused(
      compiler,
      `${call.name} takes a separator and texts`,
      call.at,
      "write concat_ws(', ', a, b)",
    )
  const texts = values.map((value) => `CAST(${asText(compiler, value, call.at)} AS Nullable(String))`)
  const present = `arrayMap(x -> assumeNotNull(x), arrayFilter(x -> isNotNull(x), [${texts.join(', ')}]))`
  return { sql: `arrayStringConcat(${present}, ${separator.sql})`, type: scalar('text') }
}

/** In the type of its operands; the engine's own fail beside 0. */
function divisorOrMultiple({ compiler, call, rule, args: [left, right] }: Call): Compiled {
  if (!left || !right || !isWhole(left.type) || !isWhole(right.type))
    throw refused(compiler, `${call.name} takes two whole numbers`, call.at, 'cast one: x::bigint')
  const type = commonType([left.type, right.type])
  const sql = bind([left.sql, right.sql], ([a = '', b = '']) =>
    rule.name === 'lcm'
      ? `if(${a} = 0 OR ${b} = 0, 0, lcm(if(${a} = 0, 1, ${a}), if(${b} = 0, 1, ${b})))`
      : `if(${a} = 0 AND ${b} = 0, 0, gcd(if(${a} = 0, if(${b} = 0, 1, ${b}), ${a}), if(${b} = 0, if(${a} = 0, 1, ${a}), ${b})))`,
  )
  if (type.scalar === 'int') return { sql: accurate(sql, 'Int32'), type: scalar('int') }
  return type.scalar === 'bigint'
    ? { sql: accurate(sql, 'Int64'), type: scalar('bigint') }
    : { sql, type: scalar('numeric') }
}

function bytesText({ args: [value] }: Call): Compiled | undefined {
  return value?.type.scalar === 'bytes' ? { sql: hexText(value.sql), type: scalar('text') } : undefined
}

/** `date_trunc` as a time; for units of a week and longer the engine returns dates. */
function truncatedTime({ args }: Call): Compiled {
  const printed = args.map(({ sql }) => sql).join(', ')
  return {
    sql: `toDateTime(date_trunc(${printed}), 'UTC')`,
    type: args[1]?.type.isLocal ? localTime : scalar('timestamp'),
  }
}

/** `x AT TIME ZONE zone`: of a moment what a clock shows there, of such a time the moment. */
function inZone({ compiler, call, args: [zone, value] }: Call): Compiled {
  const name = call.args[0]?.kind === 'string' ? call.args[0].value : ''
  if (!zone || value?.type.scalar !== 'timestamp' || value.type.isArray)
    throw invalid(compiler, 'AT TIME ZONE takes a time', call.at)
  // The engines do not know the same abbreviations.
  if (!/^(UTC|[A-Za-z]+(\/[A-Za-z0-9_+-]+)+)$/.test(name))
    throw refused(
      compiler,
      `the zone ${name} is not supported`,
      call.at,
      "write 'UTC' or a place: 'Asia/Tokyo'",
    )
  const wide = `toDateTime64(${value.sql}, 6, 'UTC')`
  const shown = (time: string, place: string) => `parseDateTime64BestEffort(toString(${time}), 6, ${place})`
  return {
    sql: value.type.isLocal
      ? `toDateTime64(${shown(wide, zone.sql)}, 6, 'UTC')`
      : shown(`toTimeZone(${wide}, ${zone.sql})`, `'UTC'`),
    type: value.type.isLocal ? scalar('timestamp') : localTime,
  }
}
