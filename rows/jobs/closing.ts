/**
 * A job's cost to its payer in the end: the cost of its calls, times the multiplier it was quoted with, and
 * the fees of chains as they are; never more than was charged.
 */
import { multiplied, rescaled, smaller } from '#money/amounts.ts'
import type { CallCosts, ChargedJob, Closing } from './books.ts'

export function closingOf(job: Omit<ChargedJob, 'payer' | 'paymentId'>, costs: CallCosts): Closing {
  const { charge, costMultiplier, decimals, chargedUnits } = job
  const cost = multiplied(costs.paidUnits, costMultiplier) + costs.feeUnits
  const committedUnits = smaller(cost, chargedUnits)
  if (charge === null) return { costs, committedUnits, committedAmount: 0n, refund: 0n }
  const committedAmount = smaller(rescaled(committedUnits, decimals, charge.tokenDecimals), charge.amount)
  return { costs, committedUnits, committedAmount, refund: charge.amount - committedAmount }
}
