/**
 * The order book in ClickHouse's words, decoded from its logs when they are read: fills are few
 * among a chain's logs, and a filter on the contract and the event reaches the indexes of `logs`.
 */
import { pathUsdAddress, stablecoinDexAddress, tip20FactoryAddress } from '#transform/addresses.ts'
import {
  flipFailed,
  orderCancelled,
  orderFilled,
  orderFlipped,
  orderPlaced,
  pairCreated,
} from '#transform/events/exchange/stablecoinDex.ts'
import { quoteTokenUpdate } from '#transform/events/tokens/tip20.ts'
import { tokenCreated } from '#transform/events/tokens/tip20Factory.ts'

/** Gives a relation's visible rows as a sub-select. */
type RowsOf = (relation: string) => string

const bytes = (hex: string): string => `unhex('${hex.slice(2)}')`
export const exchange = bytes(stablecoinDexAddress)

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

/** Columns of every row that is a log. */
export const placeNames = ['block_num', 'block_timestamp', 'tx_idx', 'log_idx', 'tx_hash', 'address'] as const
const place = placeNames.join(', ')

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

export const pairsSql = (rowsOf: RowsOf): string =>
  `SELECT ${place}, assumeNotNull(topic1) AS key, ${account(2)} AS base, ${account(3)} AS quote ` +
  `FROM ${emitted(rowsOf('logs'), pairCreated)}`

export const ordersSql = (rowsOf: RowsOf): string =>
  `SELECT ${place}, ${orderId} AS orderId, ${account(2)} AS maker, ${account(3)} AS token, ${uint(0)} AS amount, ` +
  `${flag(1)} AS isBid, ${tick(2)} AS tick, ${flag(3)} AS isFlipOrder, ${tick(4)} AS flipTick ` +
  `FROM ${emitted(rowsOf('logs'), orderPlaced)}`

/** An order's state from a log on; a flip in place (since T5) swaps its sides and keeps its id. */
const orderStatesSql = (rowsOf: RowsOf): string => {
  const isFlip = `topic0 = ${bytes(orderFlipped.topic0)}`
  return (
    `SELECT ${place}, ${orderId} AS orderId, ${account(2)} AS maker, ${account(3)} AS token, ${uint(0)} AS amount, ` +
    `${flag(1)} AS isBid, ${tick(2)} AS tick, if(${isFlip}, toUInt8(1), ${flag(3)}) AS isFlipOrder, ` +
    `if(${isFlip}, ${tick(3)}, ${tick(4)}) AS flipTick, if(${isFlip}, 'OrderFlipped', 'OrderPlaced') AS eventType, '' AS reason ` +
    `FROM ${emitted(rowsOf('logs'), orderPlaced, orderFlipped)}`
  )
}

/** A flip that failed leaves its order filled, as it was. */
const failedFlipsSql = (rowsOf: RowsOf): string => {
  const kept = ['maker', 'token', 'amount', 'isBid', 'tick', 'isFlipOrder', 'flipTick']
  return (
    `SELECT ${placeNames.map((name) => `failed.${name} AS ${name}`).join(', ')}, failed.id AS orderId, ` +
    `${kept.map((name) => `state.${name} AS ${name}`).join(', ')}, 'FlipFailed' AS eventType, failed.why AS reason ` +
    `FROM (SELECT ${place}, ${position} AS place, ${orderId} AS id, concat('0x', lower(hex(substring(data, 1, 4)))) AS why ` +
    `FROM ${emitted(rowsOf('logs'), flipFailed)}) AS failed ` +
    `ASOF JOIN (SELECT *, ${position} AS place, orderId AS id FROM (${orderStatesSql(rowsOf)})) AS state ` +
    'ON failed.id = state.id AND failed.place > state.place'
  )
}

export const orderEventsSql = (rowsOf: RowsOf): string =>
  `${orderStatesSql(rowsOf)} UNION ALL ${failedFlipsSql(rowsOf)}`

export const fillsSql = (rowsOf: RowsOf): string =>
  `SELECT ${place}, ${orderId} AS orderId, ${account(2)} AS maker, ${account(3)} AS taker, ` +
  `${uint(0)} AS amountFilled, ${flag(1)} AS partialFill FROM ${emitted(rowsOf('logs'), orderFilled)}`

const statesSql = (rowsOf: RowsOf): string =>
  `SELECT ${position} AS place, orderId AS id, token, isBid AS is_bid, tick, amount FROM (${orderStatesSql(rowsOf)})`

/**
 * Each fill with its order as it stood strictly before it, since the flip that a fill causes is
 * logged after it. Fills of orders that nobody placed (ids of genesis) have no price and are left
 * out. A bid's maker gives no more than the price, an ask's maker gets no less.
 */
const pricedFillsSql = (rowsOf: RowsOf): string =>
  'SELECT fill.*, state.place AS began, state.token AS token, state.is_bid AS is_bid, state.tick AS tick, ' +
  'toUInt256(intDiv(toInt256(fill.amountFilled) * toInt256(100000 + state.tick) + if(state.is_bid = 1, 0, 99999), 100000)) AS quote_amount ' +
  `FROM (SELECT *, ${position} AS place, orderId AS id FROM (${fillsSql(rowsOf)})) AS fill ` +
  `ASOF JOIN (${statesSql(rowsOf)}) AS state ON fill.id = state.id AND fill.place > state.place`

/** Blocks are held from genesis on. */
const hasGenesis = (rowsOf: RowsOf): string => `0 IN (SELECT num FROM ${rowsOf('blocks')} WHERE num = 0)`

/**
 * From where on a token is quoted in what. A token of genesis is quoted in pathUSD until a log says
 * otherwise.
 */
const quotesSql = (rowsOf: RowsOf): string => {
  const logs = rowsOf('logs')
  return [
    `SELECT ${position} AS place, base AS token, quote FROM (${pairsSql(rowsOf)})`,
    `SELECT ${position}, toFixedString(address, 20), ${account(2)} FROM ${logs} ` +
      `WHERE topic0 = ${bytes(quoteTokenUpdate.topic0)} AND topic2 IS NOT NULL`,
    `SELECT ${position}, ${account(1)}, toFixedString(substring(data, 109, 20), 20) FROM ${logs} ` +
      `WHERE address = ${bytes(tip20FactoryAddress)} AND topic0 = ${bytes(tokenCreated.topic0)}`,
    `SELECT DISTINCT toUInt64(0), ${account(3)}, toFixedString(${bytes(pathUsdAddress)}, 20) ` +
      `FROM ${emitted(logs, orderPlaced)} AND ${hasGenesis(rowsOf)}`,
  ].join(' UNION ALL ')
}

/** The pair of each order: that of its base token's quote token where it was placed. */
const orderPairsSql = (rowsOf: RowsOf): string =>
  'SELECT placed.id AS id, placed.token AS base, quoted.quote AS quote FROM ' +
  `(SELECT ${position} AS place, orderId AS id, token FROM (${ordersSql(rowsOf)})) AS placed ` +
  `ASOF LEFT JOIN (${quotesSql(rowsOf)}) AS quoted ON placed.token = quoted.token AND placed.place > quoted.place`

export const enrichedFillsSql = (rowsOf: RowsOf): string =>
  `SELECT ${placeNames.map((name) => `fill.${name} AS ${name}`).join(', ')}, fill.orderId AS orderId, fill.maker AS maker, ` +
  'fill.taker AS taker, fill.amountFilled AS amountFilled, fill.partialFill AS partialFill, fill.token AS token, ' +
  'fill.is_bid AS isBid, fill.tick AS tick, toUInt8(fill.tick = 0) AS at_peg, toFloat64(100000 + fill.tick) / 100000 AS price, ' +
  'fill.quote_amount AS quote_amount, pair.quote AS quote_token, ' +
  'if(fill.is_bid = 1, fill.token, pair.quote) AS source_token, if(fill.is_bid = 1, fill.amountFilled, fill.quote_amount) AS source_amount, ' +
  'if(fill.is_bid = 1, pair.quote, fill.token) AS destination_token, if(fill.is_bid = 1, fill.quote_amount, fill.amountFilled) AS destination_amount ' +
  `FROM (${pricedFillsSql(rowsOf)}) AS fill LEFT JOIN (${orderPairsSql(rowsOf)}) AS pair ON pair.id = fill.id`

/** By pair, not by base alone: two quote tokens have no volume in common. */
export const candlesSql = (rowsOf: RowsOf): string =>
  'SELECT bucket, token, quote_token, argMin(price, place) AS open, max(price) AS high, min(price) AS low, argMax(price, place) AS close, ' +
  'sum(amountFilled) AS base_volume, sum(quote_amount) AS quote_volume, count() AS fill_count FROM ' +
  `(SELECT toStartOfMinute(block_timestamp) AS bucket, *, ${position} AS place FROM (${enrichedFillsSql(rowsOf)})) ` +
  'GROUP BY bucket, token, quote_token'

/** The amounts that open asks offer, by pair. */
const offeredSql = (rowsOf: RowsOf): string =>
  'SELECT pair.base AS base, pair.quote AS quote, sum(toUInt256(newest.amount - ifNull(filled.amount, toUInt256(0)))) AS offered FROM ' +
  '(SELECT id, max(place) AS began, argMax(amount, place) AS amount, argMax(is_bid, place) AS is_bid ' +
  `FROM (${statesSql(rowsOf)}) GROUP BY id) AS newest ` +
  `INNER JOIN (${orderPairsSql(rowsOf)}) AS pair ON pair.id = newest.id ` +
  `LEFT JOIN (SELECT id, began, sum(amountFilled) AS amount FROM (${pricedFillsSql(rowsOf)}) GROUP BY id, began) AS filled ` +
  'ON filled.id = newest.id AND filled.began = newest.began ' +
  `WHERE newest.is_bid = 0 AND newest.id NOT IN (SELECT ${orderId} FROM ${emitted(rowsOf('logs'), orderCancelled)}) ` +
  'GROUP BY base, quote'

/** Pairs with an event, and those of genesis that have had an order. */
const allPairsSql = (rowsOf: RowsOf): string => {
  const created = `SELECT key, base, quote, block_num, log_idx, block_timestamp, tx_hash FROM (${pairsSql(rowsOf)})`
  const ofOrders =
    'SELECT DISTINCT keccak256(concat(base, quote)) AS key, base, assumeNotNull(quote) AS quote ' +
    `FROM (${orderPairsSql(rowsOf)}) WHERE isNotNull(quote)`
  return (
    `${created} UNION ALL SELECT traded.key, traded.base, traded.quote, genesis.num, toUInt32(0), genesis.timestamp, toFixedString('', 32) ` +
    `FROM (${ofOrders}) AS traded CROSS JOIN (SELECT num, timestamp FROM ${rowsOf('blocks')} WHERE num = 0) AS genesis ` +
    `WHERE traded.key NOT IN (SELECT key FROM (${pairsSql(rowsOf)}))`
  )
}

/** `balances`: what the exchange holds, by token. */
export const liquiditySql = (rowsOf: RowsOf, balances: string): string =>
  'SELECT pair.key AS key, pair.base AS base, pair.quote AS quote, pair.block_num AS block_num, pair.log_idx AS log_idx, ' +
  'pair.block_timestamp AS block_timestamp, pair.tx_hash AS tx_hash, ' +
  'ifNull(asks.offered, toUInt256(0)) AS liquidity, ifNull(held.balance, toUInt256(0)) AS balance ' +
  `FROM (${allPairsSql(rowsOf)}) AS pair ` +
  `LEFT JOIN (${offeredSql(rowsOf)}) AS asks ON asks.base = pair.base AND asks.quote = pair.quote ` +
  `LEFT JOIN (SELECT token, balance FROM (${balances}) WHERE holder = ${exchange}) AS held ON held.token = pair.base`
