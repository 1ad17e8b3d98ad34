/**
 * Reads pages from Postgres, within what is covered and never beyond it: of a declared list by one
 * statement (readPage), of anything else that is ordered by block through a walk of its own
 * (readWalk).
 */

import { failure } from '#errors.ts'
import type { BlockRange } from '#ingest/range.ts'
import type { TableName } from '#transform/tables.ts'
import type { Visible } from '../../ledger/ChainState.ts'
import type { Queryable } from '../../ledger/lane.ts'
import { relationOf, toBytes, toHex } from '../../sql.ts'
import { compileCount } from './compile.ts'
import type { BlockMark, FilterValue, List } from './list.ts'
import { cutPage } from './page.ts'
import { type Beside, type PageQuery, type PageRow, preparePage, reorgedFromSql } from './preparedPage.ts'

/** A reader's request; the shape the HTTP toolkit hands over. */
export interface PageRequest {
  readonly order: 'asc' | 'desc'
  readonly limit: number
  readonly offset: number
  readonly position?: readonly (number | string | bigint)[]
  readonly wantTotal: boolean
  /** Newest block passed earlier in the walk that was not final then. */
  readonly passed?: BlockMark
  readonly signal: AbortSignal
}

export interface ListFilters {
  readonly values: Readonly<Record<string, FilterValue | undefined>>
  readonly blockNumberFrom?: number
  readonly blockNumberTo?: number
  readonly timestampSecondsFrom?: number
  readonly timestampSecondsTo?: number
}

/** A page, whatever its rows are. */
export interface WalkPage<Row> {
  readonly rows: readonly Row[]
  readonly next: readonly number[] | null
  readonly passed?: BlockMark
  readonly historyFrom?: number
  readonly reorgedFrom?: number
  readonly totalCount?: number
  readonly totalCountCapped?: boolean
}

export type RowPage<Name extends TableName> = WalkPage<PageRow<Name>>

/** The request to a walk: a query without filters, which the walk has itself. */
export type WalkQuery = Omit<PageQuery, 'filters'>

/** How rows are read in order, whatever gives them. */
export interface Walk<Row> {
  /** Sort key of a row; its first value is the row's block. */
  positionOf(row: Row): readonly number[]
  /**
   * Hash of a row's block, where the walk reads it with the row: at least of blocks that can still
   * change.
   */
  blockHashOf?(row: Row): string | null
  /** Its rows come with `reorgedFrom`, where `query.passed` asks for it. */
  readonly tellsReorgs?: true
  /** At most `query.limit` rows from `query.position` on. */
  rows(query: WalkQuery): Promise<WalkRows<Row>>
  /** How many rows there are, counted up to `max`. */
  count?(query: WalkQuery, max: number): Promise<number>
}

export interface WalkRows<Row> {
  readonly rows: readonly Row[]
  /** Whether the walk goes on. */
  readonly more: boolean
  /** The place at which it goes on, if not after the last row: places may have been passed that gave none. */
  readonly position?: readonly number[]
  /** The first change of the chain below `query.passed`. */
  readonly reorgedFrom?: number
}

/** Rows are counted up to here. */
const TOTAL_COUNT_MAX = 10_000

/**
 * The source of a page: one connection, at one moment. `client` is a snapshot's, so that rows, marks and
 * counts agree.
 */
export interface PageSource {
  readonly client: Queryable
  readonly schema: string
  readonly visible: Visible
}

/**
 * Reads one page of a list. @throws HistoryIncompleteError for `asc` while history below is missing
 */
export function readPage<Name extends TableName>(
  source: PageSource,
  list: List<Name>,
  filters: ListFilters,
  page: Omit<PageRequest, 'signal'>,
  beside: Beside = {},
): Promise<RowPage<Name>> {
  return readWalk(source, listWalk(source, list, filters.values, beside), filters, page)
}

/** Whether one statement reads the page: nothing is asked that needs another. */
export function isOneStatement(
  bounds: Omit<ListFilters, 'values'>,
  page: Omit<PageRequest, 'signal'>,
): boolean {
  const byTime = bounds.timestampSecondsFrom !== undefined || bounds.timestampSecondsTo !== undefined
  return !byTime && !page.wantTotal
}

/**
 * Reads one page of a walk. @throws HistoryIncompleteError for `asc` while history below is missing
 */
export async function readWalk<Row>(
  source: PageSource,
  walk: Walk<Row>,
  bounds: Omit<ListFilters, 'values'>,
  page: Omit<PageRequest, 'signal'>,
): Promise<WalkPage<Row>> {
  const { visible } = source
  const { from: fromBlock, to: toBlock } = await blockBounds(source, bounds)
  // The rows asked for go on below what is indexed so far.
  const cut =
    visible.segment.from > visible.startBlock &&
    fromBlock === visible.segment.from &&
    (bounds.blockNumberFrom ?? 0) < fromBlock
  const begun = page.position !== undefined && Number(page.position[0]) >= fromBlock
  if (cut && page.order === 'asc' && !begun) throw new HistoryIncompleteError(fromBlock)
  const { order, limit, offset, passed } = page
  const position = page.position?.map(Number)
  const walked = { ...(position && { position }), ...(walk.tellsReorgs && passed && { passed }) }
  const query = { order, limit, offset, ...walked, fromBlock, toBlock }
  // Sent together where the connection can: none waits for another.
  const [found, reorg, total] = await Promise.all([
    walk.rows(query),
    walk.tellsReorgs ? {} : reorgOf(source, page),
    page.wantTotal && walk.count ? totalOf(walk.count(query, TOTAL_COUNT_MAX), cut) : {},
  ])
  const last = found.rows.at(-1)
  const end = found.position ?? (last === undefined ? position : walk.positionOf(last))
  return {
    rows: found.rows,
    ...nextOf(found.more, end, order, cut ? fromBlock : null),
    ...(await markOf(source, walk, order === 'desc' ? found.rows[0] : last)),
    ...reorgedOf(found.reorgedFrom),
    ...reorg,
    ...total,
  }
}

/** A declared list as a walk: one statement for a page, one for a count. */
export function listWalk<Name extends TableName>(
  { client, schema, visible }: PageSource,
  list: List<Name>,
  values: ListFilters['values'],
  { columns = [], hashesAbove = visible.finalized }: Beside = {},
): Walk<PageRow<Name>> {
  const filters = definedOf(values)
  const [block = ''] = list.key
  return {
    positionOf: (row: Readonly<Record<string, unknown>>) => list.key.map((column) => Number(row[column])),
    blockHashOf: (row) => row.block_hash,
    tellsReorgs: true,
    rows: async (query) => {
      const asked = { ...query, filters, limit: query.limit + 1 }
      const { values, ...statement } = preparePage(schema, list, asked, { columns, hashesAbove })
      const found = await client.query<WalkedRow<Name>>({ ...statement, values: [...values] })
      const [first] = found.rows
      // Where the page is empty, a row that tells of the walk is left.
      const held = first?.[block] === null ? [] : found.rows
      return { ...cutPage(held, query.limit), ...reorgedOf(first?.reorged_from) }
    },
    count: async (query, max) => {
      const asked = { ...query, filters }
      const compiled = compileCount(list, asked, max, relationOf(schema, list.table))
      const { text, values } = compiled.bind(asked)
      const found = await client.query<{ n: number }>(text, [...values])
      return Number(found.rows[0]?.n ?? 0)
    },
  }
}

type WalkedRow<Name extends TableName> = PageRow<Name> & {
  readonly reorged_from?: number | null
  readonly [column: string]: unknown
}

const relation = ({ schema }: Pick<PageSource, 'schema'>, table: string): string => relationOf(schema, table)

/** IS TRUE keeps planners from walking the heights, of which a range without values looks short. */
const isHeld = '(num BETWEEN $2 AND $3) IS TRUE'
/** The first block at or after a moment, the last one at or before it. */
export const firstFrom = `timestamp >= to_timestamp($1) AND ${isHeld} ORDER BY timestamp, num LIMIT 1`
export const lastTo = `timestamp <= to_timestamp($1) AND ${isHeld} ORDER BY timestamp DESC, num DESC LIMIT 1`

/**
 * Times become block bounds first: several blocks share a second, so a time is never a sort key.
 */
async function blockBounds(source: PageSource, filters: Omit<ListFilters, 'values'>): Promise<BlockRange> {
  const { segment } = source.visible
  const blocks = relation(source, 'blocks')
  let from = Math.max(segment.from, filters.blockNumberFrom ?? 0)
  let to = Math.min(segment.to, filters.blockNumberTo ?? Number.MAX_SAFE_INTEGER)
  const edge = async (sql: string, seconds: number) => {
    const found = await source.client.query<{ num: number }>(sql, [seconds, segment.from, segment.to])
    return found.rows[0]?.num
  }
  if (filters.timestampSecondsFrom !== undefined) {
    const first = await edge(`SELECT num FROM ${blocks} WHERE ${firstFrom}`, filters.timestampSecondsFrom)
    from = first === undefined ? to + 1 : Math.max(from, first)
  }
  if (filters.timestampSecondsTo !== undefined) {
    const last = await edge(`SELECT num FROM ${blocks} WHERE ${lastTo}`, filters.timestampSecondsTo)
    to = last === undefined ? from - 1 : Math.min(to, last)
  }
  return { from, to }
}

function nextOf(
  more: boolean,
  end: readonly number[] | undefined,
  order: 'asc' | 'desc',
  historyFrom: number | null,
): { next: readonly number[] | null; historyFrom?: number } {
  if (more) return { next: end ?? null }
  if (historyFrom === null || order === 'asc') return { next: null }
  // The list goes on below what is indexed so far; the client comes back with this place.
  return { next: end ?? [historyFrom, 0, 0], historyFrom }
}

/** The mark of a page whose newest row is this one. */
function markOf<Row>(
  source: PageSource,
  walk: Walk<Row>,
  newest: Row | undefined,
): ReturnType<typeof passedOf> | Awaited<ReturnType<typeof passedOf>> {
  if (newest === undefined) return {}
  const [number = -1] = walk.positionOf(newest)
  const { finalized } = source.visible
  if (!walk.blockHashOf) return passedOf({ ...source, finalized }, number)
  const hash = walk.blockHashOf(newest)
  return number > finalized && hash !== null ? { passed: { number, hash } } : {}
}

/** The newest block of a page if it can still change: the walk's cursor remembers it. */
export async function passedOf(
  source: Pick<PageSource, 'client' | 'schema'> & { readonly finalized: number },
  newest: number,
): Promise<{ passed?: { number: number; hash: string } }> {
  if (newest <= source.finalized) return {}
  const found = await source.client.query<{ hash: Buffer }>(
    `SELECT hash FROM ${relation(source, 'blocks')} WHERE num = $1`,
    [newest],
  )
  const hash = found.rows[0]?.hash
  return hash ? { passed: { number: newest, hash: toHex(hash) } } : {}
}

/** The first change of the chain under a walk, from the commit log. */
export async function reorgOf(
  source: Pick<PageSource, 'client' | 'schema'>,
  { passed }: Pick<PageRequest, 'passed'>,
): Promise<{ reorgedFrom?: number }> {
  if (!passed) return {}
  const found = await source.client.query<{ reorged_from: number | null }>(
    `SELECT (${reorgedFromSql(source.schema, 1)}) AS reorged_from`,
    [passed.number, toBytes(passed.hash)],
  )
  return reorgedOf(found.rows[0]?.reorged_from)
}

const reorgedOf = (from: unknown): { reorgedFrom?: number } =>
  typeof from === 'number' ? { reorgedFrom: from } : {}

async function totalOf(
  count: Promise<number>,
  cut: boolean,
): Promise<{ totalCount: number; totalCountCapped?: boolean }> {
  const totalCount = await count
  return cut ? { totalCount, totalCountCapped: true } : { totalCount }
}

const definedOf = (values: Readonly<Record<string, FilterValue | undefined>>): Record<string, FilterValue> =>
  Object.fromEntries(
    Object.entries(values).filter((entry): entry is [string, FilterValue] => entry[1] !== undefined),
  )

/** Oldest-first lists need the oldest rows, and those are not indexed yet. */
export class HistoryIncompleteError extends failure('HistoryIncompleteError', 'history_incomplete', 'retry') {
  readonly indexedFrom: number

  constructor(indexedFrom: number) {
    super(`history below block ${indexedFrom} is still being indexed`)
    this.indexedFrom = indexedFrom
  }
}
