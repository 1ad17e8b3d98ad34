import type { Quantity } from '#ingest/block.ts'
import type { Address } from '../../primitives.ts'
import { feeManagerAddress } from '../addresses.ts'
import type { ChainProfile } from '../profile.ts'
import { toUint256, toUint256OrNull } from './quantity.ts'
import { isTransfer, type LogContent, topicAddress } from './transferLog.ts'

/** What a transaction cost and who paid it. */
export interface Fee {
  readonly payer: Address | null
  /** Token the fee was paid in; null when nothing was paid, and on chains with a native coin. */
  readonly token: Address | null
  /** Units of the fee token (6 decimals) on Tempo, wei elsewhere; null when the node does not tell the gas price. */
  readonly amount: bigint | null
  /** Position among the transaction's logs of the Transfer that paid it, or null. */
  readonly logPosition: number | null
}

/** The fields of a receipt that tell of its fee. */
export interface FeeFacts {
  readonly from: Address
  readonly gasUsed: Quantity
  readonly effectiveGasPrice?: Quantity | null | undefined
  readonly feePayer?: Address | null | undefined
  readonly feeToken?: Address | null | undefined
  readonly logs: readonly LogContent[]
}

/** Topic form of Tempo's fee manager, to which every fee goes. */
const feeManagerTopic = `0x${feeManagerAddress.slice(2).padStart(64, '0')}`
/** Gas prices are in 10^-18 USD, fee tokens have 6 decimals. */
const attodollarsPerUnit = 10n ** 12n

/** `tx` tells the price where an old node's receipt does not. */
export function feeOf(
  { kind }: Pick<ChainProfile, 'kind'>,
  tx: { readonly gasPrice?: Quantity | null | undefined },
  receipt: FeeFacts,
): Fee {
  const price = toUint256OrNull(receipt.effectiveGasPrice ?? tx.gasPrice)
  const cost = price === null ? null : toUint256(receipt.gasUsed) * price
  return kind === 'tempo' ? tempoFee(receipt, cost) : nativeFee(receipt, cost)
}

const nativeFee = (receipt: FeeFacts, cost: bigint | null): Fee => ({
  payer: receipt.from,
  token: null,
  amount: cost,
  logPosition: null,
})

/**
 * Every transaction on Tempo that is not free ends with Transfer(payer, fee manager, fee) by the fee token, reverted ones
 * too. That log is proved by the receipts root, while `feePayer` and `feeToken` are the node's own words: anvil names the
 * sender also of sponsored transactions. Deposits into the fee AMM go to the manager too, so only the last log counts.
 */
function tempoFee(receipt: FeeFacts, cost: bigint | null): Fee {
  const logPosition = receipt.logs.length - 1
  const last = receipt.logs[logPosition]
  if (cost !== 0n && last && isTransfer(last) && last.topics[2] === feeManagerTopic) {
    return {
      payer: topicAddress(last.topics[1]),
      token: last.address,
      amount: BigInt(last.data),
      logPosition,
    }
  }
  return {
    payer: receipt.feePayer ?? receipt.from,
    token: cost === 0n ? null : (receipt.feeToken ?? null),
    amount: cost === null ? null : (cost + attodollarsPerUnit - 1n) / attodollarsPerUnit,
    logPosition: null,
  }
}
