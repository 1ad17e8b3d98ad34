/** The order book. */
import type { Address } from '#primitives.ts'
import { stablecoinDexAddress } from '../../addresses.ts'
import * as dex from '../../events/exchange/stablecoinDex.ts'
import {
  type ActivityTransaction,
  defineActivity,
  fromEvent,
  type TokenAmount,
  tokenAmount,
} from '../activity.ts'

export const orderPlaced = defineActivity({
  type: 'order-placed',
  title: 'Order placed',
  find: fromEvent(dex.orderPlaced, (order, { tx }) => {
    const escrow = escrowOf(order, tx)
    if (escrow === null) return null
    return { orderId: String(order.orderId), side: sideOf(order), tick: order.tick, sourceToken: escrow }
  }),
})

export const orderCancelled = defineActivity({
  type: 'order-cancelled',
  title: 'Order cancelled',
  find: fromEvent(dex.orderCancelled, ({ orderId }) => ({ orderId: String(orderId) })),
})

export const orderFilled = defineActivity({
  type: 'order-filled',
  title: 'Order filled',
  find: fromEvent(dex.orderFilled, ({ orderId, maker, taker, amountFilled, partialFill }) => ({
    orderId: String(orderId),
    maker,
    taker,
    amountFilled: String(amountFilled),
    partialFill,
  })),
})

export const orderFlipped = defineActivity({
  type: 'order-flipped',
  title: 'Order flipped',
  find: fromEvent(dex.orderFlipped, (order, { tx }) => {
    const escrow = escrowOf(order, tx)
    if (escrow === null) return null
    const { maker, tick, flipTick } = order
    return { orderId: String(order.orderId), maker, side: sideOf(order), tick, flipTick, sourceToken: escrow }
  }),
})

export const pairCreated = defineActivity({
  type: 'pair-created',
  title: 'Trading pair created',
  find: fromEvent(dex.pairCreated, ({ key, base, quote }) => ({ key, base, quote })),
})

interface Order {
  readonly orderId: bigint
  readonly maker: Address
  /** Base of the pair. */
  readonly token: Address
  readonly amount: bigint
  readonly isBid: boolean
  readonly tick: number
}

const sideOf = ({ isBid }: Order) => (isBid ? 'bid' : 'ask')

/** A tick is a hundred-thousandth of the price at par. */
const priceScale = 100_000n

/**
 * The amount that the order holds: base for an ask; for a bid the quote at the order's price, rounded up
 * (equal to the transfer in 462 of 462 recorded bids that were funded by one). The event names only the
 * base. The quote is what the caller knows, else what the maker paid in for it; null when neither tells, as
 * with a bid paid from the balance inside the exchange.
 */
function escrowOf(order: Order, tx: ActivityTransaction): TokenAmount | null {
  if (!order.isBid) return tokenAmount(order.token, order.amount)
  const quote = tx.quoteTokenOf(order.orderId) ?? paidToken(order, tx)
  if (quote === null) return null
  const scaled = order.amount * (priceScale + BigInt(order.tick))
  return tokenAmount(quote, (scaled + priceScale - 1n) / priceScale)
}

/** The one other token the maker gave to the exchange in the transaction. */
function paidToken({ maker, token }: Order, { movements }: ActivityTransaction): Address | null {
  const paid = movements.filter(({ from, to }) => from === maker && to === stablecoinDexAddress)
  const others = new Set(paid.map((movement) => movement.token).filter((other) => other !== token))
  const [only = null] = others
  return others.size === 1 ? only : null
}
