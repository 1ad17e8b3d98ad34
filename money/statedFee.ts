/** The stated cost of a transfer on a Tempo chain before it is made, by the price of its gas. */
import { ATTO_PER_MILLIONTH, millionthsOf, smaller } from './amounts.ts'

/** The most that a chain may take for a transfer, in millionths of a dollar: five cents. */
export const FEE_MAX = 50_000n

/** A transfer with a memo to an account that has none of the token takes 315,000, to another one 70,000. */
const GAS = { toOthers: 350_000n, toHolders: 80_000n }
/** A price may rise before it is paid, in hundredths: as far as the library signs for. */
const RISE = 120n

/** The highest price that is signed for. @param price of a unit of gas now */
export const risen = (price: bigint): bigint => (price * RISE) / 100n

/** In millionths of a dollar, whoever gets it. @param price of a unit of gas, in attodollars */
export function statedFeeAt(price: bigint): bigint {
  return smaller(transferFeeAt(risen(price), false), FEE_MAX)
}

/**
 * The same at a price that does not rise, without a bound.
 * @param isToHolder the receiver has some of the token
 */
export const transferFeeAt = (price: bigint, isToHolder: boolean): bigint =>
  millionthsOf(price * gasOf(isToHolder))

/**
 * The highest price of a unit of gas at which a transfer costs no more than that.
 * @param fee in millionths of a dollar
 */
export const priceWithin = (fee: bigint, isToHolder: boolean): bigint =>
  (fee * ATTO_PER_MILLIONTH) / gasOf(isToHolder)

const gasOf = (isToHolder: boolean): bigint => (isToHolder ? GAS.toHolders : GAS.toOthers)
