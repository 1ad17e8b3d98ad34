/** The order book's tables. */
import { balanceRelations } from './balances.ts'
import { type DerivedRelation, described } from './derivedRelation.ts'
import {
  candlesSql,
  enrichedFillsSql,
  fillsSql,
  liquiditySql,
  orderEventsSql,
  ordersSql,
  pairsSql,
  type placeNames,
} from './exchangeSql.ts'

const placeColumns = {
  block_num: ['bigint', 'height of the block'],
  block_timestamp: ['timestamp', 'time of the block, to the second; several blocks share one'],
  tx_idx: ['int', 'position of the transaction in its block, from 0'],
  log_idx: ['int', 'position of the log in its block, from 0'],
  tx_hash: ['bytes', 'hash of the transaction'],
  address: ['bytes', 'the exchange'],
} as const satisfies Record<(typeof placeNames)[number], unknown>

const makerColumns = {
  orderId: ['numeric', 'id of the order'],
  maker: ['bytes', 'account that placed it'],
} as const
const orderColumns = {
  ...makerColumns,
  token: ['bytes', 'base token of the pair'],
  amount: ['numeric', 'in the base token’s smallest unit'],
  isBid: ['int', '1 buys the base token, 0 sells it'],
  tick: ['int', 'price is (100000 + tick) / 100000 quote per base'],
  isFlipOrder: ['int', '1 turns into the opposite order when filled'],
  flipTick: ['int', 'tick of the opposite order'],
} as const
const fillColumns = {
  ...makerColumns,
  taker: ['bytes', 'account that took it'],
  amountFilled: ['numeric', 'in the base token’s smallest unit'],
  partialFill: ['int', '1 when some of the order is left'],
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
    comment: 'one log of a trading pair created, none left out; pairs of genesis have no log',
    columns: described({ ...placeColumns, ...pairColumns }),
    derive: pairsSql,
  },
  {
    name: 'dex_orders',
    blockColumn: 'block_num',
    comment: 'one log of an order placed, none left out; flips since T5 are in dex_order_events',
    columns: described({ ...placeColumns, ...orderColumns }),
    derive: ordersSql,
  },
  {
    name: 'dex_order_events',
    blockColumn: 'block_num',
    comment:
      'what an order is from a log on: one order placed, flipped in place, or left filled as its flip failed (since T5)',
    columns: described({
      ...placeColumns,
      ...orderColumns,
      eventType: ['text', '`OrderPlaced`, `OrderFlipped` or `FlipFailed`'],
      reason: ['text', 'why a flip failed: the selector of the error, `0x` and 8 digits; else empty'],
    }),
    derive: orderEventsSql,
  },
  {
    name: 'dex_fills',
    blockColumn: 'block_num',
    comment: 'one log of a fill, none left out',
    columns: described({ ...placeColumns, ...fillColumns }),
    derive: fillsSql,
  },
  {
    name: 'dex_fills_enriched',
    blockColumn: 'block_num',
    comment: 'one fill with its order as it stood before it; fills of orders that nobody placed are left out',
    columns: described({
      ...placeColumns,
      ...fillColumns,
      token: ['bytes', 'base token of the pair'],
      quote_token: ['bytes', 'what the base token was quoted in when the order was placed'],
      isBid: ['int', '1 where the maker bought the base token'],
      tick: ['int', 'of the maker’s order'],
      at_peg: ['int', '1 at a price of 1'],
      price: ['float', 'quote per base'],
      quote_amount: ['numeric', 'in the quote token’s smallest unit; rounded down for a bid, up for an ask'],
      source_token: ['bytes', 'token the taker gave'],
      source_amount: [
        'numeric',
        'what the taker gave at the price of the fill, in its smallest unit; rounding may take two more of a swap',
      ],
      destination_token: ['bytes', 'token the taker got'],
      destination_amount: [
        'numeric',
        'what the taker got at the price of the fill, in its smallest unit; rounding may keep two of a swap',
      ],
    }),
    derive: enrichedFillsSql,
  },
  {
    name: 'dex_ohlc_1m',
    blockColumn: null,
    comment:
      'rows of dex_fills_enriched of one pair in one minute: fills of orders that nobody placed are left out',
    columns: described({
      bucket: ['timestamp', 'start of the minute'],
      token: ['bytes', 'base token'],
      quote_token: ['bytes', 'what it was quoted in'],
      open: ['float', 'price of the first fill, in quote per base'],
      high: ['float', 'highest price'],
      low: ['float', 'lowest price'],
      close: ['float', 'price of the last fill'],
      base_volume: ['numeric', 'in the base token’s smallest unit'],
      quote_volume: ['numeric', 'in the quote token’s smallest unit; fills of bids rounded down, of asks up'],
      fill_count: ['bigint', 'fills'],
    }),
    derive: candlesSql,
  },
  {
    name: 'dex_pair_liquidity',
    blockColumn: null,
    comment: 'what a pair’s open asks offer; pairs of genesis are there once they have had an order',
    columns: described({
      ...pairColumns,
      block_num: ['bigint', 'height at which the pair was created; 0 for pairs of genesis'],
      log_idx: ['int', 'position of its log in its block; 0 for pairs of genesis'],
      block_timestamp: ['timestamp', 'when the pair was created'],
      tx_hash: ['bytes', 'hash of the transaction; zeros for pairs of genesis'],
      liquidity: ['numeric', 'base tokens that open asks offer, in the smallest unit'],
      balance: [
        'numeric',
        'base tokens that the exchange holds: those of every pair and side, and what it keeps for accounts',
      ],
    }),
    derive: (rowsOf) => {
      const held = balanceRelations.find(({ name }) => name === 'address_balances')?.derive(rowsOf)
      return liquiditySql(rowsOf, held ?? '')
    },
  },
]
