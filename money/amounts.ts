/**
 * Amounts are whole numbers of a currency's smallest unit; prices, limits and shares are decimal text.
 * A currency here is worth a dollar.
 */

/** Whole dollars and up to 18 places. */
const pricePattern = /^(\d{1,9})(?:\.(\d{1,18}))?$/
/** Gas and fees are priced in attodollars, of which a millionth of a dollar has so many. */
export const ATTO_PER_MILLIONTH = 10n ** 12n

/** A number of units, so many of which are one: 1.50 is 150 units of two decimals. */
export interface Scaled {
  readonly units: bigint
  readonly decimals: number
}

/** @param text digits, with a point between them or without */
export function scaledOf(text: string): Scaled {
  const [whole = '0', fraction = ''] = text.split('.')
  return { units: BigInt(`${whole}${fraction}`), decimals: fraction.length }
}

/**
 * `units` times the price, rounded up to the smallest unit, so that nothing is sold for less.
 * @param dollars decimal text such as `0.0005`
 * @throws RangeError for a text that is no such price
 */
export function amountOf(dollars: string, units: number, decimals: number): bigint {
  if (!pricePattern.test(dollars)) throw new RangeError(`not a price in dollars: ${dollars}`)
  const price = scaledOf(dollars)
  return rescaled(price.units * BigInt(units), price.decimals, decimals)
}

/** An amount in other decimals. What is lost is rounded up: a quote is never too low. */
export function rescaled(amount: bigint, from: number, to: number): bigint {
  if (from <= to) return amount * 10n ** BigInt(to - from)
  return ceilDivided(amount, 10n ** BigInt(from - to))
}

/** The limit in the smallest unit, rounded down: it is never more than its text says. */
export function limitOf(text: string, decimals: number): bigint {
  const { units, decimals: places } = scaledOf(text)
  return places <= decimals ? rescaled(units, places, decimals) : units / 10n ** BigInt(places - decimals)
}

/** The amount times a decimal text, rounded up. */
export function multiplied(amount: bigint, factor: string): bigint {
  const { units, decimals } = scaledOf(factor)
  return rescaled(amount * units, decimals, 0)
}

/** The amount times a decimal text, rounded down: never more than the share. */
export const shareOf = (amount: bigint, share: string): bigint => {
  const { units, decimals } = scaledOf(share)
  return (amount * units) / 10n ** BigInt(decimals)
}

/** Attodollars as millionths of a dollar, rounded up. */
export const millionthsOf = (attodollars: bigint): bigint => ceilDivided(attodollars, ATTO_PER_MILLIONTH)

/** Division of numbers that are not negative, rounded up. */
const ceilDivided = (amount: bigint, by: bigint): bigint => (amount + by - 1n) / by

export const smaller = (a: bigint, b: bigint): bigint => (a < b ? a : b)

export const larger = (a: bigint, b: bigint): bigint => (a > b ? a : b)

/** Units as a decimal without closing zeros: 1500000 of 6 is 1.5. */
export function decimalText(units: bigint, decimals: number): string {
  const digits = `${units}`.padStart(decimals + 1, '0')
  const at = digits.length - decimals
  const fraction = digits.slice(at).replace(/0+$/, '')
  return fraction === '' ? digits.slice(0, at) : `${digits.slice(0, at)}.${fraction}`
}
