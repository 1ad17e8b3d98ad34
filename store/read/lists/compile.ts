/** Compiles a list and a query to one statement of either engine. The text is asserted in tests and run on both engines. */
import { type Column, type ColumnType, tables } from '#transform/tables.ts'
import { pairHash, quoteIdentifier, toBytes } from '../../sql.ts'
import type { Filter, FilterValue, List, ListQuery } from './list.ts'

export interface Statement {
  readonly text: string
  /** Postgres: positional values. */
  readonly values: readonly unknown[]
  /** ClickHouse: named, typed parameters `p1`, `p2`… */
  readonly parameters: Readonly<Record<string, unknown>>
}

/** The statement of all queries of one shape: same order, same filters, a position or none. Only values differ. */
export interface CompiledStatement {
  readonly text: string
  bind(query: ListQuery): Statement
}

export type Dialect = 'postgres' | 'clickhouse'

/** The page itself. */
export function compilePage(
  list: List,
  shape: ListQuery,
  dialect: Dialect,
  source: string,
): CompiledStatement {
  const writer = new Writer(dialect)
  const order = `ORDER BY ${list.key.map((column) => `${writer.name(column)} ${shape.order}`).join(', ')}`
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
  const key = list.key.map((column) => writer.name(column)).join(', ')
  // A row that matches in both ways comes twice; to leave it out of one branch would be to walk all such rows there.
  const all = `SELECT DISTINCT ON (${key}) * FROM (${limited.join(' UNION ALL ')}) AS branches`
  return writer.statement(`${all} ${order} ${paging}`)
}

/** How many rows match, counted up to `max`. */
export function compileCount(
  list: List,
  shape: ListQuery,
  max: number,
  dialect: Dialect,
  source: string,
): CompiledStatement {
  const writer = new Writer(dialect)
  const key = list.key.map((column) => writer.name(column)).join(', ')
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
    return [...texts, ...consistency(list, shape, conditions, writer), ...common].join(' AND ')
  })
}

/** A value asked for that lies outside a prefix asked for: known before the first of its rows is read. */
function consistency(
  list: List,
  { filters }: ListQuery,
  conditions: readonly Condition[],
  writer: Writer,
): string[] {
  const equalities = conditions.filter((condition) => 'column' in condition)
  return Object.entries(filters).flatMap(([name, value]) => {
    const filter = list.filters[name]
    if (filter?.kind !== 'prefix') return []
    const { operand } = equalities.find(({ column }) => column === filter.column) ?? {}
    return operand === undefined ? [] : [prefixCondition(filter, operand, value === true, writer)]
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
    return { text: `${writer.name(column)} = ${operand}`, column, operand }
  }
  switch (filter.kind) {
    case 'is': {
      const { column, value } = filter
      const operand = `${Number(value)}`
      return [[{ text: `${writer.name(column)} = ${operand}`, column, operand }]]
    }
    case 'prefix':
      return [[{ text: prefixCondition(filter, writer.name(filter.column), shapeValue === true, writer) }]]
    case 'equals':
      return [[equality(filter.column)]]
    case 'either':
      return filter.columns.map((column) => [equality(column)])
  }
}

/**
 * Two equalities are found in the index of their pair: by either alone, what is frequent but never together would be walked
 * to its end. Their columns are compared in words no other index understands, so that no planner weighs one against it.
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

/** Bytes that begin with a prefix lie between it and its successor; the indexes of the migration say the same. */
function prefixCondition(
  { prefix }: Extract<Filter, { kind: 'prefix' }>,
  name: string,
  inside: boolean,
  writer: Writer,
): string {
  const from = writer.bytes(prefix)
  const end = writer.bytes(successorOf(prefix))
  return inside ? `${name} >= ${from} AND ${name} < ${end}` : `(${name} < ${from} OR ${name} >= ${end})`
}

function successorOf(prefix: string): string {
  const digits = prefix.slice(2)
  return `0x${(BigInt(prefix) + 1n).toString(16).padStart(digits.length, '0')}`
}

/** Block bounds, and the keyset: a row comparison plus the bound on its first column that an index can use alone. */
function boundsOf(list: List, order: 'asc' | 'desc', hasPosition: boolean, writer: Writer): string[] {
  const [first = ''] = list.key
  const block = writer.name(first)
  const passed = (query: ListQuery) => (hasPosition ? query.position?.[0] : undefined)
  const from = (query: ListQuery) =>
    order === 'asc' ? Math.max(query.fromBlock, passed(query) ?? 0) : query.fromBlock
  const to = (query: ListQuery) =>
    order === 'desc' ? Math.min(query.toBlock, passed(query) ?? query.toBlock) : query.toBlock
  const bounds = [`${block} >= ${writer.value(from, 'uint64')}`, `${block} <= ${writer.value(to, 'uint64')}`]
  if (!hasPosition) return bounds
  const key = list.key.map((column) => writer.name(column)).join(', ')
  const values = list.key
    .map((column, index) => writer.value(({ position }) => position?.[index] ?? 0, typeOf(list, column)))
    .join(', ')
  return [...bounds, `(${key}) ${order === 'desc' ? '<' : '>'} (${values})`]
}

function columnOf(list: List, name: string): Column {
  const found = tables[list.table].columns.find((column) => column.name === name)
  if (!found) throw new TypeError(`${list.table} has no column ${name}`)
  return found
}

const typeOf = (list: List, column: string): ColumnType => columnOf(list, column).type

const clickhouseTypes: Partial<Record<ColumnType, string>> = {
  uint8: 'UInt8',
  int8: 'Int8',
  uint32: 'UInt32',
  uint64: 'UInt64',
  bool: 'Bool',
}

/** Collects where parameters come from while text is written. */
class Writer {
  readonly #dialect: Dialect
  readonly #slots: ((query: ListQuery) => unknown)[] = []

  constructor(dialect: Dialect) {
    this.#dialect = dialect
  }

  name(column: string): string {
    return this.#dialect === 'postgres' ? quoteIdentifier(column) : `\`${column}\``
  }

  /**
   * Bytes leave ClickHouse as hex, because its JSON output would take them for text. Times leave Postgres as the seconds
   * they are shown from: a Date for each row would be made, and parsed, for nothing.
   */
  column(column: string, type: ColumnType): string {
    const name = this.name(column)
    if (this.#dialect === 'postgres')
      return type === 'seconds' ? `extract(epoch FROM ${name})::bigint AS ${name}` : name
    return isBytes(type) ? `lower(hex(${name})) AS ${name}` : name
  }

  /** A parameter, read from each query that is bound. */
  value(read: (query: ListQuery) => FilterValue | undefined, type: ColumnType): string {
    if (this.#dialect === 'postgres') {
      this.#slots.push(isBytes(type) ? (query) => toBytes(String(read(query))) : read)
      return `$${this.#slots.length}`
    }
    this.#slots.push(isBytes(type) ? (query) => String(read(query)).slice(2) : read)
    const name = `p${this.#slots.length}`
    return isBytes(type) ? `unhex({${name}: String})` : `{${name}: ${clickhouseTypes[type] ?? 'String'}}`
  }

  /** The condition the index of a pair serves; null where there are no such indexes. */
  pair(equalities: readonly Equality[], columnOf: (name: string) => Column): string | null {
    if (this.#dialect !== 'postgres') return null
    const columns = equalities.map(({ column }) => this.name(column))
    const operands = equalities.map(
      ({ column, operand }) => `${operand}::${isBytes(columnOf(column).type) ? 'bytea' : 'smallint'}`,
    )
    const nullable = equalities.filter(({ column }) => columnOf(column).nullable)
    return [
      ...nullable.map(({ column }) => `${this.name(column)} IS NOT NULL`),
      `${pairHash(columns)} = ${pairHash(operands)}`,
      `(${columns.join(', ')}) IS NOT DISTINCT FROM (${operands.join(', ')})`,
    ].join(' AND ')
  }

  /** A constant of ours as a literal; never a client's value. */
  bytes(hex: string): string {
    const digits = BigInt(hex)
      .toString(16)
      .padStart(hex.length - 2, '0')
    return this.#dialect === 'postgres' ? `'\\x${digits}'::bytea` : `unhex('${digits}')`
  }

  statement(text: string): CompiledStatement {
    const [dialect, slots] = [this.#dialect, this.#slots]
    return {
      text,
      bind: (query) => {
        const values = slots.map((read) => read(query))
        if (dialect === 'postgres') return { text, values, parameters: {} }
        const named = values.map((value, index) => [`p${index + 1}`, value])
        return { text, values: [], parameters: Object.fromEntries(named) }
      },
    }
  }
}

const isBytes = (type: ColumnType): boolean => type === 'address' || type === 'hash' || type === 'bytes'
