/** A whole query: CTEs, set operations, ORDER BY and LIMIT over all of it. */

import { textOfBytesHint } from '../../../text.ts'
import type { Cte, Query, SetExpression } from '../../parse/ast.ts'
import type { CompiledQuery, Compiler, NamedColumn, NameScope } from '../Compiler.ts'
import { invalid, nothingNamed, refused } from '../Compiler.ts'
import { asOneNumber, assertOneWidth, comparable } from '../numbers.ts'
import { chosenBytes, commonType, knownWidth, scalar, type ValueType } from '../valueType.ts'
import { compileFilled } from './compileFill.ts'
import { compileSelect, orderSql } from './compileSelect.ts'

/** `rowsMax` caps the LIMIT of the outermost query; a smaller one of its own stays. */
export function compileQuery(outer: Compiler, query: Query, rowsMax?: number): CompiledQuery {
  const { compiler, clause } = compileCtes(outer, query.ctes)
  const body = compileBody(compiler, query, rowsMax !== undefined)
  return { sql: `${clause}${body.sql}${limitSql(query, rowsMax)}`, columns: body.columns }
}

function compileCtes(outer: Compiler, ctes: readonly Cte[]): { compiler: Compiler; clause: string } {
  if (ctes.length === 0) return { compiler: outer, clause: '' }
  let compiler = outer
  const printed: string[] = []
  for (const cte of ctes) {
    const { sql, columns } = compiler.query(cte.query)
    const name = `c${compiler.nextNumber()}`
    printed.push(`${name} AS (${sql})`)
    const entry = { sql: name, columns: renamed(compiler, cte, columns) }
    compiler = compiler.withCtes(new Map([...compiler.ctes, [cte.name.text.toLowerCase(), entry]]))
  }
  return { compiler, clause: `WITH ${printed.join(', ')} ` }
}

function renamed(
  compiler: Compiler,
  { name, columns: names }: Cte,
  columns: readonly NamedColumn[],
): readonly NamedColumn[] {
  if (!names) return columns
  if (names.length > columns.length) {
    throw invalid(compiler, `"${name.text}" names ${names.length} columns of ${columns.length}`, name.at)
  }
  return columns.map((column, index) => ({ ...column, name: names[index]?.text ?? column.name }))
}

function compileBody(compiler: Compiler, query: Query, hasLimit: boolean): CompiledQuery {
  const { body, orderBy, limitBy } = query
  if (orderBy.some(({ fill }) => fill)) return compileFilled(compiler, query, unordered(compiler, query))
  if (body.kind === 'select') return compileSelect(compiler, body, { orderBy, limitBy })
  if (limitBy) throw invalid(compiler, 'LIMIT BY needs a SELECT of its own', query.at)
  const set = compileSet(compiler, body)
  const isBare = orderBy.length === 0 && query.limit === undefined && query.offset === undefined && !hasLimit
  if (isBare) return set
  // The engine gives ORDER BY and LIMIT after a set operation to its last SELECT; here they mean
  // all of it.
  const alias = `t${compiler.nextNumber()}`
  const columns = set.columns.map((column) => ({ ...column, sql: `${alias}.${column.sql}` }))
  const scope: NameScope = { ...nothingNamed, sources: [{ name: undefined, columns }], outer: compiler.outer }
  const items = set.columns.map((column) => `${alias}.${column.sql} AS ${column.sql}`).join(', ')
  const order = orderSql(compiler, orderBy, scope, undefined)
  return { sql: `SELECT ${items} FROM (${set.sql}) AS ${alias}${order}`, columns: set.columns }
}

/** The rows before they are ordered and filled. */
function unordered(compiler: Compiler, { body, limitBy, at }: Query): CompiledQuery {
  if (limitBy || (body.kind === 'select' && body.distinctOn.length > 0))
    throw refused(compiler, 'WITH FILL stands alone: put DISTINCT ON and LIMIT BY into a sub-select', at)
  return compileSet(compiler, body)
}

function compileSet(compiler: Compiler, expression: SetExpression): CompiledQuery {
  if (expression.kind === 'select') {
    return compileSelect(compiler, expression, { orderBy: [], limitBy: undefined })
  }
  if (expression.kind === 'nested') return compiler.query(expression.query)
  const left = compileSet(compiler, expression.left)
  const right = compileSet(compiler, expression.right)
  if (left.columns.length !== right.columns.length) {
    throw invalid(
      compiler,
      `both sides of ${expression.operator} need the same number of columns`,
      expression.at,
    )
  }
  const words = `${expression.operator} ${expression.isAll ? 'ALL' : 'DISTINCT'}`
  const types = left.columns.map((column, index) => {
    const other = right.columns[index]?.type ?? column.type
    const pair = [column.type, other].map((type) => ({ sql: '', type }))
    const at = placeOf(expression.right, index) ?? expression.at
    if (!expression.operator.startsWith('UNION')) assertOneWidth(compiler, pair, () => at)
    return columnType(compiler, column.type, other, at)
  })
  return {
    sql: `(${cast(compiler, left, types)}) ${words} (${cast(compiler, right, types)})`,
    columns: left.columns.map((column, index) => ({ ...column, type: types[index] ?? column.type })),
  }
}

/** Place of a side's column in the text, where the column is written out. */
function placeOf(side: SetExpression, index: number): number | undefined {
  if (side.kind === 'set') return placeOf(side.left, index)
  if (side.kind === 'nested') return placeOf(side.query.body, index)
  return side.items.some(({ kind }) => kind === 'star') ? side.at : side.items[index]?.at
}

function columnType(compiler: Compiler, left: ValueType, right: ValueType, at: number): ValueType {
  const common = commonType([left, right])
  const isKnown = ![left.scalar, right.scalar].some((type) => type === 'unknown' || type === 'record')
  if (isKnown && (common.scalar === 'unknown' || (common.scalar === 'bytes' && left.scalar !== right.scalar)))
    if (left.scalar !== 'null' && right.scalar !== 'null')
      throw invalid(
        compiler,
        `a column is ${left.scalar} on one side and ${right.scalar} on the other`,
        at,
        common.scalar === 'bytes' ? textOfBytesHint : undefined,
      )
  // The engine would make a Variant of UInt64 beside Int64.
  if (common.scalar === 'bigint' && left.scalar !== right.scalar && !common.isArray) return scalar('bigint')
  const isOneForm =
    [left, right].some(({ scalar }) => scalar === 'null') || left.isVarying === right.isVarying
  // The engine would make Strings of both forms, without their last zero bytes.
  return common.scalar === 'bytes' && !common.isArray && !isOneForm ? chosenBytes(knownWidth(common)) : common
}

/** One side with its numbers as the type of both. */
function cast(compiler: Compiler, side: CompiledQuery, types: readonly ValueType[]): string {
  const printed = (prefix: string) =>
    side.columns.map((column, index) => {
      const type = types[index] ?? column.type
      const own = { ...column, sql: `${prefix}${column.sql}` }
      if (type.scalar === 'bytes') return comparable([own, { sql: '', type }])[0]?.sql ?? own.sql
      return asOneNumber([own, { sql: '', type }], type)[0]?.sql ?? own.sql
    })
  if (printed('').every((sql, index) => sql === side.columns[index]?.sql)) return side.sql
  const alias = `t${compiler.nextNumber()}`
  const items = printed(`${alias}.`).map((sql, index) => `${sql} AS ${side.columns[index]?.sql}`)
  return `SELECT ${items.join(', ')} FROM (${side.sql}) AS ${alias}`
}

function limitSql({ limit, offset }: Query, rowsMax: number | undefined): string {
  const count = rowsMax === undefined ? limit : Math.min(limit ?? rowsMax, rowsMax)
  return `${count === undefined ? '' : ` LIMIT ${count}`}${offset === undefined ? '' : ` OFFSET ${offset}`}`
}
