/**
 * `ORDER BY … WITH FILL`. The engine takes bounds of the filled column's very type alone, so around
 * the query that column is cast to the widest type of its kind, and so are its bounds.
 */

import type { Expression, Fill, Interpolated, OrderItem, Query } from '../../parse/ast.ts'
import {
  type Compiled,
  type CompiledQuery,
  type Compiler,
  invalid,
  type NamedColumn,
  nothingNamed,
  refused,
} from '../Compiler.ts'
import { accurate } from '../numbers.ts'
import { isMoment, type Scalar, scalar, type ValueType } from '../valueType.ts'
import { directionSql } from './compileSelect.ts'
import { asTime, intervalOf } from './compileSeries.ts'

/** The rows of `body` in the query's order, and those that are made between them. */
export function compileFilled(compiler: Compiler, query: Query, body: CompiledQuery): CompiledQuery {
  const alias = `t${compiler.nextNumber()}`
  const keys = query.orderBy.map((item) => ({ item, index: indexOf(compiler, item, body.columns) }))
  const fills = new Map(keys.flatMap(({ item, index }) => (item.fill ? [[index, item.fill] as const] : [])))
  const columns = body.columns.map((column, index) => {
    const own = { sql: `${alias}.${column.sql}`, type: column.type }
    const fill = fills.get(index)
    const { sql, type } = fill ? widened(compiler, own, own.type, fill.at) : own
    return { ...column, type, value: sql }
  })
  const order = keys.map(({ item, index }) => orderItem(compiler, item, index, columns))
  const interpolated =
    query.interpolated?.length === 0 ? othersOf(columns, fills) : (query.interpolated ?? [])
  const items = columns.map(({ value, sql }) => `${value} AS ${sql}`).join(', ')
  const clauses = ` ORDER BY ${order.join(', ')}${interpolateSql(compiler, interpolated, columns)}`
  return {
    sql: `SELECT ${items} FROM (${body.sql}) AS ${alias}${clauses}`,
    columns: columns.map(({ name, sql, type }) => ({ name, sql, type })),
  }
}

/** Index of the column that an item of ORDER BY names, by number or name. */
function indexOf(
  compiler: Compiler,
  { expression, fill }: OrderItem,
  columns: readonly NamedColumn[],
): number {
  const index =
    expression.kind === 'number'
      ? Number(expression.text) - 1
      : columns.findIndex(({ name }) => name.toLowerCase() === nameOf(expression))
  if (columns[index]) return index
  throw refused(
    compiler,
    'a query WITH FILL is ordered by columns of its select list',
    fill?.at ?? expression.at,
    'name the expression in the select list, and order by the name',
  )
}

const nameOf = (expression: Expression): string | undefined =>
  expression.kind === 'column' ? expression.path.at(-1)?.text.toLowerCase() : undefined

function orderItem(
  compiler: Compiler,
  item: OrderItem,
  index: number,
  columns: readonly NamedColumn[],
): string {
  const { fill, isDescending } = item
  const type = columns[index]?.type
  const filled = fill && type ? fillSql(compiler, fill, type, isDescending) : ''
  return `${index + 1} ${directionSql(item)}${filled}`
}

function fillSql(compiler: Compiler, fill: Fill, type: ValueType, isDescending: boolean): string {
  const bound = (word: string, expression: Expression | undefined) => {
    if (!expression) return ''
    const value = compiler.expression(isMoment(type) ? asTime(expression) : expression, nothingNamed)
    if (isMoment(type) !== isMoment(value.type))
      throw invalid(
        compiler,
        `${word} is ${value.type.scalar}, and what it fills is ${type.scalar}`,
        expression.at,
      )
    return ` ${word} ${widened(compiler, value, type, expression.at).sql}`
  }
  const step = isMoment(type)
    ? timeStep(compiler, fill, isDescending)
    : fill.step && widened(compiler, compiler.expression(fill.step, nothingNamed), type, fill.at).sql
  return ` WITH FILL${bound('FROM', fill.from)}${bound('TO', fill.to)}${step ? ` STEP ${step}` : ''}`
}

function timeStep(compiler: Compiler, { step, at }: Fill, isDescending: boolean): string {
  const interval = step && intervalOf(step)
  if (interval) return `INTERVAL ${interval.amount} ${interval.unit.toUpperCase()}`
  const example = `INTERVAL ${isDescending ? -1 : 1} HOUR`
  throw refused(
    compiler,
    'times are filled in steps of an interval',
    step?.at ?? at,
    `write WITH FILL STEP ${example}`,
  )
}

const engineTypes: Partial<Readonly<Record<Scalar, string>>> = {
  int: 'Int32',
  bigint: 'Int64',
  numeric: 'Int256',
  float: 'Float64',
}

/** The value as the type that a column of its kind is filled in. */
function widened(compiler: Compiler, { sql }: Compiled, type: ValueType, at: number): Compiled {
  const engineType = engineTypes[type.scalar]
  if (type.isArray || (engineType === undefined && !isMoment(type)))
    throw refused(compiler, 'WITH FILL fills numbers, dates and times', at)
  if (type.scalar === 'timestamp') return { sql: `toDateTime64(${sql}, 6, 'UTC')`, type }
  if (engineType === undefined) return { sql: `toDate32(${sql})`, type }
  return { sql: accurate(sql, engineType), type: scalar(type.scalar) }
}

/** Every column that is not filled itself. */
const othersOf = (
  columns: readonly NamedColumn[],
  fills: ReadonlyMap<number, Fill>,
): readonly Interpolated[] =>
  columns.flatMap(({ name }, index) =>
    fills.has(index) ? [] : [{ name: { text: name, at: 0 }, expression: undefined }],
  )

function interpolateSql(
  compiler: Compiler,
  interpolated: readonly Interpolated[],
  columns: readonly NamedColumn[],
): string {
  if (interpolated.length === 0) return ''
  const scope = { ...nothingNamed, sources: [{ name: undefined, columns }] }
  const printed = interpolated.map(({ name, expression }) => {
    const column = columns.find((one) => one.name.toLowerCase() === name.text.toLowerCase())
    if (!column) throw invalid(compiler, `there is no column "${name.text}" in the select list`, name.at)
    return `${column.sql} AS ${expression ? compiler.expression(expression, scope).sql : column.sql}`
  })
  return ` INTERPOLATE (${printed.join(', ')})`
}
