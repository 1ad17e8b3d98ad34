/** Reads of fills: those of one order, and those of a taker's swaps. */

import type { Address, Hash } from '#primitives.ts'
import { hash } from '#primitives.ts'
import { orderIdOf, orderKey } from '../../follow/exchange/bookStates.ts'
import { relationOf, toHex } from '../../sql.ts'
import { logWalk } from '../lists/logWalk.ts'
import {
  type ListFilters,
  type PageRequest,
  type PageSource,
  readWalk,
  type Walk,
  type WalkPage,
} from '../lists/read.ts'
import {
  addressIn,
  type BookMoment,
  type ExchangeChain,
  type PairTokens,
  pairTokens,
  readBook,
} from './exchangeChain.ts'

export interface FillRow {
  readonly blockNumber: number
  readonly logIndex: number
  readonly timestampSeconds: number
  readonly txHash: Hash
  readonly txIndex: number
  /** Position of the log in its transaction, from 0. */
  readonly txLogIndex: number
  /** Log index of the first fill of its swap. */
  readonly swapLogIndex: number
  readonly orderId: bigint
  readonly maker: Address
  readonly taker: Address
  readonly pair: PairTokens
  /** Side of the maker's order. */
  readonly isBid: boolean
  readonly tick: number
  readonly isPartial: boolean
  readonly amount: bigint
  /** The maker's payment or receipt. */
  readonly quoteAmount: bigint
  /** The taker's payment or receipt: rounding may leave a unit or two with the exchange. */
  readonly takerQuoteAmount: bigint
  /** The reserves of the pair's open orders after it. */
  readonly reserve0: bigint
  readonly reserve1: bigint
}

const emptyWalk = { rows: [], next: null, totalCount: 0, totalCountCapped: false } as const

export const fillsOf = (schema: string): string => relationOf(schema, 'exchange_fills')

/** Fills of an order, whatever became of it. */
export function listOrderFills(
  chain: ExchangeChain,
  id: bigint,
  page: PageRequest,
): Promise<WalkPage<FillRow>> {
  return walkBook(chain, (moment) => orderFillsWalk(moment, id), {}, page)
}

/** Reads a page of a walk over what the order book tells, up to the block its fold stands at. */
export async function walkBook<Row>(
  chain: ExchangeChain,
  walkOf: (moment: BookMoment) => Walk<Row>,
  bounds: Omit<ListFilters, 'values'>,
  page: PageRequest,
): Promise<WalkPage<Row>> {
  if (chain.kind !== 'tempo') return emptyWalk
  const { finalized, startBlock } = chain.state
  return readBook(chain, page.signal, (moment) => {
    const { client, schema, tip } = moment
    const visible = { segment: { from: startBlock, to: tip }, startBlock, finalized }
    const source: PageSource = { client, schema, visible }
    return readWalk(source, walkOf(moment), bounds, page)
  })
}

function orderFillsWalk({ client, schema }: BookMoment, id: bigint): Walk<FillRow> {
  return logWalk({
    client,
    relation: fillsOf(schema),
    conditions: (parameters) => [`order_id = ${parameters.bytes(orderKey(id))}`],
    rowOf: fillRow,
  })
}

export interface FillColumns extends Readonly<Record<string, unknown>> {
  readonly block_num: number
  readonly log_idx: number
  readonly block_timestamp: Date
  readonly tx_idx: number
  readonly tx_log_idx: number
  readonly tx_hash: Buffer
  readonly swap_log_idx: number
  readonly order_id: Buffer
  readonly maker: Buffer
  readonly taker: Buffer
  readonly pair: Buffer
  readonly base: Buffer
  readonly quote: Buffer
  readonly is_bid: boolean
  readonly tick: number
  readonly is_partial: boolean
  readonly amount: string
  readonly quote_amount: string
  readonly taker_quote_amount: string | null
  readonly reserve0: string
  readonly reserve1: string
}

export const fillRow = (row: FillColumns): FillRow => ({
  blockNumber: row.block_num,
  logIndex: row.log_idx,
  timestampSeconds: row.block_timestamp.getTime() / 1000,
  txHash: hash(toHex(row.tx_hash)),
  txIndex: row.tx_idx,
  txLogIndex: row.tx_log_idx,
  swapLogIndex: row.swap_log_idx,
  orderId: orderIdOf(toHex(row.order_id)),
  maker: addressIn(row.maker),
  taker: addressIn(row.taker),
  pair: pairTokens(row),
  isBid: row.is_bid,
  tick: row.tick,
  isPartial: row.is_partial,
  amount: BigInt(row.amount),
  quoteAmount: BigInt(row.quote_amount),
  takerQuoteAmount: BigInt(row.taker_quote_amount ?? row.quote_amount),
  reserve0: BigInt(row.reserve0),
  reserve1: BigInt(row.reserve1),
})
