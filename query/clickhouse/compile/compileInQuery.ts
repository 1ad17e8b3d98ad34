/**
 * `x IN (SELECT …)`. The engine takes an unknown answer for false: right where only true matters,
 * as in WHERE. Elsewhere the sub-select is asked what makes it unknown: rows beside a NULL, NULLs
 * among the rows, and of pairs what they half match.
 */

import type { Expression, InQueryExpression } from '../parse/ast.ts'
import {
  type Compiled,
  type Compiler,
  invalid,
  type NamedColumn,
  type NameScope,
  refused,
} from './Compiler.ts'
import { asOneNumber, assertOneKind, assertOneWidth, comparable } from './numbers.ts'
import { commonType, scalar } from './valueType.ts'

export function compileInQuery(
  compiler: Compiler,
  expression: InQueryExpression,
  scope: NameScope,
): Compiled {
  const { isNot } = expression
  const { sql: rows, columns } = compiler.withOuter(undefined).query(expression.query)
  const [column] = columns
  const own = compiler.expression(expression.operand, scope)
  const operands =
    expression.operand.kind === 'tuple'
      ? expression.operand.items.map((item) => compiler.expression(item, scope))
      : [own]
  if (
    own.type.scalar !== 'unknown' &&
    columns.length !== operands.length &&
    (operands.length > 1 || own.type.scalar !== 'record')
  )
    throw invalid(
      compiler,
      `the sub-select has ${columns.length} columns where ${operands.length} are compared`,
      expression.query.at,
    )
  const pairs = operands.map((operand, index) => [operand, ...columns.slice(index, index + 1)])
  for (const pair of pairs) {
    assertOneKind(compiler, pair, () => expression.operand.at)
    assertOneWidth(compiler, pair, () => expression.operand.at)
  }
  const isSingle = columns.length === 1 && column !== undefined
  const isIn = isSingle ? memberOf(own, column, rows) : rowOf(own, pairs, rows)
  if (!isNot && compiler.conditions.has(expression)) return { sql: `(${isIn})`, type: scalar('bool') }
  const unknown = isSingle
    ? `${asked(`countIf(isNull(${column.sql}))`, rows)} OR (isNull(${own.sql}) AND ${asked('count()', rows)})`
    : pairUnknown(pairOf(compiler, expression, scope), columns, rows)
  const known = `multiIf(ifNull(${isIn}, 0), true, ${unknown}, NULL, false)`
  return { sql: `(${isNot ? 'NOT ' : ''}${known})`, type: scalar('bool') }
}

/** The engine puts the rows into the type of the value, and cuts their digits or its own. */
function ofOneKind(pair: readonly Compiled[]): readonly Compiled[] {
  const common = commonType(pair.map(({ type }) => type))
  const hasDigits = common.scalar === 'decimal' || common.scalar === 'float'
  return hasDigits ? asOneNumber(pair, common) : comparable(pair)
}

/** Whether the value is one of the column's; the rows have no other columns. */
function memberOf(own: Compiled, column: NamedColumn, rows: string): string {
  const [operand = own, value = column] = ofOneKind([own, column])
  const values = value.sql === column.sql ? rows : `SELECT ${value.sql} AS x FROM (${rows})`
  return `${operand.sql} IN (${values})`
}

/** Whether the row of values is one of the rows. */
function rowOf(own: Compiled, pairs: readonly (readonly Compiled[])[], rows: string): string {
  const alike = pairs.map(ofOneKind)
  if (alike.flat().every(({ sql }, index) => sql === pairs.flat()[index]?.sql))
    return `${own.sql} IN (${rows})`
  const values = alike.map(([, column], index) => `${column?.sql} AS x${index}`).join(', ')
  return `tuple(${alike.map(([operand]) => operand?.sql).join(', ')}) IN (SELECT ${values} FROM (${rows}))`
}

const asked = (what: string, rows: string): string => `ifNull((SELECT ${what} FROM (${rows})), 0) > 0`

type Pair<Item> = readonly [Item, Item]

function pairOf(compiler: Compiler, { operand, at }: InQueryExpression, scope: NameScope): Pair<Compiled> {
  const items: readonly Expression[] = operand.kind === 'tuple' ? operand.items : []
  const [first, second] = items.map((item) => compiler.expression(item, scope))
  if (items.length === 2 && first && second) return [first, second]
  throw refused(
    compiler,
    'more than two values IN a sub-select may only stand as a condition, without NOT',
    at,
    'write NOT EXISTS (SELECT 1 FROM … WHERE …)',
  )
}

/** Whether a row has, for each of the two, an equal value or a NULL on either side. */
function pairUnknown([a, b]: Pair<Compiled>, columns: readonly NamedColumn[], rows: string): string {
  const [c, d] = columns
  if (!c || !d) return 'false'
  const isNull = ({ sql }: Compiled) => `isNull(${sql})`
  const among = (own: Compiled, column: NamedColumn, where: string) =>
    `ifNull(${memberOf(own, column, `SELECT ${column.sql} FROM (${rows}) WHERE ${where}`)}, 0)`
  return [
    `(${isNull(a)} AND ${isNull(b)} AND ${asked('count()', rows)})`,
    `(${isNull(a)} AND ${asked(`countIf(${isNull(d)})`, rows)})`,
    `(${isNull(b)} AND ${asked(`countIf(${isNull(c)})`, rows)})`,
    asked(`countIf(${isNull(c)} AND ${isNull(d)})`, rows),
    `(${isNull(b)} AND ${among(a, c, 'true')})`,
    `(${isNull(a)} AND ${among(b, d, 'true')})`,
    among(a, c, isNull(d)),
    among(b, d, isNull(c)),
  ].join(' OR ')
}
