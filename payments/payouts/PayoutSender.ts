/** A way to send what is owed on one chain. */
import { failure } from '#errors.ts'
import type { Fee } from '#money/fees.ts'
import type { Log, Sought, TxFate } from '#money/settled.ts'
import type { Payout, SignedTransaction } from '#rows/payments/payouts.ts'

export interface PayoutSender {
  readonly chainId: number
  /** Between two sendings of the same bytes, while nobody knows what became of them. */
  readonly resendMs: number
  /**
   * Signs the attempt that follows those of the payout; nothing is sent.
   * @param feeMax the most that the chain may take for it, in the smallest unit of its token; null for any
   * @throws PayoutRefusedError
   */
  sign(payout: Payout, feeMax: bigint | null): Promise<SignedTransaction>
  /** Sends what was signed for the payout's attempt. An answer says nothing: the chain is looked at. */
  send(signed: SignedTransaction, payout: Payout): Promise<void>
  /** The fate of the payout's attempt. */
  look(signed: SignedTransaction, payout: Payout): Promise<TxFate>
  /** The fate of a transaction that the rows do not have. */
  lookAt(sought: Sought): Promise<TxFate>
  /** A transfer's stated cost now, in the smallest unit of its token; 0 if nobody states it. */
  statedFee(): Promise<bigint>
  feeTo(debt: Pick<Payout, 'currency' | 'to'>): Promise<FeeTo>
  /** The chain's fee, by the logs of a transaction. */
  feeIn(logs: readonly Log[]): Fee
}

/** The cost of a transfer to an account, in the smallest unit of its token. */
export interface FeeTo {
  /** At the price of now. */
  readonly now: bigint
  /** At the highest price that it may rise to before the transfer is sent. */
  readonly most: bigint
}

/** The payout cannot be sent now; its message says why. */
export class PayoutRefusedError extends failure('PayoutRefusedError', 'payout_refused', 'retry') {}
