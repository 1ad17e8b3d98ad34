import type { Quantity } from '#ingest/read/block.ts'
import type { BytesAt } from '#ingest/read/json/byteBuffer.ts'
import { ADDRESS_BYTES, type ScannedReceipt } from '#ingest/read/scan/scannedReceipt.ts'
import type { Address } from '#primitives.ts'
import { feeManagerAddress } from '../addresses.ts'
import type { ChainProfile } from '../profile.ts'
import type { Stored } from '../projection.ts'
import { readScannedTransfer } from '../projections/scannedTransfer.ts'
import { toUint256, toUint256OrNull } from './quantity.ts'
import { isTransfer, type LogContent, topicAddress } from './transferLog.ts'

/**
 * What a transaction cost and who paid it; accounts are texts, or places where a worker has them as
 * bytes.
 */
export interface Fee<Account = Address, Amount = bigint> {
  readonly payer: Account | null
  /** Token the fee was paid in; null when nothing was paid, and on chains with a native coin. */
  readonly token: Account | null
  /**
   * Units of the fee token (6 decimals) on Tempo, wei elsewhere; null when the node does not tell
   * the gas price, or one by which nobody could have paid.
   */
  readonly amount: Amount | null
  /** Position among the transaction's logs of the Transfer that paid it, or null. */
  readonly logPosition: number | null
}

export type StoredFee = Fee<BytesAt, Stored<bigint>>

/** The fields of a receipt that tell of its fee. */
export interface FeeFacts extends Payers<Address>, Prices {
  readonly gasUsed: Quantity
  readonly logs: readonly LogContent[]
}

interface Prices {
  readonly effectiveGasPrice?: Quantity | null | undefined
  readonly l1Fee?: Quantity | null | undefined
  readonly blobGasUsed?: Quantity | null | undefined
  readonly blobGasPrice?: Quantity | null | undefined
}

/** The node's own words. */
interface Payers<Account> {
  readonly from: Account
  readonly feePayer?: Account | null | undefined
  readonly feeToken?: Account | null | undefined
}

type Rules = Pick<ChainProfile, 'kind'>
interface PricedTransaction {
  readonly type?: Quantity | null | undefined
  /** Tells the price where an old node's receipt does not. */
  readonly gasPrice?: Quantity | null | undefined
}

export function feeOf(rules: Rules, tx: PricedTransaction, receipt: FeeFacts): Fee {
  const cost = costOf(rules, tx, receipt, toUint256(receipt.gasUsed))
  return chooseFee(rules, receipt, cost, () => readPayment(receipt.logs))
}

/** As `feeOf`, of a receipt whose values are bytes. */
export function scannedFee(rules: Rules, tx: PricedTransaction, receipt: ScannedReceipt): StoredFee {
  const cost = costOf(rules, tx, receipt, BigInt(receipt.gasUsed))
  return chooseFee<BytesAt, Stored<bigint>>(rules, receipt, cost, () => readScannedPayment(receipt))
}

const priceOf = (tx: PricedTransaction, receipt: Prices): Quantity | null | undefined =>
  receipt.effectiveGasPrice ?? tx.gasPrice

/** Whether a price was told, so that a fee without an amount is one that no price makes. */
export const tellsPrice = (tx: PricedTransaction, receipt: Prices): boolean =>
  (priceOf(tx, receipt) ?? null) !== null

/** EIP-4844 */
const blobType = '0x3'

/**
 * Gas at its price. Chains with a native coin also charge for blobs, and rollups for what their
 * data costs on the chain below.
 */
function costOf({ kind }: Rules, tx: PricedTransaction, receipt: Prices, gasUsed: bigint): bigint | null {
  const price = toUint256OrNull(priceOf(tx, receipt))
  if (price === null) return null
  const cost = gasUsed * price
  if (kind === 'tempo') return cost
  const { blobGasUsed, blobGasPrice, l1Fee } = receipt
  const blobs =
    tx.type === blobType && blobGasUsed && blobGasPrice
      ? toUint256(blobGasUsed) * toUint256(blobGasPrice)
      : 0n
  return cost + blobs + (toUint256OrNull(l1Fee) ?? 0n)
}

/** Gas prices are in 10^-18 USD, fee tokens have 6 decimals. */
const attodollarsPerUnit = 10n ** 12n

/**
 * Every transaction on Tempo that is not free ends with Transfer(payer, fee manager, fee) by the
 * fee token, reverted ones too. That log is proved by the receipts root, while `feePayer` and
 * `feeToken` are the node's own words: anvil names the sender also of sponsored transactions.
 * Deposits into the fee AMM go to the manager too, so only the last log counts.
 */
function chooseFee<Account, Amount>(
  { kind }: Rules,
  words: Payers<Account>,
  cost: bigint | null,
  payment: () => Fee<Account, Amount> | null,
): Fee<Account, Amount | bigint> {
  if (kind !== 'tempo')
    return { payer: words.from, token: null, amount: amountOrNull(cost), logPosition: null }
  const paid = cost === 0n ? null : payment()
  if (paid !== null) return paid
  return {
    payer: words.feePayer ?? words.from,
    token: cost === 0n ? null : (words.feeToken ?? null),
    amount: cost === null ? null : amountOrNull((cost + attodollarsPerUnit - 1n) / attodollarsPerUnit),
    logPosition: null,
  }
}

const uint256Max = 2n ** 256n - 1n

/** No root covers the price: a node may tell one whose product with the gas is no amount. */
const amountOrNull = (amount: bigint | null): bigint | null =>
  amount === null || amount > uint256Max ? null : amount

/** Topic form of Tempo's fee manager, to which every fee goes. */
const feeManagerTopic = `0x${feeManagerAddress.slice(2).padStart(64, '0')}`
const feeManagerBytes = Buffer.from(feeManagerAddress.slice(2), 'hex')

function readPayment(logs: readonly LogContent[]): Fee | null {
  const logPosition = logs.length - 1
  const last = logs[logPosition]
  if (!last || !isTransfer(last) || last.topics[2] !== feeManagerTopic) return null
  return { payer: topicAddress(last.topics[1]), token: last.address, amount: BigInt(last.data), logPosition }
}

function readScannedPayment({ logs }: ScannedReceipt): Fee<BytesAt, BytesAt> | null {
  const logPosition = logs.length - 1
  const last = logs[logPosition]
  const movement = last ? readScannedTransfer(last) : null
  if (!last || movement === null) return null
  const { to } = movement
  if (feeManagerBytes.compare(last.bytes.bytes, to, to + ADDRESS_BYTES) !== 0) return null
  return { payer: movement.from, token: movement.token, amount: movement.amount, logPosition }
}
