/** GET /v1/exchange/orders, /v1/exchange/orders/{orderId} and its fills. */

import { endpoint } from '#http/endpoint.ts'
import { ApiError } from '#http/errors.ts'
import { listEndpoint } from '#http/listEndpoint.ts'
import { type Caller, partyOf } from '#http/request/access.ts'
import { dataPageRules } from '#http/request/pagination.ts'
import * as p from '#http/request/parameter.ts'
import * as s from '#http/schema.ts'
import {
  type Names,
  pairTokensSchema,
  presentOrderRate,
  presentPairTokens,
  presentPrice,
  priceSchema,
  rateSchema,
} from '#present/exchange.ts'
import type { FillRow } from '#store/read/exchange/fills.ts'
import { listOrderFills } from '#store/read/exchange/fills.ts'
import { findOrder, listOrders, type OpenOrder, type OrderRow } from '#store/read/exchange/orders.ts'
import { readsOf } from '../../services.ts'
import { atBlock, tokenChainOf } from '../tokens/tokens.ts'
import { isBehind, readNodeOrder } from './nodeBook.ts'
import { type ExchangeServices, errors, readNames } from './services.ts'

/** Ids are 128-bit. */
const orderIdMax = 2n ** 128n - 1n
/** An id is written in one way. */
const orderIdPattern = /^(0|[1-9][0-9]{0,38})$/

const orderId = p.parameter<bigint>({
  schema: s.text({ pattern: orderIdPattern.source, examples: ['1'] }),
  description: 'Order id, as a decimal integer up to 2^128 - 1.',
  code: 'order_invalid',
  parse: (text) => {
    const id = orderIdPattern.test(text) ? BigInt(text) : orderIdMax + 1n
    if (id > orderIdMax) throw new p.ParameterError('expected a decimal integer up to 2^128 - 1')
    return id
  },
})

const side = s.oneOf(['bid', 'ask'])

const restingOrderSchema = s.named('ExchangeOrder', {
  id: s.amount,
  orderId: s.amount,
  maker: s.address,
  pair: pairTokensSchema,
  side,
  tick: s.integer(),
  price: priceSchema,
  rate: rateSchema,
  amount: s.amount,
  remaining: s.amount,
  state: s.oneOf(['open', 'filled', 'cancelled']),
  placedAt: s.timestamp,
  blockNumber: s.count,
  logIndex: s.count,
  transactionHash: s.hash,
})

interface ShownOrder {
  readonly row: OrderRow
  readonly names: Names
}

export const listOrdersEndpoint = listEndpoint({
  path: '/v1/exchange/orders',
  summary: 'Orders of the exchange: those that are open, unless `state` says otherwise.',
  description:
    'All pages of a walk show one block: that of the first page, or `atBlock`. An order that flipped under its id was placed where it flipped. `remaining` of a cancelled order is what was left of it. `truncated` is always false: all orders are listed.',
  filters: {
    base: p.described(p.address, 'Base token of the pair. 404 `pair_not_found` for a token without one.'),
    maker: p.described(p.address, 'Account that placed the order.'),
    side: p.described(p.oneOf('bid', 'ask'), '`bid` buys the base token, `ask` sells it.'),
    state: p.withDefault(p.described(p.oneOf('open', 'filled', 'cancelled', 'all'), 'Which orders.'), 'open'),
    sort: p.withDefault(
      p.described(p.oneOf('tick', 'time'), '`tick`: by price, ties by id. `time`: by placement.'),
      'tick',
    ),
    atBlock,
  },
  include: ['tokens', 'totalCount'],
  item: restingOrderSchema,
  pages: { ...dataPageRules },
  fixed: { truncated: false },
  errors: [...errors, 'pair_not_found', 'block_not_reached'],
  list: async (call, services: ExchangeServices) => {
    const { chainId, filters, page, standing } = call
    const found = await listOrders(tokenChainOf(services, chainId, standing), filters, page)
    if (!found) throw new ApiError('pair_not_found')
    const pairs = found.rows.map(({ pair }) => pair)
    const names = await readNames(services, { ...call, signal: page.signal }, pairs)
    return { ...found, rows: found.rows.map((row): ShownOrder => ({ row, names })) }
  },
  present: ({ row, names }: ShownOrder) => ({
    id: `${row.id}`,
    orderId: `${row.id}`,
    maker: row.maker,
    pair: presentPairTokens(row.pair, names),
    side: row.isBid ? ('bid' as const) : ('ask' as const),
    tick: row.tick,
    price: presentPrice(row.tick),
    rate: presentOrderRate(row.tick, row.isBid),
    amount: `${row.amount}`,
    remaining: `${row.remaining}`,
    state: row.state,
    placedAt: s.isoSeconds(row.timestampSeconds),
    blockNumber: row.blockNumber,
    logIndex: row.logIndex,
    transactionHash: row.txHash,
  }),
})

interface ShownOpenOrder {
  readonly row: OpenOrder
  readonly names: Names
  readonly isFromNode: boolean
}

export const readOrderEndpoint = endpoint({
  path: '/v1/exchange/orders/{orderId}',
  summary: 'One open order.',
  description:
    'A closed order is 404 `order_not_found`, as the exchange forgets it too; its fills stay. While orders are not ready the answer comes from the node, with `svc-source: node`.',
  params: { orderId },
  include: ['tokens'],
  response: s.named('OpenOrder', {
    id: s.amount,
    orderId: s.amount,
    maker: s.address,
    pair: pairTokensSchema,
    isBid: s.boolean(),
    tick: s.integer(),
    price: priceSchema,
    rate: rateSchema,
    mode: s.oneOf(['exactSource', 'exactDestination']),
    amount: s.amount,
    remaining: s.amount,
    isFlipOrder: s.boolean(),
    flipTick: s.integer(),
  }),
  errors: ['order_not_found', 'overloaded'],
  read: async (call, services: ExchangeServices): Promise<ShownOpenOrder> => {
    const { row, isFromNode } = await readOpenOrder(services, call)
    if (!row) throw new ApiError('order_not_found')
    return { row, names: await readNames(services, call, [row.pair]), isFromNode }
  },
  present: ({ row, names }: ShownOpenOrder) => ({
    id: `${row.id}`,
    orderId: `${row.id}`,
    maker: row.maker,
    pair: presentPairTokens(row.pair, names),
    isBid: row.isBid,
    tick: row.tick,
    price: presentPrice(row.tick),
    rate: presentOrderRate(row.tick, row.isBid),
    mode: row.isBid ? ('exactSource' as const) : ('exactDestination' as const),
    amount: `${row.amount}`,
    remaining: `${row.remaining}`,
    isFlipOrder: row.isFlip,
    flipTick: row.flipTick,
  }),
  headers: ({ isFromNode }) => (isFromNode ? { 'svc-source': 'node' } : {}),
  cache: 'feed',
})

interface OrderAsked {
  readonly chainId: number
  readonly path: { readonly orderId: bigint }
  readonly caller: Caller
  readonly signal: AbortSignal
}

async function readOpenOrder(
  services: ExchangeServices,
  { chainId, path, caller, signal }: OrderAsked,
): Promise<{ readonly row: OpenOrder | null; readonly isFromNode: boolean }> {
  try {
    const row = await findOrder(tokenChainOf(services, chainId), path.orderId, signal)
    return { row: row?.state === 'open' ? row : null, isFromNode: false }
  } catch (error) {
    if (!isBehind(error)) throw error
    return {
      row: await readNodeOrder(readsOf(services, chainId).node, path.orderId, partyOf(caller), signal),
      isFromNode: true,
    }
  }
}

export const listOrderFillsEndpoint = listEndpoint({
  path: '/v1/exchange/orders/{orderId}/fills',
  summary: 'Fills of an order, open or closed.',
  params: { orderId },
  include: ['totalCount'],
  item: s.named('OrderFill', {
    id: s.text({ description: 'Transaction hash and log index.' }),
    orderId: s.amount,
    taker: s.address,
    amountFilled: s.amount,
    partialFill: s.boolean(),
    filledAt: s.timestamp,
    blockNumber: s.count,
    logIndex: s.count,
    transactionHash: s.hash,
  }),
  errors,
  list: ({ chainId, path, page, standing }, services: ExchangeServices) =>
    listOrderFills(tokenChainOf(services, chainId, standing), path.orderId, page),
  present: (row: FillRow) => ({
    id: `${row.txHash}-${row.logIndex}`,
    orderId: `${row.orderId}`,
    taker: row.taker,
    amountFilled: `${row.amount}`,
    partialFill: row.isPartial,
    filledAt: s.isoSeconds(row.timestampSeconds),
    blockNumber: row.blockNumber,
    logIndex: row.logIndex,
    transactionHash: row.txHash,
  }),
})
