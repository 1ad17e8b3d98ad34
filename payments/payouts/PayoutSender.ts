/** A way to send what is owed on one chain. */
import { keccak256, toHex } from 'viem'
import { failure } from '#errors.ts'
import type { Fee } from '#money/fees.ts'
import type { Found, Log } from '#money/settled.ts'
import type { Payout, SignedTransaction } from '#rows/payments/payouts.ts'

export interface PayoutSender {
  readonly chainId: number
  /** Between two sendings of the same bytes, while nobody knows what became of them. */
  readonly resendMs: number
  /** Signs the attempt that follows those of the payout; nothing is sent. @throws PayoutRefusedError */
  sign(payout: Payout): Promise<SignedTransaction>
  /** Sends what was signed for the payout's attempt. An answer says nothing: the chain is looked at. */
  send(signed: SignedTransaction, payout: Payout): Promise<void>
  /** What became of the payout's attempt. */
  look(signed: SignedTransaction, payout: Payout): Promise<Found>
  /** What a transfer is stated to cost now, in the smallest unit of its token; 0 where nobody states it. */
  statedFee(): Promise<bigint>
  /** What the chain took, by the logs of a transaction. */
  feeIn(logs: readonly Log[]): Fee
}

/** The payout cannot be sent now; its message says why. */
export class PayoutRefusedError extends failure('PayoutRefusedError', 'payout_refused', 'retry') {}

/**
 * What each transaction of a payout carries. Two payouts of one amount to one account within a second
 * would be the same transaction else. It says what is owed, not which row says so: a chain knows by it what
 * its database may have lost.
 */
export const memoOf = (
  { kind, reference }: Pick<Payout, 'kind' | 'reference'>,
  attempt: number,
): `0x${string}` => keccak256(toHex(`${kind}/${reference}/${attempt}`))
