/**
 * What a job costs its payer in the end: what was paid for its calls, times the multiplier it was
 * quoted with, and never more than was charged.
 */
import { multiplied, rescaled } from '#money/amounts.ts'
import type { ChargedJob, Closing } from './books.ts'

export function closingOf(job: Omit<ChargedJob, 'payer' | 'paymentId'>, paidUnits: bigint): Closing {
  const { charge, costMultiplier, decimals, chargedUnits } = job
  const committedUnits = least(multiplied(paidUnits, costMultiplier), chargedUnits)
  if (charge === null) return { paidUnits, committedUnits, committedAmount: 0n, refund: 0n }
  const committedAmount = least(rescaled(committedUnits, decimals, charge.tokenDecimals), charge.amount)
  return { paidUnits, committedUnits, committedAmount, refund: charge.amount - committedAmount }
}

const least = (a: bigint, b: bigint): bigint => (a < b ? a : b)
