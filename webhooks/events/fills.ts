/** exchange:filled: an order of the exchange was filled, in whole or in part. */

import { formatUnits } from 'viem/utils'
import { isoSeconds } from '#http/schema.ts'
import { tickPrice } from '#store/follow/exchange/price.ts'
import type { FillRow } from '#store/read/exchange/fills.ts'
import { conditionOn, type EventFields, formsOf, readFields } from '../filters/eventFilter.ts'
import { address, hash, oneOf, quantity } from '../filters/operators.ts'
import { defineEventType, nothingNeeded } from './eventType.ts'

/** Decimals of a price: ticks are hundred-thousandths. */
const PRICE_DECIMALS = 5

const fields: EventFields<FillRow> = {
  orderId: conditionOn(quantity, ({ orderId }) => [orderId], 'orderId'),
  maker: conditionOn(address, ({ maker }) => [maker], 'maker'),
  taker: conditionOn(address, ({ taker }) => [taker], 'taker'),
  participant: conditionOn(address, ({ maker, taker }) => [maker, taker], 'participant'),
  pair: conditionOn(hash, ({ pair }) => [pair.key], 'pair'),
  base: conditionOn(address, ({ pair }) => [pair.base], 'base'),
  quote: conditionOn(address, ({ pair }) => [pair.quote], 'quote'),
  token: conditionOn(address, ({ pair }) => [pair.base, pair.quote], 'token'),
  side: conditionOn(oneOf('bid', 'ask'), ({ isBid }) => [isBid ? 'bid' : 'ask']),
  amount: conditionOn(quantity, ({ amount }) => [amount]),
  quoteAmount: conditionOn(quantity, ({ quoteAmount }) => [quoteAmount]),
  blockNumber: conditionOn(quantity, ({ blockNumber }) => [BigInt(blockNumber)], 'blockNumber'),
}

export const exchangeFilled = defineEventType<FillRow>({
  type: 'exchange:filled',
  description: 'An order of the exchange was filled, in whole or in part: who, which pair, side and price.',
  stream: 'fills',
  table: 'exchange_fills',
  needsFilters: false,
  isExtension: true,
  filterForms: formsOf(fields),
  read: (filters) => ({
    filter: readFields(fields, filters),
    form: 'fill',
    needs: nothingNeeded,
    data: (fill) => ({
      orderId: `${fill.orderId}`,
      maker: fill.maker,
      taker: fill.taker,
      pair: { key: fill.pair.key, base: fill.pair.base, quote: fill.pair.quote },
      side: fill.isBid ? 'bid' : 'ask',
      price: fixed(formatUnits(tickPrice(fill.tick), PRICE_DECIMALS)),
      amount: `${fill.amount}`,
      quoteAmount: `${fill.quoteAmount}`,
      takerQuoteAmount: `${fill.takerQuoteAmount}`,
      partialFill: fill.isPartial,
      blockNumber: fill.blockNumber,
      logIndex: fill.logIndex,
      transactionHash: fill.txHash,
      timestamp: isoSeconds(fill.timestampSeconds),
    }),
  }),
  eventsOf: ({ exchange_fills: fills }) => fills,
  placeOf: ({ blockNumber, logIndex: index }) => ({ blockNumber, index }),
})

/** All decimals, as the API writes prices. */
function fixed(text: string): string {
  const [whole = '', fraction = ''] = text.split('.')
  return `${whole}.${fraction.padEnd(PRICE_DECIMALS, '0')}`
}
