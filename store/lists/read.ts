/** Reads pages of lists from Postgres, within what is covered and never beyond it. */
import type { BlockRange } from '#ingest/range.ts'
import type { TableName } from '#transform/tables.ts'
import { MillraceError } from '../../errors.ts'
import type { Queryable } from '../lane.ts'
import { relationOf, toBytes, toHex } from '../postgres.ts'
import { compileCount, compilePage } from './compile.ts'
import type { FilterValue, List, ListQuery } from './list.ts'
import { decodePostgresRow, type StoredRow } from './row.ts'

/** What a reader asks for; the shape the HTTP toolkit hands over. */
export interface PageRequest {
  readonly order: 'asc' | 'desc'
  readonly limit: number
  readonly offset: number
  readonly position?: readonly (number | string | bigint)[]
  readonly wantTotal: boolean
  /** Newest block passed earlier in the walk that was not final then. */
  readonly passed?: { readonly number: number; readonly hash: string }
  readonly signal: AbortSignal
}

export interface ListFilters {
  readonly values: Readonly<Record<string, FilterValue | undefined>>
  readonly blockNumberFrom?: number
  readonly blockNumberTo?: number
  readonly timestampSecondsFrom?: number
  readonly timestampSecondsTo?: number
}

/** What readers may see of a chain: the newest contiguous segment, and where history begins when it is complete. */
export interface Visible {
  readonly segment: BlockRange
  readonly startBlock: number
  readonly finalized: number
}

export interface Page<Name extends TableName> {
  readonly rows: readonly StoredRow<Name>[]
  readonly next: readonly number[] | null
  readonly passed?: { readonly number: number; readonly hash: string }
  readonly historyFrom?: number
  readonly reorgedFrom?: number
  readonly totalCount?: number
  readonly totalCountCapped?: boolean
}

/** Rows are counted up to here (spec "Limits"). */
const TOTAL_COUNT_MAX = 10_000

/** Where a page is read: one connection, at one moment. */
interface Source {
  readonly client: Queryable
  readonly schema: string
  readonly visible: Visible
}

/**
 * Reads one page. `client` is a snapshot's, so that rows, marks and counts are of one moment.
 * @throws HistoryIncompleteError for `asc` while history below is missing
 */
export async function readPage<Name extends TableName>(
  source: Source,
  list: List<Name>,
  filters: ListFilters,
  page: Omit<PageRequest, 'signal'>,
): Promise<Page<Name>> {
  const { client, visible } = source
  const { from: fromBlock, to: toBlock } = await blockBounds(source, filters)
  // The rows asked for go on below what is indexed so far.
  const cut =
    visible.segment.from > visible.startBlock &&
    fromBlock === visible.segment.from &&
    (filters.blockNumberFrom ?? 0) < fromBlock
  const begun = page.position !== undefined && Number(page.position[0]) >= fromBlock
  if (cut && page.order === 'asc' && !begun) throw new HistoryIncompleteError(fromBlock)
  const query = {
    order: page.order,
    limit: page.limit + 1,
    offset: page.offset,
    ...(page.position && { position: page.position.map(Number) }),
    filters: definedOf(filters.values),
    fromBlock,
    toBlock,
  }
  const statement = compilePage(list, query, 'postgres', relation(source, list.table))
  const found = await client.query<Record<string, unknown>>(statement.text, [...statement.values])
  const rows = found.rows.slice(0, page.limit).map((row) => decodePostgresRow(list.table, row))
  return {
    rows,
    ...nextOf(list, rows, found.rows.length > page.limit, page, cut ? fromBlock : null),
    ...(await passedOf(source, list, rows)),
    ...(await reorgOf(source, page)),
    ...(page.wantTotal && (await totalOf(source, list, query, cut))),
  }
}

const relation = ({ schema }: Source, table: string): string => relationOf(schema, table)

/** Times become block bounds first: several blocks share a second, so a time is never a sort key. */
async function blockBounds(source: Source, filters: ListFilters): Promise<BlockRange> {
  const { segment } = source.visible
  const blocks = relation(source, 'blocks')
  let from = Math.max(segment.from, filters.blockNumberFrom ?? 0)
  let to = Math.min(segment.to, filters.blockNumberTo ?? Number.MAX_SAFE_INTEGER)
  const edge = async (sql: string, seconds: number) => {
    const found = await source.client.query<{ num: number }>(sql, [seconds, segment.from, segment.to])
    return found.rows[0]?.num
  }
  if (filters.timestampSecondsFrom !== undefined) {
    const first = await edge(
      `SELECT num FROM ${blocks} WHERE timestamp >= to_timestamp($1) AND num BETWEEN $2 AND $3 ORDER BY timestamp, num LIMIT 1`,
      filters.timestampSecondsFrom,
    )
    from = first === undefined ? to + 1 : Math.max(from, first)
  }
  if (filters.timestampSecondsTo !== undefined) {
    const last = await edge(
      `SELECT num FROM ${blocks} WHERE timestamp <= to_timestamp($1) AND num BETWEEN $2 AND $3 ORDER BY timestamp DESC, num DESC LIMIT 1`,
      filters.timestampSecondsTo,
    )
    to = last === undefined ? from - 1 : Math.min(to, last)
  }
  return { from, to }
}

function nextOf<Name extends TableName>(
  list: List<Name>,
  rows: readonly StoredRow<Name>[],
  more: boolean,
  page: Pick<PageRequest, 'order' | 'position'>,
  historyFrom: number | null,
): Pick<Page<Name>, 'next' | 'historyFrom'> {
  const last: Readonly<Record<string, unknown>> | undefined = rows.at(-1)
  const position = last ? list.key.map((column) => Number(last[column])) : page.position?.map(Number)
  if (more) return { next: position ?? null }
  if (historyFrom === null || page.order === 'asc') return { next: null }
  // The list goes on below what is indexed so far; the client comes back with this place.
  return { next: position ?? list.key.map((_, index) => (index === 0 ? historyFrom : 0)), historyFrom }
}

/** The newest row's block if it can still change: the walk's cursor remembers it. */
async function passedOf<Name extends TableName>(
  source: Source,
  list: List<Name>,
  rows: readonly StoredRow<Name>[],
): Promise<Pick<Page<Name>, 'passed'>> {
  const [blockColumn = ''] = list.key
  const numbers = rows.map((row: Readonly<Record<string, unknown>>) => Number(row[blockColumn]))
  const newest = Math.max(...numbers, -1)
  if (newest <= source.visible.finalized) return {}
  const found = await source.client.query<{ hash: Buffer }>(
    `SELECT hash FROM ${relation(source, 'blocks')} WHERE num = $1`,
    [newest],
  )
  const hash = found.rows[0]?.hash
  return hash ? { passed: { number: newest, hash: toHex(hash) } } : {}
}

/** Where the chain changed under a walk, from the commit log. */
async function reorgOf(
  source: Source,
  { passed }: Pick<PageRequest, 'passed'>,
): Promise<{ reorgedFrom?: number }> {
  if (!passed) return {}
  const found = await source.client.query<{ from_block: number | null }>(
    `SELECT min(from_block) AS from_block FROM ${relation(source, 'commits')}
     WHERE kind = 'revert' AND from_block <= $1 AND to_block >= $1 AND $2 = ANY (hashes)`,
    [passed.number, toBytes(passed.hash)],
  )
  const from = found.rows[0]?.from_block
  return typeof from === 'number' ? { reorgedFrom: from } : {}
}

async function totalOf(
  source: Source,
  list: List,
  query: ListQuery,
  cut: boolean,
): Promise<{ totalCount: number; totalCountCapped?: boolean }> {
  const statement = compileCount(list, query, TOTAL_COUNT_MAX, 'postgres', relation(source, list.table))
  const found = await source.client.query<{ n: number }>(statement.text, [...statement.values])
  const totalCount = Number(found.rows[0]?.n ?? 0)
  return cut ? { totalCount, totalCountCapped: true } : { totalCount }
}

const definedOf = (values: Readonly<Record<string, FilterValue | undefined>>): Record<string, FilterValue> =>
  Object.fromEntries(
    Object.entries(values).filter((entry): entry is [string, FilterValue] => entry[1] !== undefined),
  )

/** Oldest-first lists need the oldest rows, and those are not indexed yet. */
export class HistoryIncompleteError extends MillraceError {
  override readonly name = 'HistoryIncompleteError'
  readonly code = 'history_incomplete'
  readonly remedy = 'retry'
  readonly indexedFrom: number

  constructor(indexedFrom: number) {
    super(`history below block ${indexedFrom} is still being indexed`)
    this.indexedFrom = indexedFrom
  }
}
