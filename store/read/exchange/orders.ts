/** Reads of orders: by price or by time, as they stand after a block. */
import type { Address, Hash } from '#primitives.ts'
import { hash } from '#primitives.ts'
import { assertReached } from '../../follow/balances/moment.ts'
import { type OrderState, orderIdOf, orderKey, ordersTable } from '../../follow/exchange/bookStates.ts'
import { Parameters, relationOf, toBytes, toHex } from '../../sql.ts'
import { pageOf } from '../lists/page.ts'
import { pinOf } from '../lists/pinned.ts'
import type { PageRequest, WalkPage } from '../lists/read.ts'
import {
  addressIn,
  type BookMoment,
  type ExchangeChain,
  type PairTokens,
  pairTokens,
  readBook,
} from './exchangeChain.ts'
import { isBase } from './pairs.ts'
import { compileStatesAt, countStatesAt, type StatesQuery } from './statesAt.ts'

export interface OrderRow {
  readonly id: bigint
  readonly maker: Address
  readonly pair: PairTokens
  readonly isBid: boolean
  readonly tick: number
  readonly amount: bigint
  /** Unfilled amount; for a cancelled order, at its cancellation. */
  readonly remaining: bigint
  readonly isFlip: boolean
  readonly flipTick: number
  readonly state: OrderState
  /** The block at which it was placed, or flipped. */
  readonly blockNumber: number
  readonly logIndex: number
  readonly timestampSeconds: number
  readonly txHash: Hash
}

/** The facts of an open order that the store and a node both know. */
export type OpenOrder = Pick<
  OrderRow,
  'id' | 'maker' | 'pair' | 'isBid' | 'tick' | 'amount' | 'remaining' | 'isFlip' | 'flipTick'
>

export interface OrderFilters {
  readonly base?: Address | undefined
  readonly maker?: Address | undefined
  readonly side?: 'bid' | 'ask' | undefined
  readonly state: OrderState | 'all'
  readonly sort: 'tick' | 'time'
  readonly atBlock?: number | undefined
}

export interface OrderPage extends Omit<WalkPage<OrderRow>, 'next'> {
  readonly next: readonly (number | string)[] | null
}

/** Orders are counted up to here. */
const TOTAL_COUNT_MAX = 10_000

const emptyPage: OrderPage = { rows: [], next: null, totalCount: 0, totalCountCapped: false }

/** Null where the base token has no pair. @throws BlockNotReachedError */
export async function listOrders(
  chain: ExchangeChain,
  filters: OrderFilters,
  page: PageRequest,
): Promise<OrderPage | null> {
  if (chain.kind !== 'tempo') return filters.base === undefined ? emptyPage : null
  const { finalized } = chain.state
  return readBook(chain, page.signal, async (moment) => {
    const { client, schema, tip } = moment
    if (filters.base !== undefined && !(await isBase(moment, filters.base))) return null
    const { atBlock } = filters
    if (atBlock !== undefined) assertReached(atBlock, tip)
    const pinned = Number(page.position?.at(-1) ?? tip)
    const { block, marks } = await pinOf({ client, schema, finalized }, page, { pinned, atBlock, tip })
    const parameters = new Parameters()
    const query = queryOf(filters, block, page, parameters)
    const text = compileStatesAt(schema, query, parameters)
    const found = await client.query<OrderColumns>(text, parameters.values)
    return {
      ...pageOf(found.rows.map(orderRow), page.limit, (last) => [...positionOf(filters, last), block]),
      ...marks,
      ...(page.wantTotal && { totalCount: await countOrders(moment, filters, block) }),
    }
  })
}

function queryOf(
  filters: OrderFilters,
  block: number,
  { order, limit, offset, position }: PageRequest,
  parameters: Parameters,
): StatesQuery {
  const [first, second] = position ?? []
  const byTick = filters.sort === 'tick'
  return {
    ...{ table: ordersTable.name, block, branches: branchesOf(filters, parameters) },
    orderBy: byTick ? ['tick', 'order_id'] : ['placed_block', 'placed_log_idx'],
    after: position && [
      parameters.add(first),
      byTick ? parameters.bytes(orderKey(BigInt(second ?? 0))) : parameters.add(second),
    ],
    ...{ order, limit: limit + 1, offset },
  }
}

const positionOf = ({ sort }: OrderFilters, row: OrderRow): readonly (number | string)[] =>
  sort === 'tick' ? [row.tick, `${row.id}`] : [row.blockNumber, row.logIndex]

/** One set of conditions for each state: indexes have the state before what they are ordered by. */
function branchesOf({ base, maker, side, state }: OrderFilters, parameters: Parameters): string[] {
  const conditions = [
    base && `base = ${parameters.bytes(base)}`,
    maker && `maker = ${parameters.bytes(maker)}`,
    side && `is_bid = ${side === 'bid'}`,
  ].filter(Boolean)
  const states: readonly OrderState[] = state === 'all' ? ['open', 'filled', 'cancelled'] : [state]
  return states.map((one) => [...conditions, `state = '${one}'`].join(' AND '))
}

function countOrders(moment: BookMoment, filters: OrderFilters, block: number): Promise<number> {
  const parameters = new Parameters()
  const branches = branchesOf(filters, parameters)
  return countStatesAt(moment, { table: ordersTable.name, block, branches }, parameters, TOTAL_COUNT_MAX)
}

/** The order of an id as it stands now, whatever became of it; null when none was placed. */
export async function findOrder(
  chain: ExchangeChain,
  id: bigint,
  signal: AbortSignal,
): Promise<OrderRow | null> {
  if (chain.kind !== 'tempo') return null
  return readBook(chain, signal, async ({ client, schema }) => {
    const found = await client.query<OrderColumns>(
      `SELECT * FROM ${relationOf(schema, `${ordersTable.name}_current`)} WHERE order_id = $1`,
      [toBytes(orderKey(id))],
    )
    return found.rows[0] ? orderRow(found.rows[0]) : null
  })
}

interface OrderColumns extends Readonly<Record<string, unknown>> {
  readonly order_id: Buffer
  readonly maker: Buffer
  readonly pair: Buffer
  readonly base: Buffer
  readonly quote: Buffer
  readonly is_bid: boolean
  readonly tick: number
  readonly amount: string
  readonly remaining: string
  readonly is_flip: boolean
  readonly flip_tick: number
  readonly state: OrderState
  readonly placed_block: number
  readonly placed_log_idx: number
  readonly placed_at: Date
  readonly placed_tx: Buffer
}

const orderRow = (row: OrderColumns): OrderRow => ({
  id: orderIdOf(toHex(row.order_id)),
  maker: addressIn(row.maker),
  pair: pairTokens(row),
  isBid: row.is_bid,
  tick: row.tick,
  amount: BigInt(row.amount),
  remaining: BigInt(row.remaining),
  isFlip: row.is_flip,
  flipTick: row.flip_tick,
  state: row.state,
  blockNumber: row.placed_block,
  logIndex: row.placed_log_idx,
  timestampSeconds: row.placed_at.getTime() / 1000,
  txHash: hash(toHex(row.placed_tx)),
})
