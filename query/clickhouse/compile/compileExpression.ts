/**
 * Expressions: names resolved, functions and types checked, '0x…' made bytes, printed with every
 * bracket. The result also says what the values are (valueType.ts).
 */

import type { BetweenExpression, CaseExpression, Expression } from '../parse/ast.ts'
import { type Compiled, type Compiler, type NameScope, refused, resolveColumn } from './Compiler.ts'
import { compileCall } from './calls/compileCall.ts'
import { compileExtract } from './compileExtract.ts'
import { compileInQuery } from './compileInQuery.ts'
import { demanded } from './demanded.ts'
import { alternatives } from './numbers.ts'
import { negated } from './operators/compileArithmetic.ts'
import { compileElement, isAbsent } from './operators/compileArray.ts'
import { compileCast } from './operators/compileCast.ts'
import { compileBinary, compileInList, compileOperands } from './operators/compileComparison.ts'
import { compileNumber, compileString } from './operators/compileConstant.ts'
import { compileQuantified } from './operators/compileQuantified.ts'
import { arrayOf, commonType, scalar } from './valueType.ts'

export function compileExpression(compiler: Compiler, expression: Expression, scope: NameScope): Compiled {
  const compile = (inner: Expression) => compiler.expression(inner, scope)
  switch (expression.kind) {
    case 'number':
      return compileNumber(compiler, expression)
    case 'string':
      return compileString(compiler, expression)
    case 'boolean':
      return { sql: String(expression.value), type: scalar('bool') }
    case 'null':
      return { sql: 'NULL', type: scalar('null') }
    case 'column':
      return resolveColumn(compiler, expression.path, scope)
    case 'call':
      return compileCall(compiler, expression, scope)
    case 'lambda':
      throw refused(compiler, 'a lambda is allowed as an argument of an array function only', expression.at)
    case 'logic': {
      const operands = expression.operands.map((operand) => compile(operand).sql)
      return { sql: `(${operands.join(` ${expression.word} `)})`, type: scalar('bool') }
    }
    case 'unary':
      return expression.word === '-'
        ? (leastNumber(expression.operand) ?? negated(compiler, compile(expression.operand), expression.at))
        : { sql: `(NOT ${compile(expression.operand).sql})`, type: scalar('bool') }
    case 'binary':
      return compileBinary(compiler, expression, scope)
    case 'between':
      return compileBetween(compiler, expression, scope)
    case 'inList':
      return compileInList(compiler, expression, scope)
    case 'inQuery':
      return compileInQuery(compiler, expression, scope)
    case 'quantified':
      return compileQuantified(compiler, expression, scope)
    case 'isNull': {
      const operand = compile(expression.operand)
      const sql = operand.type.isArray
        ? `(${expression.isNot ? 'NOT ' : ''}${isAbsent(operand)})`
        : `(${operand.sql} IS ${expression.isNot ? 'NOT ' : ''}NULL)`
      return { sql, type: scalar('bool') }
    }
    case 'query':
      return compileSubquery(compiler, expression, scope)
    case 'case':
      return compileCase(compiler, expression, scope)
    case 'cast':
      return compileCast(compiler, expression, scope)
    case 'array': {
      const items = alternatives(compileOperands(compiler, expression.items, scope))
      const type = arrayOf(commonType(items.map((item) => item.type)))
      return { sql: `[${items.map((item) => item.sql).join(', ')}]`, type }
    }
    case 'tuple': {
      const items = expression.items.map(compile)
      return { sql: `tuple(${items.map((item) => item.sql).join(', ')})`, type: scalar('record') }
    }
    case 'element':
      return compileElement(compiler, expression, scope)
    case 'field':
      return {
        sql: `tupleElement(${compile(expression.operand).sql}, ${expression.index})`,
        type: scalar('unknown'),
      }
    case 'interval':
      return compileInterval(compiler, expression, scope)
    case 'extract':
      return compileExtract(compiler, expression, scope)
  }
}

/** The least whole number of a type, which without its sign is of a wider one. */
function leastNumber(operand: Expression): Compiled | undefined {
  const type = operand.kind === 'number' ? leastNumbers.get(operand.text) : undefined
  return type && operand.kind === 'number' ? { sql: `(-${operand.text})`, type: scalar(type) } : undefined
}

const leastNumbers: ReadonlyMap<string, 'int' | 'bigint'> = new Map([
  ['2147483648', 'int'],
  ['9223372036854775808', 'bigint'],
])

function compileBetween(compiler: Compiler, expression: BetweenExpression, scope: NameScope): Compiled {
  const operands = [expression.operand, expression.low, expression.high]
  const [operand = '', low = '', high = ''] = compileOperands(compiler, operands, scope).map(({ sql }) => sql)
  const word = expression.isNot ? 'NOT BETWEEN' : 'BETWEEN'
  const within = (from: string, to: string) => `(${operand} ${word} ${from} AND ${to})`
  if (!expression.isSymmetric) return { sql: within(low, high), type: scalar('bool') }
  const either = expression.isNot ? 'AND' : 'OR'
  return { sql: `(${within(low, high)} ${either} ${within(high, low)})`, type: scalar('bool') }
}

function compileSubquery(
  compiler: Compiler,
  expression: Extract<Expression, { kind: 'query' }>,
  scope: NameScope,
): Compiled {
  // The engine answers a scalar sub-select that counts nothing with NULL when it depends on the
  // row: only EXISTS may.
  const outer = expression.isExists ? scope : undefined
  const { sql, columns } = compiler.withOuter(outer).query(expression.query)
  if (expression.isExists) return { sql: `exists(${sql})`, type: scalar('bool') }
  const [column] = columns
  return { sql: `(${sql})`, type: columns.length === 1 && column ? column.type : scalar('record') }
}

/** CASE in both forms. The form with a subject compares once per branch, as SQL defines it. */
function compileCase(compiler: Compiler, expression: CaseExpression, scope: NameScope): Compiled {
  const { subject, branches, otherwise, at } = expression
  const last: Expression = otherwise ?? { kind: 'null', at }
  const given = [...branches.map(({ result }) => result), last]
  const results = alternatives(compileOperands(compiler, given, scope))
  const printed = branches.map(({ when }, index) => {
    const condition: Expression = subject
      ? { kind: 'binary', operator: '=', left: subject, right: when, at }
      : when
    return `WHEN ${compiler.expression(condition, scope).sql} THEN ${results[index]?.sql}`
  })
  const type = commonType(results.map((result) => result.type))
  return { sql: `(CASE ${printed.join(' ')} ELSE ${results.at(-1)?.sql} END)`, type }
}

/** Units of an interval, in days at least. */
const intervalUnits: ReadonlyMap<string, number> = new Map([
  ['SECOND', 1 / 86_400],
  ['MINUTE', 1 / 1_440],
  ['HOUR', 1 / 24],
  ['DAY', 1],
  ['WEEK', 7],
  ['MONTH', 28],
  ['QUARTER', 84],
  ['YEAR', 365],
])
/** From the times of blocks no interval leads past the year 9999, where the engine's times end. */
const INTERVAL_DAYS_MAX = 7_000 * 365

function compileInterval(
  compiler: Compiler,
  expression: Extract<Expression, { kind: 'interval' }>,
  scope: NameScope,
): Compiled {
  const unit = expression.unit.toUpperCase().replace(/S$/, '')
  const days = intervalUnits.get(unit)
  if (days === undefined)
    throw refused(compiler, `${expression.unit} is no unit of an interval`, expression.at)
  const amountMax = Math.floor(INTERVAL_DAYS_MAX / days)
  return {
    sql: `(INTERVAL ${amountSql(compiler, expression.amount, amountMax, scope)} ${unit})`,
    type: scalar('interval'),
  }
}

function amountSql(compiler: Compiler, amount: Expression, amountMax: number, scope: NameScope): string {
  const { sql } = compiler.expression(amount, scope)
  if (amount.kind !== 'number') return demanded(`abs(${sql}) <= ${amountMax}`, 'longInterval', sql)
  if (Number(amount.text) > amountMax)
    throw refused(
      compiler,
      'an interval is at most seven thousand years long',
      amount.at,
      "write INTERVAL '30 years'",
    )
  return sql
}
