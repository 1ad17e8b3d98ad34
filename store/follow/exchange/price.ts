/** The worth of amounts of an order book: ticks are hundred-thousandths of a quote token per base token. */

/** A tick of 0 is one quote token per base token. */
export const PRICE_SCALE = 100_000n

/** Quote per base, times `PRICE_SCALE`. */
export const tickPrice = (tick: number): bigint => PRICE_SCALE + BigInt(tick)

/**
 * The taker's payment or receipt for `amount` of a fill, in the quote token: a bid's maker gives no more
 * than the price, an ask's maker gets no less.
 */
export function quoteOfFill(amount: bigint, tick: number, isBid: boolean): bigint {
  return isBid ? (amount * tickPrice(tick)) / PRICE_SCALE : escrowOf(amount, tick)
}

/** The amount that a bid of so much holds back in the quote token: rounded up. */
export const escrowOf = (amount: bigint, tick: number): bigint =>
  (amount * tickPrice(tick) + PRICE_SCALE - 1n) / PRICE_SCALE
