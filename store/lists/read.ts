/** Reads pages of lists from Postgres, within what is covered and never beyond it. */
import type { BlockRange } from '#ingest/range.ts'
import type { TableName } from '#transform/tables.ts'
import { MillraceError } from '../../errors.ts'
import { runCancellable } from '../cancel.ts'
import { type Postgres, quoteIdentifier, toBytes } from '../postgres.ts'
import { compileCount, compilePage } from './compile.ts'
import type { FilterValue, List } from './list.ts'
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

/** Reads one page. @throws HistoryIncompleteError for `asc` while history below is missing */
export async function readPage<Name extends TableName>(
  postgres: Postgres,
  schema: string,
  list: List<Name>,
  filters: ListFilters,
  page: PageRequest,
  visible: Visible,
): Promise<Page<Name>> {
  const incomplete = visible.segment.from > visible.startBlock
  const bounds = await blockBounds(postgres, schema, filters, visible, page.signal)
  if (
    page.order === 'asc' &&
    incomplete &&
    (filters.blockNumberFrom ?? visible.startBlock) < visible.segment.from
  )
    throw new HistoryIncompleteError(visible.segment.from)
  const query = {
    order: page.order,
    limit: page.limit + 1,
    offset: page.offset,
    ...(page.position && { position: page.position.map(Number) }),
    filters: definedOf(filters.values),
    fromBlock: bounds.from,
    toBlock: bounds.to,
  }
  const source = `${quoteIdentifier(schema)}.${quoteIdentifier(list.table)}`
  const statement = compilePage(list, query, 'postgres', source)
  const found = await runCancellable(postgres, statement.text, statement.values, page.signal)
  const rows = found.slice(0, page.limit).map((row) => decodePostgresRow(list.table, row))
  const cut = incomplete && (filters.blockNumberFrom ?? 0) < visible.segment.from
  return {
    rows,
    ...nextOf(list, rows, found.length > page.limit, page, cut ? visible.segment.from : null),
    ...(await passedOf(postgres, schema, list, rows, visible)),
    ...(await reorgOf(postgres, schema, page)),
    ...(page.wantTotal && (await totalOf(postgres, list, query, source, page.signal, cut))),
  }
}

/** Times become block bounds first: several blocks share a second, so a time is never a sort key. */
async function blockBounds(
  postgres: Postgres,
  schema: string,
  filters: ListFilters,
  visible: Visible,
  signal: AbortSignal,
): Promise<BlockRange> {
  let { from, to } = visible.segment
  from = Math.max(from, filters.blockNumberFrom ?? 0)
  to = Math.min(to, filters.blockNumberTo ?? Number.MAX_SAFE_INTEGER)
  const blocks = `${quoteIdentifier(schema)}.blocks`
  const edge = async (sql: string, seconds: number) => {
    const [row] = await runCancellable(
      postgres,
      sql,
      [seconds, visible.segment.from, visible.segment.to],
      signal,
    )
    return row?.['num']
  }
  if (filters.timestampSecondsFrom !== undefined) {
    const first = await edge(
      `SELECT num FROM ${blocks} WHERE timestamp >= to_timestamp($1) AND num BETWEEN $2 AND $3 ORDER BY timestamp, num LIMIT 1`,
      filters.timestampSecondsFrom,
    )
    from = typeof first === 'number' ? Math.max(from, first) : to + 1
  }
  if (filters.timestampSecondsTo !== undefined) {
    const last = await edge(
      `SELECT num FROM ${blocks} WHERE timestamp <= to_timestamp($1) AND num BETWEEN $2 AND $3 ORDER BY timestamp DESC, num DESC LIMIT 1`,
      filters.timestampSecondsTo,
    )
    to = typeof last === 'number' ? Math.min(to, last) : from - 1
  }
  return { from, to }
}

function nextOf<Name extends TableName>(
  list: List<Name>,
  rows: readonly StoredRow<Name>[],
  more: boolean,
  page: PageRequest,
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
  postgres: Postgres,
  schema: string,
  list: List<Name>,
  rows: readonly StoredRow<Name>[],
  visible: Visible,
): Promise<Pick<Page<Name>, 'passed'>> {
  const [blockColumn = ''] = list.key
  const numbers = rows.map((row: Readonly<Record<string, unknown>>) => Number(row[blockColumn]))
  const newest = Math.max(...numbers, -1)
  if (newest <= visible.finalized) return {}
  const found = await postgres.pool.query<{ hash: Buffer }>(
    `SELECT hash FROM ${quoteIdentifier(schema)}.blocks WHERE num = $1`,
    [newest],
  )
  const hash = found.rows[0]?.hash
  return hash ? { passed: { number: newest, hash: `0x${hash.toString('hex')}` } } : {}
}

/** Where the chain changed under a walk, from the commit log. */
async function reorgOf(
  postgres: Postgres,
  schema: string,
  page: PageRequest,
): Promise<{ reorgedFrom?: number }> {
  if (!page.passed) return {}
  const found = await postgres.pool.query<{ from_block: number }>(
    `SELECT min(from_block) AS from_block FROM ${quoteIdentifier(schema)}.commits
     WHERE kind = 'revert' AND from_block <= $1 AND to_block >= $1 AND $2 = ANY (hashes)`,
    [page.passed.number, toBytes(page.passed.hash)],
  )
  const from = found.rows[0]?.from_block
  return typeof from === 'number' ? { reorgedFrom: from } : {}
}

async function totalOf(
  postgres: Postgres,
  list: List,
  query: Parameters<typeof compileCount>[1],
  source: string,
  signal: AbortSignal,
  cut: boolean,
): Promise<{ totalCount: number; totalCountCapped?: boolean }> {
  const statement = compileCount(list, query, TOTAL_COUNT_MAX, 'postgres', source)
  const [row] = await runCancellable(postgres, statement.text, statement.values, signal)
  const totalCount = Number(row?.['n'] ?? 0)
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
