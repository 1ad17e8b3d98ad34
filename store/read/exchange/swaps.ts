/** Reads of swaps: the fills of one taker that one call caused, with what the call said. */
import { Parameters, relationOf, toBytes, toHex } from '../../sql.ts'
import { cutPage } from '../lists/page.ts'
import type { ListFilters, PageRequest, Walk, WalkPage, WalkQuery } from '../lists/read.ts'
import { placeCondition } from '../lists/statement.ts'
import type { BookMoment, ExchangeChain } from './exchangeChain.ts'
import { type FillColumns, type FillRow, fillRow, fillsOf, walkBook } from './fills.ts'

/** One swap, with the calls of its transaction. */
export interface SwapRow {
  readonly blockNumber: number
  /** Index of its first fill. */
  readonly logIndex: number
  /** As they were logged, at least one. */
  readonly fills: readonly FillRow[]
  readonly calls: readonly SwapCall[]
}

/** A call of the transaction, whoever was called. */
export interface SwapCall {
  readonly to: string | null
  readonly input: string
}

export interface SwapFilters {
  readonly maker?: string | undefined
  readonly taker?: string | undefined
  /** The taker, or any maker. */
  readonly participant?: string | undefined
  readonly txHash?: string | undefined
}

export const listSwaps = (
  chain: ExchangeChain,
  filters: SwapFilters,
  bounds: Omit<ListFilters, 'values'>,
  page: PageRequest,
): Promise<WalkPage<SwapRow>> => walkBook(chain, (moment) => swapsWalk(moment, filters), bounds, page)

function swapsWalk({ client, schema }: BookMoment, filters: SwapFilters): Walk<SwapRow> {
  return {
    positionOf: ({ blockNumber, logIndex }) => [blockNumber, logIndex],
    rows: async (query) => {
      const parameters = new Parameters()
      const text = swapsSql(schema, filters, query, parameters)
      const found = await client.query<SwapColumns>(text, parameters.values)
      const swaps = [...Map.groupBy(found.rows, (row) => `${row.block_num}/${row.swap_log_idx}`).values()]
      return cutPage(swaps.map(swapRow), query.limit)
    },
  }
}

/** The page's swaps with all of their fills, and one swap more where the list goes on. */
function swapsSql(schema: string, filters: SwapFilters, query: WalkQuery, parameters: Parameters): string {
  const [block, log] = [`block_num ${query.order}`, `swap_log_idx ${query.order}`]
  const limit = query.limit + 1 + query.offset
  const branches = branchesOf(schema, filters, parameters).map(
    (condition) =>
      `(SELECT DISTINCT block_num, swap_log_idx FROM ${fillsOf(schema)} AS fill
        WHERE ${placeCondition(query, parameters, ['block_num', 'swap_log_idx'])} AND ${condition}
        ORDER BY ${block}, ${log} LIMIT ${limit})`,
  )
  return `SELECT fills.*, txs."to" AS tx_to, txs.input, txs.calls
    FROM (SELECT * FROM (${branches.join(' UNION ')}) AS found
          ORDER BY ${block}, ${log} LIMIT ${query.limit + 1} OFFSET ${query.offset}) AS page
    JOIN ${fillsOf(schema)} AS fills USING (block_num, swap_log_idx)
    JOIN ${relationOf(schema, 'txs')} AS txs ON txs.block_num = fills.block_num AND txs.idx = fills.tx_idx
    ORDER BY ${block}, ${log}, fills.log_idx`
}

/** Taker and transaction are the same for all fills of a swap, makers are not. */
function branchesOf(
  schema: string,
  { maker, taker, participant, txHash }: SwapFilters,
  parameters: Parameters,
): string[] {
  const equal = (column: string, value: string) => `${column} = ${parameters.add(toBytes(value))}`
  const always = [
    ...(taker === undefined ? [] : [equal('taker', taker)]),
    ...(txHash === undefined ? [] : [equal('tx_hash', txHash)]),
  ]
  const made = (by: string) => equal('maker', by)
  const alsoMade = (by: string) =>
    `EXISTS (SELECT FROM ${fillsOf(schema)} AS other WHERE other.block_num = fill.block_num
       AND other.swap_log_idx = fill.swap_log_idx AND other.${made(by)})`
  if (participant === undefined)
    return [[...always, ...(maker === undefined ? [] : [made(maker)]), 'true'].join(' AND ')]
  const beside = [...always, ...(maker === undefined ? [] : [alsoMade(maker)])]
  return [equal('taker', participant), made(participant)].map((own) => [own, ...beside].join(' AND '))
}

interface SwapColumns extends FillColumns {
  readonly tx_to: Buffer | null
  readonly input: Buffer
  readonly calls: string | null
}

function swapRow(rows: readonly SwapColumns[]): SwapRow {
  const [first] = rows
  if (!first) throw new TypeError('a swap has fills')
  return {
    blockNumber: first.block_num,
    logIndex: first.swap_log_idx,
    fills: rows.map(fillRow),
    calls: callsOf(first),
  }
}

/** A 0x76 transaction has calls of its own; any other is one call. */
function callsOf({ calls, tx_to: to, input }: SwapColumns): readonly SwapCall[] {
  if (calls === null) return [{ to: to && toHex(to), input: toHex(input) }]
  const parsed: unknown = JSON.parse(calls)
  return Array.isArray(parsed) ? parsed.flatMap(callOf) : []
}

/** Nodes name the data of a call `input`, `data` or both. */
function callOf(call: unknown): SwapCall[] {
  if (typeof call !== 'object' || call === null) return []
  const { to, input, data }: { to?: unknown; input?: unknown; data?: unknown } = call
  const bytes = typeof input === 'string' ? input : data
  return typeof bytes === 'string'
    ? [{ to: typeof to === 'string' ? to.toLowerCase() : null, input: bytes }]
    : []
}
