/** Prices: dollars as decimal text, and what they are in a currency's smallest unit. */

/** Whole dollars and up to 18 places. */
const decimalText = /^(\d{1,9})(?:\.(\d{1,18}))?$/

/**
 * `units` times the price, rounded up to the smallest unit, so that nothing is sold for less.
 * @param dollars decimal text such as `0.0005`
 * @param decimals of the currency, which is worth a dollar
 * @throws RangeError for a text that is no such price
 */
export function amountOf(dollars: string, units: number, decimals: number): bigint {
  const [, whole, fraction = ''] = decimalText.exec(dollars) ?? []
  if (whole === undefined) throw new RangeError(`not a price in dollars: ${dollars}`)
  const scaled = BigInt(whole + fraction) * BigInt(units) * 10n ** BigInt(decimals)
  const scale = 10n ** BigInt(fraction.length)
  return (scaled + scale - 1n) / scale
}

/** The amount as decimal text, without zeros at its end. */
export function decimalOf(amount: bigint, decimals: number): string {
  const text = `${amount}`.padStart(decimals + 1, '0')
  const [whole, fraction] = [text.slice(0, text.length - decimals), text.slice(text.length - decimals)]
  const kept = fraction.replace(/0+$/, '')
  return kept === '' ? whole : `${whole}.${kept}`
}
