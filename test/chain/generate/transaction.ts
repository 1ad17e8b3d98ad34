/** One transaction of the generated chain, from what shall happen to signed bytes. */
import type { TxCall } from '#local/devchain/traffic/calls.ts'
import type { MinedTransaction } from '#local/devchain/traffic/produceBlock.ts'
import { type Envelope, expiringLane, signDraft, type TxDraft } from '#local/devchain/traffic/signDraft.ts'
import type { Hex } from '#primitives.ts'
import type { Actor } from './actor.ts'

export interface Transaction
  extends Pick<TxDraft, 'tip' | 'feeToken' | 'validAfter' | 'validBefore' | 'delegate'> {
  readonly from: Actor
  /** At least one. */
  readonly calls: readonly TxCall[]
  /** Chosen when it is dressed, where it is absent. */
  readonly envelope?: Envelope
  /** 1,500,000 when absent. */
  readonly gas?: bigint
  readonly sponsor?: Actor
  /** A lane of nonces of its own; `expiringLane` does not count at all. */
  readonly nonceKey?: bigint
  /** Told what became of it, if it was mined. */
  readonly onReceipt?: (receipt: MinedTransaction) => void
}

const gasDefault = 1_500_000n

/** Signs a transaction and moves its sender's nonce on. */
export function sign(transaction: Transaction, chainId: number): Promise<Hex> {
  const { from, calls, gas = gasDefault, tip = 0n, envelope = 'tempo', sponsor, ...rest } = transaction
  const [first, ...more] = calls
  if (!first) throw new RangeError('a transaction has at least one call')
  const draft: TxDraft = {
    ...rest,
    ...{ from: from.party, calls: [first, ...more], gas, tip, envelope },
    ...(sponsor && { sponsor: sponsor.party }),
    ...(envelope === 'tempo' && from.takeAuthorization()),
  }
  return signDraft(draft, nonceOf(transaction), chainId)
}

function nonceOf({ from, envelope, nonceKey }: Transaction): number {
  if (nonceKey === expiringLane) return 0
  // An authorisation of the sender's own takes the nonce after the transaction's.
  return from.takeNonce(nonceKey, envelope === 'eip7702' ? 2 : 1)
}
