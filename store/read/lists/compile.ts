/** Compiles a list and a query to one statement of Postgres. Its text is asserted in tests. */
import { type Column, type ColumnType, tables } from '#transform/tables.ts'
import { behind, otherTokens, pairHash, quoteIdentifier, tip20Tokens, toBytes } from '../../sql.ts'
import type { Filter, FilterValue, List, ListQuery } from './list.ts'

export interface Statement {
  readonly text: string
  /** By position. */
  readonly values: readonly unknown[]
}

/**
 * The statement of all queries of one shape: same order, same filters, a position or none. Only
 * values differ.
 */
export interface CompiledStatement {
  readonly text: string
  bind(query: ListQuery): Statement
}

/** The page itself. */
export function compilePage(list: List, shape: ListQuery, source: string): CompiledStatement {
  const writer = new Writer()
  const order = `ORDER BY ${list.key.map((column) => `${quoteIdentifier(column)} ${shape.order}`).join(', ')}`
  const columns = tables[list.table].columns
    .map((column) => writer.column(column.name, column.type))
    .join(', ')
  const select = (where: string) => `SELECT ${columns} FROM ${source} WHERE ${where} ${order}`
  const branches = branchesOf(list, shape, shape.position !== undefined, writer)
  // Parameters, so that a page of any length is the same statement.
  const limit = writer.value(({ limit }) => limit, 'uint64')
  const paging = `LIMIT ${limit} OFFSET ${writer.value(({ offset }) => offset, 'uint64')}`
  if (branches.length === 1) return writer.statement(`${select(branches.join())} ${paging}`)
  // Each branch needs at most the rows up to the page's end; its index gives them in order.
  const end = writer.value(({ offset, limit }) => offset + limit, 'uint64')
  const limited = branches.map((where) => `(${select(where)} LIMIT ${end})`)
  const key = list.key.map((column) => quoteIdentifier(column)).join(', ')
  // A row that matches in both ways comes twice; to leave it out of one branch would be to walk all
  // such rows there.
  const all = `SELECT DISTINCT ON (${key}) * FROM (${limited.join(' UNION ALL ')}) AS branches`
  return writer.statement(`${all} ${order} ${paging}`)
}

/** How many rows match, counted up to `max`. */
export function compileCount(list: List, shape: ListQuery, max: number, source: string): CompiledStatement {
  const writer = new Writer()
  const key = list.key.map((column) => quoteIdentifier(column)).join(', ')
  const branches = branchesOf(list, shape, false, writer).map(
    (where) => `(SELECT ${key} FROM ${source} WHERE ${where} LIMIT ${max})`,
  )
  return writer.statement(
    `SELECT count(*) AS n FROM (SELECT * FROM (${branches.join(' UNION DISTINCT ')}) AS branches LIMIT ${max}) AS counted`,
  )
}

/** A term of a WHERE; `column` and `operand` where it is an equality. */
type Condition = { readonly text: string } | Equality

interface Equality {
  readonly text: string
  readonly column: string
  readonly operand: string
}

/** WHERE of each branch; several only for an `either` filter. */
function branchesOf(list: List, shape: ListQuery, hasPosition: boolean, writer: Writer): string[] {
  let branches: Condition[][] = [[]]
  for (const [name, value] of Object.entries(shape.filters)) {
    const filter = list.filters[name]
    if (!filter) throw new TypeError(`${list.table} has no filter ${name}`)
    const ways = conditionsOf(list, filter, name, value, writer)
    branches = branches.flatMap((conditions) => ways.map((way) => [...conditions, ...way]))
  }
  const common = boundsOf(list, shape.order, hasPosition, writer)
  return branches.map((conditions) => {
    const texts = withPair(list, conditions, writer).map(({ text }) => text)
    return [...texts, ...consistency(list, shape, conditions), ...common].join(' AND ')
  })
}

/**
 * A token asked for that is not of the kind asked for: known before the first of its rows is read.
 */
function consistency(list: List, { filters }: ListQuery, conditions: readonly Condition[]): string[] {
  const equalities = conditions.filter((condition) => 'column' in condition)
  return Object.entries(filters).flatMap(([name, value]) => {
    const filter = list.filters[name]
    if (filter?.kind !== 'tip20') return []
    const { operand } = equalities.find(({ column }) => column === filter.column) ?? {}
    return operand === undefined ? [] : [ofTip20(operand, value === true)]
  })
}

/** The conditions of each way in which a row can match. */
function conditionsOf(
  list: List,
  filter: Filter,
  filterName: string,
  shapeValue: FilterValue,
  writer: Writer,
): Condition[][] {
  const equality = (column: string): Equality => {
    const operand = writer.value(({ filters }) => filters[filterName], typeOf(list, column))
    return { text: `${quoteIdentifier(column)} = ${operand}`, column, operand }
  }
  switch (filter.kind) {
    case 'is': {
      const { column, value } = filter
      const operand = `${Number(value)}`
      return [[{ text: `${quoteIdentifier(column)} = ${operand}`, column, operand }]]
    }
    case 'tip20':
      return [[{ text: ofTip20(quoteIdentifier(filter.column), shapeValue === true) }]]
    case 'equals':
      return [[equality(filter.column)]]
    case 'either':
      return filter.columns.map((column) => [equality(column)])
  }
}

/**
 * Two equalities are found in the index of their pair: by either alone, what is frequent but never
 * together would be walked to its end. Their columns are compared in words no other index
 * understands, so that no planner weighs one against it.
 */
function withPair(list: List, conditions: readonly Condition[], writer: Writer): readonly Condition[] {
  const equalities = conditions.filter((condition) => 'column' in condition)
  const of = (name: string) => equalities.find(({ column }) => column === name)
  for (const [first, second] of list.pairs) {
    const pair = [of(first), of(second)].filter((found) => found !== undefined)
    const text = pair.length === 2 && writer.pair(pair, (name) => columnOf(list, name))
    if (text) return [{ text }, ...conditions.filter((condition) => !pair.some((one) => one === condition))]
  }
  return conditions
}

const ofTip20 = (column: string, inside: boolean): string =>
  inside ? tip20Tokens(column) : otherTokens(column)

/**
 * Block bounds, and the keyset: a row comparison plus the bound on its first column that an index
 * can use alone.
 */
function boundsOf(list: List, order: 'asc' | 'desc', hasPosition: boolean, writer: Writer): string[] {
  const [first = ''] = list.key
  const block = quoteIdentifier(first)
  const passed = (query: ListQuery) => (hasPosition ? query.position?.[0] : undefined)
  const from = (query: ListQuery) =>
    order === 'asc' ? Math.max(query.fromBlock, passed(query) ?? 0) : query.fromBlock
  const to = (query: ListQuery) =>
    order === 'desc' ? Math.min(query.toBlock, passed(query) ?? query.toBlock) : query.toBlock
  const bounds = [`${block} >= ${writer.value(from, 'uint64')}`, `${block} <= ${writer.value(to, 'uint64')}`]
  if (!hasPosition) return bounds
  const place = list.key.map((column, index) =>
    writer.value(({ position }) => position?.[index] ?? 0, typeOf(list, column)),
  )
  return [...bounds, behind(list.key.map(quoteIdentifier), order, place)]
}

function columnOf(list: List, name: string): Column {
  const found = tables[list.table].columns.find((column) => column.name === name)
  if (!found) throw new TypeError(`${list.table} has no column ${name}`)
  return found
}

const typeOf = (list: List, column: string): ColumnType => columnOf(list, column).type

/** Collects where parameters come from while text is written. */
class Writer {
  readonly #slots: ((query: ListQuery) => unknown)[] = []

  /**
   * Times leave as the seconds they are shown from: a Date for each row would be made, and parsed,
   * for nothing.
   */
  column(column: string, type: ColumnType): string {
    const name = quoteIdentifier(column)
    return type === 'seconds' ? `extract(epoch FROM ${name})::bigint AS ${name}` : name
  }

  /** A parameter, read from each query that is bound. */
  value(read: (query: ListQuery) => FilterValue | undefined, type: ColumnType): string {
    this.#slots.push(isBytes(type) ? (query) => toBytes(String(read(query))) : read)
    return `$${this.#slots.length}`
  }

  /** The condition that the index of a pair serves. */
  pair(equalities: readonly Equality[], columnOf: (name: string) => Column): string {
    const columns = equalities.map(({ column }) => quoteIdentifier(column))
    const operands = equalities.map(
      ({ column, operand }) => `${operand}::${isBytes(columnOf(column).type) ? 'bytea' : 'smallint'}`,
    )
    const nullable = equalities.filter(({ column }) => columnOf(column).nullable)
    return [
      ...nullable.map(({ column }) => `${quoteIdentifier(column)} IS NOT NULL`),
      `${pairHash(columns)} = ${pairHash(operands)}`,
      `(${columns.join(', ')}) IS NOT DISTINCT FROM (${operands.join(', ')})`,
    ].join(' AND ')
  }

  statement(text: string): CompiledStatement {
    const slots = this.#slots
    return { text, bind: (query) => ({ text, values: slots.map((read) => read(query)) }) }
  }
}

const isBytes = (type: ColumnType): boolean => type === 'address' || type === 'hash' || type === 'bytes'
