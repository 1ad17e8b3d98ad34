/** What a transfer on a Tempo chain is stated to cost before it is made, by the price of its gas. */
import { millionthsOf } from './amounts.ts'

/** The most that a chain may take for a transfer, in millionths of a dollar: five cents. */
export const FEE_MAX = 50_000n

/** A transfer with a memo to an account that never had the token takes 315,000; to another one 70,000. */
const GAS = 350_000n
/** A price may rise before it is paid, in hundredths: as far as the library signs for. */
const RISE = 120n

/** In millionths of a dollar. @param price of a unit of gas, in attodollars */
export function statedFeeAt(price: bigint): bigint {
  const fee = millionthsOf((price * GAS * RISE) / 100n)
  return fee < FEE_MAX ? fee : FEE_MAX
}
