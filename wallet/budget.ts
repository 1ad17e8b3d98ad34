/**
 * The port between a price and the wallet: a plan is quoted, and sold, only as long as the wallet
 * would buy all of its calls now.
 */
import type { EgressAnswer } from '#egress/Egress.ts'
import type { AppDatabase } from '#rows/database.ts'
import type { Offered } from './paying.ts'

export interface WalletBudget {
  /** Offers of a 402 that a purchase could pay. */
  payable(answer: Pick<EgressAnswer, 'headers' | 'body'>): Promise<readonly Offered[]>
  /** Obstacles to the wallet's purchase of one job's calls now; empty if there is none. */
  obstacles(calls: readonly BudgetedCall[]): Promise<readonly Obstacle[]>
  /**
   * Reserves what a job may spend, in the transaction that claims its payment. Null once it is
   * reserved; else the transaction is to be given up.
   */
  reserve(transaction: AppDatabase, job: SoldJob): Promise<Pick<Obstacle, 'message'> | null>
}

export interface SoldJob {
  readonly jobId: string
  readonly paymentId: string
  /** Lowercase address; null where the payment proves none before it settles. */
  readonly payer: string | null
  /** Those that cost something. */
  readonly calls: readonly SoldCall[]
}

/** A call at the price that it was sold for. */
export interface SoldCall {
  readonly serviceId: string
  /** In the smallest unit of quotes. */
  readonly units: bigint
  /** The part of its price for the chain's fee. */
  readonly statedFeeUnits: bigint
  /** The offer that it was priced by; null where another process has asked for it. */
  readonly offered: Offered | null
}

/** A call that costs something, by the offer that would be paid. */
export interface BudgetedCall extends SoldCall {
  readonly nodeId: string
  readonly offered: Offered
}

/** Why a call is not bought now. The text follows the name of a node, and tells no balance and no limit. */
export interface Obstacle {
  readonly nodeId: string
  readonly message: string
  /** When it surely is none any more; null where nobody knows. */
  readonly retryAfterMs: number | null
}
