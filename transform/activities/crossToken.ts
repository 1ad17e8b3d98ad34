/**
 * Payments in another token than the payer's: which of a transaction's transfers are one such
 * payment.
 */
import type { Address } from '#primitives.ts'
import type { ActivityFacts } from './activity.ts'
import { viewFrom } from './listActivities.ts'
import { findSwappedPayment } from './tokens/transfers.ts'

/** The sender's payment to the exchange, its receipt, and the transfer that passed all of that on. */
export interface CrossTokenTransfer {
  /** Log index of the Transfer to the recipient. */
  readonly logIndex: number
  /** Log indexes of the Transfers into and out of the exchange. */
  readonly legs: ReadonlySet<number>
  readonly source: CrossTokenSide
  readonly destination: CrossTokenSide
}

export interface CrossTokenSide {
  readonly token: Address
  readonly amount: bigint
}

/** The one of a transaction's sender; null when there is none. */
export function findCrossTokenTransfer(facts: ActivityFacts): CrossTokenTransfer | null {
  const found = findSwappedPayment(viewFrom(facts, facts.from))
  if (found === null) return null
  const { payment, source, destination } = found
  const legs = [...source.movements, ...destination.movements].map((leg) => leg.transferLogIndex)
  return { logIndex: payment.transferLogIndex, legs: new Set(legs), source, destination }
}
