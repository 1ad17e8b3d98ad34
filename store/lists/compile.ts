/** Compiles a list and a query to one statement of either engine. The text is asserted in tests and run on both engines. */
import { type ColumnType, tables } from '#transform/tables.ts'
import { quoteIdentifier, toBytes } from '../postgres.ts'
import type { Filter, FilterValue, List, ListQuery } from './list.ts'

export interface Statement {
  readonly text: string
  /** Postgres: positional values. */
  readonly values: readonly unknown[]
  /** ClickHouse: named, typed parameters `p1`, `p2`… */
  readonly parameters: Readonly<Record<string, unknown>>
}

export type Dialect = 'postgres' | 'clickhouse'

/** The page itself. */
export function compilePage(list: List, query: ListQuery, dialect: Dialect, source: string): Statement {
  const writer = new Writer(dialect)
  const order = `ORDER BY ${list.key.map((column) => `${writer.name(column)} ${query.order}`).join(', ')}`
  const columns = tables[list.table].columns
    .map((column) => writer.column(column.name, column.type))
    .join(', ')
  const select = (where: string) => `SELECT ${columns} FROM ${source} WHERE ${where} ${order}`
  const paging = `LIMIT ${query.limit} OFFSET ${query.offset}`
  const branches = branchesOf(list, query, writer)
  if (branches.length === 1) return writer.statement(`${select(branches.join())} ${paging}`)
  // Each branch needs at most the rows up to the page's end; its index gives them in order.
  const limited = branches.map((where) => `(${select(where)} LIMIT ${query.offset + query.limit})`)
  return writer.statement(`SELECT * FROM (${limited.join(' UNION ALL ')}) AS branches ${order} ${paging}`)
}

/** How many rows match, counted up to `max`. */
export function compileCount(
  list: List,
  query: ListQuery,
  max: number,
  dialect: Dialect,
  source: string,
): Statement {
  const writer = new Writer(dialect)
  const branches = branchesOf(list, { ...query, position: undefined }, writer).map(
    (where) => `(SELECT 1 AS one FROM ${source} WHERE ${where} LIMIT ${max})`,
  )
  return writer.statement(
    `SELECT count(*) AS n FROM (SELECT * FROM (${branches.join(' UNION ALL ')}) AS branches LIMIT ${max}) AS counted`,
  )
}

/** WHERE of each branch; several only for an `either` filter. A row that two branches match belongs to the first. */
function branchesOf(
  list: List,
  query: Omit<ListQuery, 'position'> & { position?: readonly number[] | undefined },
  writer: Writer,
): string[] {
  let branches: string[][] = [[]]
  for (const [name, value] of Object.entries(query.filters)) {
    const filter = list.filters[name]
    if (!filter) throw new TypeError(`${list.table} has no filter ${name}`)
    const ways = conditionsOf(list, filter, value, writer)
    branches = branches.flatMap((conditions) => ways.map((way) => [...conditions, way]))
  }
  const common = boundsOf(list, query, writer)
  return branches.map((conditions) => [...conditions, ...common].join(' AND '))
}

function conditionsOf(list: List, filter: Filter, value: FilterValue, writer: Writer): string[] {
  switch (filter.kind) {
    case 'is':
      return [`${writer.name(filter.column)} = ${Number(filter.value)}`]
    case 'prefix':
      return [prefixCondition(filter, value === true, writer)]
    case 'equals':
      return [`${writer.name(filter.column)} = ${writer.value(value, typeOf(list, filter.column))}`]
    case 'either':
      return filter.columns.map((column, index) => {
        const equals = (name: string) => `${writer.name(name)} = ${writer.value(value, typeOf(list, name))}`
        const before = filter.columns.slice(0, index).map((name) => `(${equals(name)}) IS NOT TRUE`)
        return [equals(column), ...before].join(' AND ')
      })
  }
}

/** Bytes that begin with a prefix lie between it and its successor; the indexes of the migration say the same. */
function prefixCondition(
  { column, prefix }: Extract<Filter, { kind: 'prefix' }>,
  inside: boolean,
  writer: Writer,
): string {
  const name = writer.name(column)
  const from = writer.bytes(prefix)
  const end = writer.bytes(successorOf(prefix))
  return inside ? `${name} >= ${from} AND ${name} < ${end}` : `(${name} < ${from} OR ${name} >= ${end})`
}

function successorOf(prefix: string): string {
  const digits = prefix.slice(2)
  return `0x${(BigInt(prefix) + 1n).toString(16).padStart(digits.length, '0')}`
}

/** Block bounds, and the keyset: a row comparison plus the bound on its first column that an index can use alone. */
function boundsOf(
  list: List,
  {
    fromBlock,
    toBlock,
    position,
    order,
  }: Pick<ListQuery, 'fromBlock' | 'toBlock' | 'order'> & {
    position?: readonly number[] | undefined
  },
  writer: Writer,
): string[] {
  const [first = ''] = list.key
  const block = writer.name(first)
  const passed = position?.[0]
  const from = order === 'asc' && passed !== undefined ? Math.max(fromBlock, passed) : fromBlock
  const to = order === 'desc' && passed !== undefined ? Math.min(toBlock, passed) : toBlock
  const bounds = [`${block} >= ${writer.value(from, 'uint64')}`, `${block} <= ${writer.value(to, 'uint64')}`]
  if (!position) return bounds
  const key = list.key.map((column) => writer.name(column)).join(', ')
  const values = list.key
    .map((column, index) => writer.value(position[index] ?? 0, typeOf(list, column)))
    .join(', ')
  return [...bounds, `(${key}) ${order === 'desc' ? '<' : '>'} (${values})`]
}

function typeOf(list: List, column: string): ColumnType {
  const found = tables[list.table].columns.find((candidate) => candidate.name === column)
  if (!found) throw new TypeError(`${list.table} has no column ${column}`)
  return found.type
}

const clickhouseTypes: Partial<Record<ColumnType, string>> = {
  uint8: 'UInt8',
  int8: 'Int8',
  uint32: 'UInt32',
  uint64: 'UInt64',
  bool: 'Bool',
}

/** Collects parameters while text is written. */
class Writer {
  readonly #dialect: Dialect
  readonly #values: unknown[] = []
  readonly #parameters: Record<string, unknown> = {}

  constructor(dialect: Dialect) {
    this.#dialect = dialect
  }

  name(column: string): string {
    return this.#dialect === 'postgres' ? quoteIdentifier(column) : `\`${column}\``
  }

  /** Bytes leave ClickHouse as hex, because its JSON output would take them for text. */
  column(column: string, type: ColumnType): string {
    const name = this.name(column)
    if (this.#dialect === 'postgres') return name
    return isBytes(type) ? `lower(hex(${name})) AS ${name}` : name
  }

  value(value: FilterValue, type: ColumnType): string {
    if (this.#dialect === 'postgres') {
      this.#values.push(isBytes(type) ? toBytes(String(value)) : value)
      return `$${this.#values.length}`
    }
    const name = `p${Object.keys(this.#parameters).length + 1}`
    this.#parameters[name] = isBytes(type) ? String(value).slice(2) : value
    return isBytes(type) ? `unhex({${name}: String})` : `{${name}: ${clickhouseTypes[type] ?? 'String'}}`
  }

  /** A constant of ours as a literal; never a client's value. */
  bytes(hex: string): string {
    const digits = BigInt(hex)
      .toString(16)
      .padStart(hex.length - 2, '0')
    return this.#dialect === 'postgres' ? `'\\x${digits}'::bytea` : `unhex('${digits}')`
  }

  statement(text: string): Statement {
    return { text, values: this.#values, parameters: this.#parameters }
  }
}

const isBytes = (type: ColumnType): boolean => type === 'address' || type === 'hash' || type === 'bytes'
