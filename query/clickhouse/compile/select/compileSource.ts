/**
 * FROM: relations of the catalog become sub-selects of their views, CTEs and sub-selects get unique
 * names, joins.
 */

import type { BlockRange } from '#ingest/range.ts'
import type { KeyTerm } from '../../../decoded/keyTerms.ts'
import type { RelationColumn } from '../../../logicalType.ts'
import type { BoundRelation, Catalog } from '../../../relations/catalog.ts'
import { tableHint } from '../../../words/hints.ts'
import type { FromItem, Join, Name, Select } from '../../parse/ast.ts'
import {
  type Compiler,
  invalid,
  type NamedColumn,
  type NameScope,
  quoteName,
  refused,
  type ScopeSource,
} from '../Compiler.ts'
import { decodedSelect } from '../decoded/decodedSelect.ts'
import { findKeyTerms, type KeyTerms } from '../decoded/keyTerms.ts'
import { assertOneKind, assertOneWidth, comparable } from '../numbers.ts'
import { absentWhenEmpty, elementOf, scalar, unsigned, type ValueType, varyingBytes } from '../valueType.ts'
import { compileSeries } from './compileSeries.ts'

/** FROM as it is sent, and the names it brings. */
export interface CompiledFrom {
  readonly sql: string
  readonly sources: readonly ScopeSource[]
  readonly merged: readonly NamedColumn[]
}

/** `scopeOf` makes the scope in which ON and ARRAY JOIN are read. */
export function compileFrom(
  compiler: Compiler,
  select: Select,
  scopeOf: (from: Omit<CompiledFrom, 'sql'>) => NameScope,
): CompiledFrom {
  if (!select.from) return { sql: '', sources: [], merged: [] }
  const terms = findKeyTerms(compiler, select)
  const first = compileSource(compiler, select.from, terms)
  let sql = ` FROM ${first.sql}`
  let sources: ScopeSource[] = [first.source]
  let merged: NamedColumn[] = []
  for (const join of select.joins) {
    if (join.kind === 'arrayJoin') {
      const arrays = compileArrayJoin(compiler, join, scopeOf({ sources, merged }))
      sql += arrays.sql
      sources = [...sources, arrays.source]
      continue
    }
    const right = compileSource(compiler, join.source, terms)
    assertNewName(compiler, sources, right.source, join.source)
    const pairs = (join.using ?? []).map((name) =>
      usingPair(compiler, name, sources, right.source, join.side),
    )
    merged = [...merged, ...pairs.map((pair) => pair.column)]
    const isLeftOptional = join.side === 'RIGHT' || join.side === 'FULL'
    const isRightOptional = join.side === 'LEFT' || join.side === 'FULL'
    sources = [
      ...(isLeftOptional ? sources.map(withAbsentArrays) : sources),
      isRightOptional ? withAbsentArrays(right.source) : right.source,
    ]
    sql += ` ${joinWords(compiler, join)} ${right.sql}`
    if (join.on) sql += ` ON ${compiler.expression(join.on, scopeOf({ sources, merged })).sql}`
    if (join.using) sql += ` ON ${pairs.map((pair) => pair.condition).join(' AND ')}`
  }
  return { sql, sources, merged }
}

interface CompiledSource {
  readonly sql: string
  readonly source: ScopeSource
}

function compileSource(compiler: Compiler, source: FromItem, terms: KeyTerms): CompiledSource {
  const alias = `t${compiler.nextNumber()}`
  if (source.kind === 'query') {
    const { sql, columns } = compiler.query(source.query)
    return named(`(${sql})`, alias, source.alias?.text, renamed(compiler, source, columns))
  }
  if (source.kind === 'series') {
    const { sql, type } = compileSeries(compiler, source)
    const called = source.alias?.text ?? source.name
    const column = source.columns[0]?.text ?? (source.name === 'numbers' ? 'number' : called)
    return named(`(${sql})`, alias, called, [{ name: column, sql: 'n', type }])
  }
  const name = source.alias?.text ?? source.name.text
  const cte = compiler.ctes.get(source.name.text.toLowerCase())
  if (cte) return named(cte.sql, alias, name, renamed(compiler, source, cte.columns))
  const relation = compiler.catalog.get(source.name.text.toLowerCase())
  if (!relation) throw unknownRelation(compiler, source.name)
  compiler.relations.add(relation.name)
  const columns = relation.columns.map((column) => ({
    name: column.name,
    sql: quoteName(column.name),
    type: columnType(relation, column),
  }))
  const sql = `(${relationSelect(compiler, relation, terms.get(source) ?? [])})`
  return named(sql, alias, name, renamed(compiler, source, columns))
}

/** The first columns by the names of `AS t(a, b)`. */
function renamed(
  compiler: Compiler,
  { columns: names, at }: FromItem,
  columns: readonly NamedColumn[],
): readonly NamedColumn[] {
  if (names.length > columns.length)
    throw invalid(compiler, `${names.length} names are given to ${columns.length} columns`, at)
  return columns.map((column, index) => ({ ...column, name: names[index]?.text ?? column.name }))
}

const wholeTypes: ReadonlySet<string> = new Set(['bigint', 'numeric'])

/**
 * Type of a column. Whole numbers of views are never below zero (transform/tables.ts; `leg` is an
 * int).
 */
function columnType({ source }: BoundRelation, { name, type, width, isSmall }: RelationColumn): ValueType {
  if (isSmall) return { ...scalar(type), isSmall }
  if (type === 'bytes' && width !== undefined) return { ...scalar(type), width }
  if (type === 'bytes') return source.kind === 'view' ? varyingBytes : scalar(type)
  if (!wholeTypes.has(type) || source.kind === 'derived') return scalar(type)
  const parameter =
    source.kind === 'decoded' ? source.table.parameters.find((one) => one.name === name) : undefined
  return parameter && parameter.abi.kind !== 'uint' ? scalar(type) : unsigned(type)
}

/**
 * Columns are always sent with the source's own unique name, so that no name of the select list can
 * shadow them.
 */
function named(
  sql: string,
  alias: string,
  name: string | undefined,
  columns: readonly NamedColumn[],
): CompiledSource {
  const qualified = columns.map((column) => ({ ...column, sql: `${alias}.${column.sql}` }))
  return { sql: `${sql} AS ${alias}`, source: { name, columns: qualified } }
}

/** The sub-select that a relation stands for: its listed columns, within its covered blocks. */
function relationSelect(compiler: Compiler, relation: BoundRelation, terms: readonly KeyTerm[]): string {
  const { columns, source, blockColumn, ranges } = relation
  const isBounded = source.kind !== 'derived' && blockColumn !== null && ranges !== undefined
  const where = isBounded ? ` WHERE ${within(quoteName(blockColumn), ranges)}` : ''
  // A decoded table has the columns that the query uses.
  const listed = source.kind === 'decoded' ? '*' : columns.map((column) => quoteName(column.name)).join(', ')
  return `SELECT ${listed} FROM ${rowsSql(compiler, relation, terms)}${where}`
}

function rowsSql(compiler: Compiler, { name, source }: BoundRelation, terms: readonly KeyTerm[]): string {
  const { catalog, isMentioned } = compiler
  switch (source.kind) {
    case 'view':
      return `${quoteName(source.schema)}.${quoteName(source.name)}`
    case 'decoded':
      return `(${decodedSelect(source.schema, source.table, terms, isMentioned)}) AS ${quoteName(name)}`
    case 'derived':
      return `(${source.sql((of) => `(${relationSelect(compiler, relationOf(catalog, of), [])})`)}) AS ${quoteName(name)}`
  }
}

function relationOf(catalog: Catalog, name: string): BoundRelation {
  const relation = catalog.get(name)
  if (!relation) throw new TypeError(`a relation is derived from ${name}, which the catalog does not have`)
  return relation
}

function within(column: string, ranges: readonly BlockRange[]): string {
  if (ranges.length === 0) return 'false'
  return ranges.map(({ from, to }) => `(${column} BETWEEN ${from} AND ${to})`).join(' OR ')
}

function unknownRelation(compiler: Compiler, name: Name): Error {
  return invalid(
    compiler,
    `there is no table "${name.text}"`,
    name.at,
    tableHint(name.text, compiler.catalog),
  )
}

function assertNewName(
  compiler: Compiler,
  sources: readonly ScopeSource[],
  { name }: ScopeSource,
  { at }: FromItem,
): void {
  if (name === undefined) return
  const isTaken = sources.some((source) => source.name?.toLowerCase() === name.toLowerCase())
  if (isTaken)
    throw invalid(compiler, `the table name "${name}" is used twice`, at, 'give one of them an alias')
}

/** The engine makes arrays without elements for rows that the other side has alone. */
const withAbsentArrays = ({ name, columns }: ScopeSource): ScopeSource => ({
  name,
  columns: columns.map((column) => ({ ...column, type: absentWhenEmpty(column.type) })),
})

type TableJoin = Extract<Join, { kind: 'join' }>

function joinWords(compiler: Compiler, { side, strictness, source, using }: TableJoin): string {
  if (side === 'CROSS') return 'CROSS JOIN'
  if (strictness === 'ASOF' && using) throw refused(compiler, 'ASOF JOIN needs ON', source.at)
  if (strictness === 'ASOF' && side !== 'INNER' && side !== 'LEFT') {
    throw refused(compiler, `ASOF ${side} JOIN is not allowed`, source.at)
  }
  return `${side} ${strictness ? `${strictness} ` : ''}JOIN`
}

/**
 * A column of USING as a condition; its values are the left side's, the right's where only that
 * exists.
 */
function usingPair(
  compiler: Compiler,
  name: Name,
  left: readonly ScopeSource[],
  right: ScopeSource,
  side: TableJoin['side'],
): { readonly column: NamedColumn; readonly condition: string } {
  const find = (sources: readonly ScopeSource[]) =>
    sources.flatMap(({ columns }) =>
      columns.filter((column) => column.name.toLowerCase() === name.text.toLowerCase()),
    )
  const [leftColumn] = find(left)
  const [rightColumn] = find([right])
  if (!leftColumn || !rightColumn) throw invalid(compiler, `both sides need a column "${name.text}"`, name.at)
  assertOneKind(compiler, [leftColumn, rightColumn], () => name.at)
  assertOneWidth(compiler, [leftColumn, rightColumn], () => name.at)
  const values: Readonly<Record<TableJoin['side'], string>> = {
    INNER: leftColumn.sql,
    CROSS: leftColumn.sql,
    LEFT: leftColumn.sql,
    RIGHT: rightColumn.sql,
    FULL: `coalesce(${leftColumn.sql}, ${rightColumn.sql})`,
  }
  const column = { name: leftColumn.name, sql: values[side], type: leftColumn.type }
  return {
    column,
    condition: comparable([leftColumn, rightColumn])
      .map(({ sql }) => sql)
      .join(' = '),
  }
}

function compileArrayJoin(
  compiler: Compiler,
  { items, isLeft }: Extract<Join, { kind: 'arrayJoin' }>,
  scope: NameScope,
): CompiledSource {
  const columns: NamedColumn[] = []
  const printed = items.map(({ expression, alias }) => {
    const { sql, type } = compiler.expression(expression, scope)
    const name = quoteName(`a${compiler.nextNumber()}`)
    columns.push({ name: alias.text, sql: name, type: elementOf(type) })
    return `${sql} AS ${name}`
  })
  return {
    sql: ` ${isLeft ? 'LEFT ' : ''}ARRAY JOIN ${printed.join(', ')}`,
    source: { name: undefined, columns },
  }
}
