/**
 * A query's price, from its use of time of a core and of bytes read. The prices are those of a rented core
 * and of the analytics services analysts compare with; whoever charges for queries charges this.
 */
import type { QueryEstimate } from './result.ts'

const MICRODOLLARS_PER_CORE_HOUR = 100_000
const MICRODOLLARS_PER_TERABYTE = 5_000_000

/** Digits behind the point: the cheapest query costs something. */
const DIGITS = 9

/** US dollars as a decimal string. */
export function queryPriceOf({ timeMs, bytes }: QueryEstimate): string {
  const microdollars =
    (timeMs / 3_600_000) * MICRODOLLARS_PER_CORE_HOUR + (bytes / 1e12) * MICRODOLLARS_PER_TERABYTE
  return (Math.ceil(microdollars * 1_000) / 10 ** DIGITS).toFixed(DIGITS)
}

/** Whether a price is above a limit; both are decimal strings of US dollars. */
export const isDearer = (price: string, limit: string): boolean => Number(price) > Number(limit)
