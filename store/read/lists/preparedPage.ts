/**
 * A page of a declared list as one prepared Postgres statement, with all that an answer needs
 * beside the rows: one round trip, and nothing to hold together by a transaction.
 */
import type pg from 'pg'
import type { TableName } from '#transform/tables.ts'
import { preparedName } from '../../postgres.ts'
import { quoteIdentifier, relationOf, toBytes } from '../../sql.ts'
import { type CompiledStatement, compilePage } from './compile.ts'
import type { BlockMark, List, ListQuery } from './list.ts'
import { type StoredRow, storedTypes } from './row.ts'

/** The data that a list wants beside its rows. */
export interface Beside {
  /** Further columns, of `page`, whose rows are in the order `neighbours`. */
  readonly columns?: readonly string[]
  /**
   * Rows come with the hash of their block where it is above this. Default: where it can still
   * change.
   */
  readonly hashesAbove?: number
}

/** A page's query, of a walk that passed a block which could still change then. */
export interface PageQuery extends ListQuery {
  readonly passed?: BlockMark
}

export interface PageStatement {
  /** Name of a statement worth keeping prepared. */
  readonly name?: string
  readonly text: string
  readonly values: readonly unknown[]
  readonly types: pg.CustomTypesConfig
}

/** A row of a page. */
export type PageRow<Name extends TableName> = StoredRow<Name> & {
  /** Hash of its block; null up to `hashesAbove`. */
  readonly block_hash: string | null
  /** Transactions alone, where the page asks for it (archive.ts). */
  readonly archived_part?: string | null
}

/** @param columns further columns of `page`, whose rows are in the order `neighbours` */
export function preparePage(
  schema: string,
  list: List,
  query: PageQuery,
  { columns, hashesAbove }: Required<Beside>,
): PageStatement {
  const from = { ...query, position: query.position ?? beforeFirst(list, query) }
  const { page, text, name } = compiled(schema, list, from, columns)
  const passed = query.passed ? [query.passed.number, toBytes(query.passed.hash)] : []
  const values = [...page.bind(from).values, hashesAbove, ...passed]
  return { ...(name !== undefined && { name }), text, values, types: storedTypes }
}

interface CompiledPage {
  readonly page: CompiledStatement
  readonly text: string
  readonly name: string | undefined
}

/** Texts by shape: there are as many as combinations of filters. */
const compiledPages = new Map<string, CompiledPage>()

function compiled(schema: string, list: List, query: PageQuery, columns: readonly string[]): CompiledPage {
  const filters = Object.entries(query.filters).map(([name, value]) =>
    list.filters[name]?.kind === 'tip20' ? `${name}=${value}` : name,
  )
  const walk = query.passed ? 'passed' : ''
  const shape = [schema, list.table, query.order, walk, filters.join(), ...columns].join(' ')
  const known = compiledPages.get(shape)
  if (known) return known
  const page = compilePage(list, query, relationOf(schema, list.table))
  const text = besidePage(schema, list, query, page, columns)
  const made = { page, text, name: isCommon(list, query) ? preparedName(text) : undefined }
  compiledPages.set(shape, made)
  return made
}

function besidePage(
  schema: string,
  list: List,
  query: PageQuery,
  page: CompiledStatement,
  columns: readonly string[],
): string {
  const [block = ''] = list.key
  const number = `page.${quoteIdentifier(block)}`
  const next = page.bind(query).values.length + 1
  // Read by itself for each row: whatever a planner expects of a page's length, it cannot join the
  // whole table.
  const blockHash = `CASE WHEN ${number} > $${next}
    THEN (SELECT hash FROM ${relationOf(schema, 'blocks')} AS blocks WHERE blocks.num = ${number}) END AS block_hash`
  const inOrder = list.key.map((column) => `page.${quoteIdentifier(column)} ${query.order}`).join(', ')
  const window = columns.length > 0 ? `WINDOW neighbours AS (ORDER BY ${inOrder})` : ''
  const rows = `(${page.text}) AS page`
  // A walk that was reorganized is told so also where it has no more rows.
  const walked = query.passed
    ? {
        columns: ['reorged_from'],
        from: `(SELECT (${reorgedFromSql(schema, next + 1)}) AS reorged_from) AS walk LEFT JOIN ${rows} ON true`,
      }
    : { columns: [], from: rows }
  return `SELECT ${['page.*', blockHash, ...columns, ...walked.columns].join(', ')} FROM ${walked.from} ${window} ORDER BY ${inOrder}`
}

/**
 * The first block that changed under a walk which passed the block `$parameter` with the hash in
 * the parameter after it; NULL for none.
 */
export function reorgedFromSql(schema: string, parameter: number): string {
  const [number, hash] = [`$${parameter}`, `$${parameter + 1}`]
  // The log keeps days of commits; behind it, another block at the height tells as much.
  return `SELECT coalesce(min(from_block),
      (SELECT num FROM ${relationOf(schema, 'blocks')} AS replaced WHERE num = ${number} AND hash <> ${hash}))
    FROM ${relationOf(schema, 'commits')} AS reverts
    WHERE kind = 'revert' AND from_block <= ${number} AND to_block >= ${number} AND ${hash} = ANY (hashes)`
}

/** A place before every row, so that the first page is the same statement as all others. */
function beforeFirst(list: List, { order, fromBlock, toBlock }: ListQuery): readonly number[] {
  const place = order === 'desc' ? toBlock + 1 : fromBlock - 1
  return list.key.map((_, index) => (index === 0 ? place : order === 'desc' ? 0 : INT_MAX))
}

/** Highest value of the key's columns after the block, which are 32 bits wide. */
const INT_MAX = 2 ** 31 - 1

/**
 * Kept prepared per connection, so their number has to be bounded: newest first, by one filter at
 * most. All others are planned when they are asked for.
 */
function isCommon(list: List, { order, filters }: ListQuery): boolean {
  const own = Object.keys(filters).filter((name) => list.filters[name]?.kind !== 'tip20')
  return order === 'desc' && own.length <= 1
}
