/**
 * The order book. `token` is the base of a pair, `amount` is in its units, price is (100000 + tick)
 * / 100000. A fill credits balances inside the contract: tokens move only when someone swaps or
 * withdraws.
 */

import { stablecoinDexAddress } from '../../addresses.ts'
import { defineEvent } from '../event.ts'

/** Some books of genesis have none. */
export const pairCreated = defineEvent({
  signature: 'event PairCreated(bytes32 indexed key, address indexed base, address indexed quote)',
  emittedBy: stablecoinDexAddress,
  title: 'Trading pair created',
})

/** Before T5 also the new order a filled flip order turned into. */
export const orderPlaced = defineEvent({
  signature:
    'event OrderPlaced(uint128 indexed orderId, address indexed maker, address indexed token, uint128 amount, bool isBid, int16 tick, bool isFlipOrder, int16 flipTick)',
  emittedBy: stablecoinDexAddress,
  title: 'Order placed',
})

export const orderFilled = defineEvent({
  signature:
    'event OrderFilled(uint128 indexed orderId, address indexed maker, address indexed taker, uint128 amountFilled, bool partialFill)',
  emittedBy: stablecoinDexAddress,
  title: 'Order filled',
})

/** Since T5: a filled flip order keeps its id and changes sides. */
export const orderFlipped = defineEvent({
  signature:
    'event OrderFlipped(uint128 indexed orderId, address indexed maker, address indexed token, uint128 amount, bool isBid, int16 tick, int16 flipTick)',
  emittedBy: stablecoinDexAddress,
  title: 'Order flipped',
})

/** Since T5: the order could not be funded again. */
export const flipFailed = defineEvent({
  signature: 'event FlipFailed(uint128 indexed orderId, address indexed maker, bytes4 reason)',
  emittedBy: stablecoinDexAddress,
  title: 'Order flip failed',
})

export const orderCancelled = defineEvent({
  signature: 'event OrderCancelled(uint128 indexed orderId)',
  emittedBy: stablecoinDexAddress,
  title: 'Order cancelled',
})
