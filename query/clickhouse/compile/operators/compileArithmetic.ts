/**
 * Operators + - * / % and ||: PostgreSQL's types and results, or an error of the query (numbers.ts
 * says how).
 */
import type { BinaryExpression, Expression } from '../../parse/ast.ts'
import { type Compiled, type Compiler, type NameScope, refused } from '../Compiler.ts'
import { accurate, asNumber, bind, quotient, unwrapped, wholeDivision } from '../numbers.ts'
import {
  commonType,
  isMoment,
  isNumber,
  localTime,
  marksOf,
  scalar,
  scaled,
  type ValueType,
  varyingBytes,
} from '../valueType.ts'
import { joinArrays } from './compileArray.ts'
import { hexText } from './compileCast.ts'

const levels: Readonly<Record<string, number>> = { '||': 0, '+': 1, '-': 1, '*': 2, '/': 2, '%': 2 }

export const isArithmetic = (operator: string): boolean => operator in levels

interface Step extends Compiled {
  readonly operator: string
  readonly at: number
}

/**
 * A run of operators of one level; sums and joined texts stay flat, since the engine's parser has a
 * bound on nesting.
 */
export function compileArithmetic(
  compiler: Compiler,
  expression: BinaryExpression,
  scope: NameScope,
): Compiled {
  const run: { operator: string; operand: Expression }[] = []
  let first: Expression = expression
  const level = levels[expression.operator]
  while (first.kind === 'binary' && levels[first.operator] === level) {
    run.unshift({ operator: first.operator, operand: first.right })
    first = first.left
  }
  const start = compiler.expression(first, scope)
  const steps = run.map(({ operator, operand }) => ({
    operator,
    at: operand.at,
    ...compiler.expression(operand, scope),
  }))
  if (level === 0) {
    const operands = [first, ...run.map(({ operand }) => operand)]
    const all = [start, ...steps].map((compiled, index) => ({
      ...compiled,
      at: operands[index]?.at ?? 0,
      isUntyped: operands[index]?.kind === 'string',
    }))
    return all.some(({ type }) => type.isArray)
      ? joinArrays(compiler, all, (left, right) => joined(compiler, left, [{ ...right, operator: '||' }]))
      : joined(compiler, start, steps)
  }
  if (level === 1) return summed(compiler, start, steps)
  return steps.reduce((left, step) => multiplied(compiler, left, step), start)
}

/** Negation, as a subtraction from nothing. */
export function negated(compiler: Compiler, operand: Compiled, at: number): Compiled {
  if (/^\d+$/.test(operand.sql)) return { sql: `(-${operand.sql})`, type: { ...scalar(operand.type.scalar) } }
  if (!isNumber(operand.type)) return { sql: `(- ${operand.sql})`, type: operand.type }
  const zero = {
    sql: '0',
    type: { ...scalar('int'), ...(operand.type.isSmall && { isSmall: true as const }) },
  }
  return summed(compiler, zero, [{ ...operand, operator: '-', at }])
}

/** The operators as functions: `plus(a, b)`. */
export function operate(
  compiler: Compiler,
  operator: string,
  left: Compiled,
  right: Compiled,
  at: number,
): Compiled {
  const step = { ...right, operator, at }
  return operator === '+' || operator === '-'
    ? summed(compiler, left, [step])
    : multiplied(compiler, left, step)
}

function summed(compiler: Compiler, start: Compiled, steps: readonly Step[]): Compiled {
  const all = [start, ...steps]
  const common = commonType(all.map(({ type }) => type))
  const flat = (values: readonly string[]) =>
    `(${values.map((value, index) => (index === 0 ? value : ` ${steps[index - 1]?.operator} ${value}`)).join('')})`
  if (all.some(({ type }) => isMoment(type) || type.scalar === 'interval'))
    return moved(compiler, start, steps)
  const marks = marksOf(all.map(({ type }) => type))
  const { isUnsigned: _, ...signed } = common
  const type = steps.some(({ operator }) => operator === '-') ? signed : common
  switch (common.scalar) {
    case 'bool':
    case 'int':
      return { sql: asInt(flat(all.map(({ sql }) => sql)), marks), type: { ...scalar('int'), ...marks } }
    case 'bigint':
      return {
        sql: accurate(flat(all.map(({ sql }) => `toInt128(${sql})`)), 'Int64'),
        type: { ...scalar('bigint'), ...marks },
      }
    case 'numeric':
      return {
        sql: unwrapped(
          all.map(({ sql }) => sql),
          0,
          flat,
        ),
        type,
      }
    case 'decimal':
      return {
        sql: unwrapped(
          all.map((value) => asNumber(value, common)),
          common.scale ?? 0,
          flat,
        ),
        type,
      }
    case 'float':
      return { sql: flat(all.map((value) => asNumber(value, common))), type }
    default:
      return { sql: flat(all.map(({ sql }) => sql)), type: common }
  }
}

/** As PostgreSQL's int, or smallint where all that it is made of are. */
const asInt = (sql: string, { isSmall }: Pick<ValueType, 'isSmall'>): string =>
  accurate(sql, isSmall ? 'Int16' : 'Int32')

/**
 * Times and what is added to them. DateTime ends in 2106 and wraps around, so a time is widened
 * first.
 */
function moved(compiler: Compiler, start: Compiled, steps: readonly Step[]): Compiled {
  const needsWidth = steps.some((step) => step.type.scalar === 'interval')
  let { type } = start
  let sql = needsWidth ? widened(start.sql, start.type) : start.sql
  for (const { operator, sql: own, type: other, at } of steps) {
    if (isMoment(type) && isMoment(other)) {
      if (type.scalar !== 'date' || other.scalar !== 'date')
        throw refused(
          compiler,
          'a time less a time is not supported',
          at,
          'write extract(epoch FROM a) - extract(epoch FROM b)',
        )
      type = scalar('int')
      sql = `toInt32(dateDiff('day', ${own}, ${sql}))`
      continue
    }
    const isLocal =
      [type, other].some((one) => one.scalar === 'date') &&
      [type, other].some((one) => one.scalar === 'interval')
    if (isLocal) type = localTime
    else if (isMoment(other)) type = other
    sql += ` ${operator} ${widened(own, other)}`
  }
  return { sql: `(${sql})`, type }
}

const widened = (sql: string, type: ValueType): string =>
  type.scalar === 'timestamp' ? `toDateTime64(${sql}, 6, 'UTC')` : sql

function multiplied(compiler: Compiler, left: Compiled, right: Step): Compiled {
  const { operator, at } = right
  if (left.type.scalar === 'interval' || right.type.scalar === 'interval')
    throw refused(
      compiler,
      'an interval is not multiplied here',
      at,
      "write INTERVAL '2 months', or to_timestamp(extract(epoch FROM x) + n * 86400)",
    )
  const common = commonType([left.type, right.type])
  const pair = (width: string) =>
    [left, right].map(({ sql }) => `${width}(${sql})`).join(operator === '*' ? ' * ' : ', ')
  const word = operator === '/' ? 'intDiv' : 'modulo'
  const marks = marksOf([left.type, right.type])
  if (operator === '/' && marks.isOwn && (common.scalar === 'int' || common.scalar === 'bigint'))
    return fraction(left, right)
  switch (common.scalar) {
    case 'bool':
    case 'int': {
      const sql = operator === '*' ? `(${pair('toInt64')})` : `${word}(${pair('toInt64')})`
      return { sql: asInt(sql, marks), type: { ...scalar('int'), ...marks } }
    }
    case 'bigint': {
      const sql =
        operator === '*' ? accurate(`(${pair('toInt128')})`, 'Int64') : `${word}(${pair('toInt64')})`
      return { sql, type: { ...scalar('bigint'), ...marks } }
    }
    case 'numeric':
      return multipliedWide(left, right, common)
    case 'decimal':
      return multipliedDecimal(compiler, left, right)
    case 'float': {
      if (operator === '/') return fraction(left, right)
      if (operator === '%') throw refused(compiler, '% is not defined for floats', at, 'use whole numbers')
      const values = [left, right].map((value) => asNumber(value, common))
      return { sql: `(${values.join(' * ')} + 0)`, type: common }
    }
    default:
      return {
        sql: `(${left.sql} ${operator} ${right.sql})`,
        type: operator === '/' ? scalar('float') : common,
      }
  }
}

function multipliedWide(left: Compiled, right: Step, common: ValueType): Compiled {
  if (right.operator === '/') return quotient(left, right)
  if (right.operator === '%') return { sql: wholeDivision('modulo', left, right), type: common }
  const scale = (left.type.scale ?? 0) + (right.type.scale ?? 0)
  const sql = unwrapped([left.sql, right.sql], 0, ([a, b]) => `(${a} * ${b})`)
  return { sql, type: { ...common, ...(scale > 0 && { scale }) } }
}

const DECIMAL_DIGITS_MAX = 76

function multipliedDecimal(compiler: Compiler, left: Compiled, right: Step): Compiled {
  const { operator, at } = right
  const hint = 'cast one side to float8, or divide once, at the end'
  if (operator !== '*')
    throw refused(compiler, `${operator} is not supported for numbers with digits behind the point`, at, hint)
  const scales = [left, right].map(({ type }) => (type.scalar === 'decimal' ? (type.scale ?? 0) : 0))
  const scale = scales.reduce((sum, own) => sum + own, 0)
  if (scale > DECIMAL_DIGITS_MAX) throw refused(compiler, 'too many digits behind the point', at, hint)
  const values = [left, right].map((value, index) => asNumber(value, scaled('decimal', scales[index] ?? 0)))
  // Products of 256 bits wrap around too.
  const sql = unwrapped(values, scale, ([a, b]) => `(${a} * ${b})`)
  return { sql, type: scaled('decimal', scale) }
}

/**
 * PostgreSQL refuses to divide by zero, where the engine answers with an infinity. Products and
 * quotients have a zero added: to PostgreSQL -0 is 0, while the engine groups, joins and intersects
 * by their bits.
 */
const floatQuotient = (dividend: string, divisor: string): string =>
  `(${dividend} / ${bind([divisor], ([x]) => `(${x} * intDiv(1, toUInt8(${x} != 0)))`)} + 0)`

function fraction(...sides: readonly [Compiled, Compiled]): Compiled {
  const [dividend = '', divisor = ''] = sides.map((side) => asNumber(side, scalar('float')))
  return { sql: floatQuotient(dividend, divisor), type: scalar('float') }
}

/** Types whose values `||` writes as PostgreSQL does. */
const joinedAsText: ReadonlySet<string> = new Set([
  'text',
  'int',
  'bigint',
  'numeric',
  'bool',
  'null',
  'unknown',
  'uuid',
])

/**
 * Bytes are joined with bytes, texts with whatever prints alike on both engines; bytes among texts
 * are text.
 */
function joined(compiler: Compiler, start: Compiled, steps: readonly Step[]): Compiled {
  const all = [start, ...steps]
  if (all.some(({ type }) => type.scalar === 'text') && all.some(({ type }) => isBytes(type))) {
    // Bytes joined with bytes, before a text follows, are one value.
    const count = all.findIndex(({ type }) => !isBytes(type))
    const head = count > 1 ? joined(compiler, start, steps.slice(0, count - 1)) : start
    return joined(compiler, withText(head), steps.slice(Math.max(0, count - 1)).map(withText))
  }
  const type =
    commonType(all.map((operand) => operand.type)).scalar === 'bytes' ? varyingBytes : scalar('text')
  const parts = all.map((operand) => {
    const step = steps.find((candidate) => candidate === operand)
    const isText =
      operand.type.scalar === 'text' || operand.type.scalar === 'bytes' || operand.type.scalar === 'null'
    if (
      type.scalar === 'bytes'
        ? !isText
        : !joinedAsText.has(operand.type.scalar) || (operand.type.scale ?? 0) > 0
    )
      throw refused(
        compiler,
        `|| cannot join a value of type ${operand.type.scalar} here`,
        step?.at ?? 0,
        'cast it to text',
      )
    return operand.type.scalar === 'bool' ? `toString(toBool(${operand.sql}))` : operand.sql
  })
  return { sql: `(${parts.join(' || ')})`, type }
}

const isBytes = ({ scalar: type, isArray }: ValueType): boolean => type === 'bytes' && !isArray

const withText = <Operand extends Compiled>(operand: Operand): Operand =>
  isBytes(operand.type) ? { ...operand, sql: hexText(operand.sql), type: scalar('text') } : operand
