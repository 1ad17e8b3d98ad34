/**
 * A page of a declared list as one prepared Postgres statement, with all that an answer needs beside the rows: one round
 * trip, and nothing to hold together by a transaction.
 */
import { createHash } from 'node:crypto'
import pg from 'pg'
import type { TableName } from '#transform/tables.ts'
import { quoteIdentifier, relationOf } from '../postgres.ts'
import { type CompiledStatement, compilePage } from './compile.ts'
import type { List, ListQuery } from './list.ts'
import { decodePostgresRow, type StoredRow } from './row.ts'

/** What a list wants beside its rows. */
export interface Beside {
  /** Further columns, of `page`, whose rows are in the order `neighbours`. */
  readonly columns?: readonly string[]
  /** Rows come with the hash of their block where it is above this. Default: where it can still change. */
  readonly hashesAbove?: number
}

export interface PageStatement {
  /** Of a statement worth keeping prepared. */
  readonly name?: string
  readonly text: string
  readonly values: readonly unknown[]
  readonly types: pg.CustomTypesConfig
}

/** A row of a page. */
export interface PageRow<Name extends TableName> {
  readonly row: StoredRow<Name>
  /** Of its block; null up to `hashesAbove`. */
  readonly blockHash: string | null
  /** The further columns, as they came. */
  readonly beside: Readonly<Record<string, unknown>>
}

/** @param columns further columns of `page`, whose rows are in the order `neighbours` */
export function preparePage(
  schema: string,
  list: List,
  query: ListQuery,
  { columns, hashesAbove }: Required<Beside>,
): PageStatement {
  const from = { ...query, position: query.position ?? beforeFirst(list, query) }
  const { page, text, name } = compiled(schema, list, from, columns)
  const values = [...page.bind(from).values, hashesAbove]
  return { ...(name !== undefined && { name }), text, values, types: hexBytes }
}

interface CompiledPage {
  readonly page: CompiledStatement
  readonly text: string
  readonly name: string | undefined
}

/** Texts by shape: there are as many as combinations of filters. */
const compiledPages = new Map<string, CompiledPage>()

function compiled(schema: string, list: List, query: ListQuery, columns: readonly string[]): CompiledPage {
  const filters = Object.entries(query.filters).map(([name, value]) =>
    list.filters[name]?.kind === 'prefix' ? `${name}=${value}` : name,
  )
  const shape = [schema, list.table, query.order, filters.join(), ...columns].join(' ')
  const known = compiledPages.get(shape)
  if (known) return known
  const page = compilePage(list, query, 'postgres', relationOf(schema, list.table))
  const parameters = page.bind(query).values.length
  const text = besidePage(schema, list, query.order, page, parameters, columns)
  const made = { page, text, name: isCommon(list, query) ? nameOf(text) : undefined }
  compiledPages.set(shape, made)
  return made
}

function besidePage(
  schema: string,
  list: List,
  order: ListQuery['order'],
  page: CompiledStatement,
  parameters: number,
  columns: readonly string[],
): string {
  const [block = ''] = list.key
  const number = `page.${quoteIdentifier(block)}`
  // Read by itself for each row: whatever a planner expects of a page's length, it cannot join the whole table.
  const blockHash = `CASE WHEN ${number} > $${parameters + 1}
    THEN (SELECT hash FROM ${relationOf(schema, 'blocks')} AS blocks WHERE blocks.num = ${number}) END AS block_hash`
  const inOrder = list.key.map((column) => `page.${quoteIdentifier(column)} ${order}`).join(', ')
  const window = columns.length > 0 ? `WINDOW neighbours AS (ORDER BY ${inOrder})` : ''
  return `SELECT ${['page.*', blockHash, ...columns].join(', ')} FROM (${page.text}) AS page ${window} ORDER BY ${inOrder}`
}

export function decodePageRow<Name extends TableName>(
  table: Name,
  beside: Readonly<Record<string, unknown>>,
): PageRow<Name> {
  const { block_hash: blockHash } = beside
  return {
    row: decodePostgresRow(table, beside),
    blockHash: typeof blockHash === 'string' ? blockHash : null,
    beside,
  }
}

/** A place before every row, so that the first page is the same statement as all others. */
function beforeFirst(list: List, { order, fromBlock, toBlock }: ListQuery): readonly number[] {
  const place = order === 'desc' ? toBlock + 1 : fromBlock - 1
  return list.key.map((_, index) => (index === 0 ? place : order === 'desc' ? 0 : INT_MAX))
}

/** Of the key's columns after the block; they are 32 bits wide. */
const INT_MAX = 2 ** 31 - 1

/**
 * Kept prepared per connection, so their number has to be bounded: newest first, by one filter at most. All others are
 * planned when they are asked for.
 */
function isCommon(list: List, { order, filters }: ListQuery): boolean {
  const own = Object.keys(filters).filter((name) => list.filters[name]?.kind !== 'prefix')
  return order === 'desc' && own.length <= 1
}

/** Bytes as the hex the server wrote, which is what they are shown as. */
const hexBytes = new pg.TypeOverrides()
hexBytes.setTypeParser(pg.types.builtins.BYTEA, (text) => `0x${text.slice(2)}`)

/** Postgres cuts names at 63 bytes, and the driver refuses a name with another text. */
const nameOf = (text: string): string =>
  `list_${createHash('sha256').update(text).digest('base64url').slice(0, 22)}`
