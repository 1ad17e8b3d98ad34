/**
 * The order book's tables, decoded from its logs when they are read: fills are few among a chain's
 * logs, and a filter on the contract and the event reaches the indexes of `logs`.
 */
import { stablecoinDexAddress } from '#transform/addresses.ts'
import { orderFilled, orderFlipped, orderPlaced, pairCreated } from '#transform/events/stablecoinDex.ts'
import { balanceRelations } from './balances.ts'
import { type DerivedRelation, described } from './derivedRelation.ts'

const bytes = (hex: string): string => `unhex('${hex.slice(2)}')`
const exchange = bytes(stablecoinDexAddress)

/**
 * Words of data and topics, by position. The event's own signature made them well-formed; the
 * contract is the chain's.
 */
const uint = (word: number): string => `reinterpretAsUInt256(reverse(substring(data, ${word * 32 + 1}, 32)))`
const flag = (word: number): string => `toUInt8(substring(data, ${word * 32 + 32}, 1) = char(1))`
const tick = (word: number): string => `reinterpretAsInt16(reverse(substring(data, ${word * 32 + 31}, 2)))`
const account = (topic: number): string =>
  `toFixedString(substring(assumeNotNull(topic${topic}), 13, 20), 20)`
const orderId = 'reinterpretAsUInt128(reverse(substring(assumeNotNull(topic1), 17, 16)))'

const placeColumns = {
  block_num: ['bigint', 'height of the block'],
  block_timestamp: ['timestamp', 'time of the block, to the second; several blocks share one'],
  tx_idx: ['int', 'position of the transaction in its block, from 0'],
  log_idx: ['int', 'position of the log in its block, from 0'],
  tx_hash: ['bytes', 'hash of the transaction'],
  address: ['bytes', 'the exchange'],
} as const
const place = Object.keys(placeColumns).join(', ')

/**
 * One number, since the join by the latest earlier row takes no tuples; heights stay far below
 * 2^32.
 */
const position = '(block_num * 4294967296 + log_idx)'

interface Topic {
  readonly topic0: string
}

const emitted = (logs: string, ...events: readonly Topic[]): string =>
  `${logs} WHERE address = ${exchange} AND topic0 IN (${events.map(({ topic0 }) => bytes(topic0)).join(', ')})`

const pairsSql = (logs: string): string =>
  `SELECT ${place}, assumeNotNull(topic1) AS key, ${account(2)} AS base, ${account(3)} AS quote FROM ${emitted(logs, pairCreated)}`

const fillsSql = (logs: string): string =>
  `SELECT ${place}, ${orderId} AS orderId, ${account(2)} AS maker, ${account(3)} AS taker, ` +
  `${uint(0)} AS amountFilled, ${flag(1)} AS partialFill FROM ${emitted(logs, orderFilled)}`

/**
 * An order as it stood from a place of the chain on; a flip swaps its sides and keeps its id (since
 * T5).
 */
const statesSql = (logs: string): string =>
  `SELECT ${position} AS place, ${orderId} AS id, ${account(3)} AS token, ${flag(1)} AS is_bid, ${tick(2)} AS tick ` +
  `FROM ${emitted(logs, orderPlaced, orderFlipped)}`

/**
 * Each fill with its order as it stood strictly before it, since the flip that a fill causes is
 * logged after it. Fills of orders that nobody placed (ids of genesis) have no price and are left
 * out.
 */
const pricedFillsSql = (logs: string): string =>
  'SELECT fill.block_timestamp AS at, fill.place AS place, fill.amount AS amount, state.token AS token, ' +
  'state.is_bid AS is_bid, toInt256(100000 + state.tick) AS price FROM ' +
  `(SELECT block_timestamp, ${position} AS place, ${orderId} AS id, ${uint(0)} AS amount FROM ${emitted(logs, orderFilled)}) AS fill ` +
  `ASOF JOIN (${statesSql(logs)}) AS state ON fill.id = state.id AND fill.place > state.place`

const candlesSql = (logs: string): string =>
  'SELECT bucket, token, argMin(rate, place) AS open, max(rate) AS high, min(rate) AS low, argMax(rate, place) AS close, ' +
  'sum(amount) AS base_volume, sum(quote) AS quote_volume, count() AS fill_count FROM ' +
  // A bid's maker gives no more than the price, an ask's maker gets no less.
  '(SELECT toStartOfMinute(at) AS bucket, token, place, amount, ' +
  'toUInt256(intDiv(toInt256(amount) * price + if(is_bid = 1, 0, 99999), 100000)) AS quote, ' +
  `toFloat64(price) / 100000 AS rate FROM (${pricedFillsSql(logs)})) ` +
  'GROUP BY bucket, token'

const orderColumns = {
  orderId: ['numeric', 'id of the order'],
  maker: ['bytes', 'account that placed it'],
} as const
const pairColumns = {
  key: ['bytes', 'id of the pair: hash of base and quote'],
  base: ['bytes', 'token that is traded'],
  quote: ['bytes', 'token it is priced in'],
} as const

export const exchangeRelations: readonly DerivedRelation[] = [
  {
    name: 'dex_pairs',
    blockColumn: 'block_num',
    comment: 'one trading pair created; some pairs of genesis have no log',
    columns: described({ ...placeColumns, ...pairColumns }),
    derive: (rowsOf) => pairsSql(rowsOf('logs')),
  },
  {
    name: 'dex_orders',
    blockColumn: 'block_num',
    comment: 'one order placed',
    columns: described({
      ...placeColumns,
      ...orderColumns,
      token: ['bytes', 'base token of the pair'],
      amount: ['numeric', 'in the base token’s smallest unit'],
      isBid: ['int', '1 buys the base token, 0 sells it'],
      tick: ['int', 'price is (100000 + tick) / 100000 quote per base'],
      isFlipOrder: ['int', '1 turns into the opposite order when filled'],
      flipTick: ['int', 'tick of the opposite order'],
    }),
    derive: (rowsOf) =>
      `SELECT ${place}, ${orderId} AS orderId, ${account(2)} AS maker, ${account(3)} AS token, ${uint(0)} AS amount, ` +
      `${flag(1)} AS isBid, ${tick(2)} AS tick, ${flag(3)} AS isFlipOrder, ${tick(4)} AS flipTick ` +
      `FROM ${emitted(rowsOf('logs'), orderPlaced)}`,
  },
  {
    name: 'dex_fills',
    blockColumn: 'block_num',
    comment: 'one fill of an order',
    columns: described({
      ...placeColumns,
      ...orderColumns,
      taker: ['bytes', 'account that took it'],
      amountFilled: ['numeric', 'in the base token’s smallest unit'],
      partialFill: ['int', '1 when some of the order is left'],
    }),
    derive: (rowsOf) => fillsSql(rowsOf('logs')),
  },
  {
    name: 'dex_ohlc_1m',
    blockColumn: null,
    comment: 'fills of one base token in one minute, priced by their orders',
    columns: described({
      bucket: ['timestamp', 'start of the minute'],
      token: ['bytes', 'base token'],
      open: ['float', 'price of the first fill, in quote per base'],
      high: ['float', 'highest price'],
      low: ['float', 'lowest price'],
      close: ['float', 'price of the last fill'],
      base_volume: ['numeric', 'in the base token’s smallest unit'],
      quote_volume: ['numeric', 'in the quote token’s smallest unit; fills of bids rounded down, of asks up'],
      fill_count: ['bigint', 'fills'],
    }),
    derive: (rowsOf) => candlesSql(rowsOf('logs')),
  },
  {
    name: 'dex_pair_liquidity',
    blockColumn: null,
    comment: 'how much of its base token the exchange holds, by pair',
    columns: described({
      ...pairColumns,
      block_num: ['bigint', 'height at which the pair was created'],
      log_idx: placeColumns.log_idx,
      block_timestamp: ['timestamp', 'when the pair was created'],
      tx_hash: placeColumns.tx_hash,
      liquidity: ['numeric', 'base tokens of the exchange, in the smallest unit'],
    }),
    derive: (rowsOf) => {
      const held = balanceRelations.find(({ name }) => name === 'address_balances')?.derive(rowsOf)
      return (
        'SELECT p.key AS key, p.base AS base, p.quote AS quote, p.block_num AS block_num, p.log_idx AS log_idx, ' +
        'p.block_timestamp AS block_timestamp, p.tx_hash AS tx_hash, ifNull(held.balance, toUInt256(0)) AS liquidity ' +
        `FROM (${pairsSql(rowsOf('logs'))}) AS p LEFT JOIN ` +
        `(SELECT token, balance FROM (${held}) WHERE holder = ${exchange}) AS held ON held.token = p.base`
      )
    },
  },
]
