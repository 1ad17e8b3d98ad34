import type { Quantity } from '#ingest/read/block.ts'
import { feeTermsOf, type ToldFeeTerms } from '#ingest/read/feeTerms.ts'
import type { BytesAt } from '#ingest/read/json/ByteBuffer.ts'
import { ADDRESS_BYTES, type ScannedReceipt } from '#ingest/read/scan/scannedReceipt.ts'
import { type Address, address } from '#primitives.ts'
import { feeManagerAddress } from '../addresses.ts'
import type { ChainProfile } from '../profile.ts'
import type { Stored } from '../projection.ts'
import { readScannedTransfer } from '../projections/scannedTransfer.ts'
import {
  type Bill,
  feeCurrencyOf,
  feeRuleOf,
  type PricedTransaction,
  type ReceiptPrices,
} from './feeRules.ts'
import { uint256Max } from './feeUnknown.ts'
import { toUint256, toUint256OrNull } from './quantity.ts'
import { isTransfer, type LogContent, topicAddress } from './transferLog.ts'

/** The cost of a transaction and who paid it; accounts are texts, or places if a worker has them as bytes. */
export interface Fee<Account = Address, Amount = bigint> {
  readonly payer: Account | null
  /** Token the fee was paid in; null for a chain's own coin, and on Tempo when nothing was paid. */
  readonly token: Account | null
  /**
   * Units of the fee token (6 decimals on Tempo), else wei; null where it is unknown, for a reason
   * that `feeUnknown.ts` tells.
   */
  readonly amount: Amount | null
  /** Position among the transaction's logs of the Transfer that paid it, or null. */
  readonly logPosition: number | null
}

export type StoredFee = Fee<Stored<Address>, Stored<bigint>>

/** The fields of a receipt that tell of its fee. */
export interface FeeFacts extends Payers<Address>, ReceiptPrices, ToldFeeTerms {
  readonly gasUsed: Quantity
  readonly logs: readonly LogContent[]
}

/** The node's own words. */
interface Payers<Account> {
  readonly from: Account
  readonly feePayer?: Account | null | undefined
  readonly feeToken?: Account | null | undefined
}

type Rules = Pick<ChainProfile, 'kind'>

export function feeOf({ kind }: Rules, tx: PricedTransaction, receipt: FeeFacts): Fee {
  const bill = { tx, receipt, terms: feeTermsOf(receipt), gasUsed: toUint256(receipt.gasUsed) }
  return kind === 'tempo'
    ? tempoFee(receipt, gasCost(bill), () => readPayment(receipt.logs))
    : familyFee<Address>(bill, receipt.from, receipt.logs)
}

/** As `feeOf`, of a receipt whose values are bytes. */
export function scannedFee({ kind }: Rules, tx: PricedTransaction, receipt: ScannedReceipt): StoredFee {
  const bill = billOf(tx, receipt)
  return kind === 'tempo'
    ? tempoFee<BytesAt, Stored<bigint>>(receipt, gasCost(bill), () => readScannedPayment(receipt))
    : familyFee<Stored<Address>>(bill, receipt.from, receipt.logs)
}

/** Whether a fee without an amount is one that is told, but which nobody could have paid. */
export function isFeeImpossible({ kind }: Rules, tx: PricedTransaction, receipt: ScannedReceipt): boolean {
  const bill = billOf(tx, receipt)
  const amount = kind === 'tempo' ? unitsOf(gasCost(bill)) : feeRuleOf(bill).amount(bill)
  return amount !== null && amount > uint256Max
}

const billOf = (tx: PricedTransaction, receipt: ScannedReceipt): Bill => {
  const { feeTerms: terms, gasUsed } = receipt
  return { tx, receipt, terms, gasUsed: BigInt(gasUsed) }
}

function gasCost({ tx, receipt, gasUsed }: Bill): bigint | null {
  const price = toUint256OrNull(receipt.effectiveGasPrice ?? tx.gasPrice)
  return price === null ? null : gasUsed * price
}

/** By the rule of the chain's family. */
function familyFee<Account>(
  bill: Bill,
  sender: Account,
  logs: readonly LogContent[],
): Fee<Account | Address> {
  const rule = feeRuleOf(bill)
  const amount = amountOrNull(rule.amount(bill))
  const token = feeCurrencyOf(bill.tx)
  if (rule.payer === 'sender') return { payer: sender, token, amount, logPosition: null }
  const payer = rule.payer === 'bootloader' ? readBootloaderPayer(logs) : null
  // Without its payment it is no transaction of zkSync, whatever its type.
  const isKnown = rule.payer === 'unnamed' || payer !== null
  return { payer, token, amount: isKnown ? amount : null, logPosition: null }
}

/** Gas prices are in 10^-18 USD, fee tokens have 6 decimals. */
const attodollarsPerUnit = 10n ** 12n
const unitsOf = (cost: bigint | null): bigint | null =>
  cost === null ? null : (cost + attodollarsPerUnit - 1n) / attodollarsPerUnit

/**
 * Every transaction on Tempo that is not free ends with Transfer(payer, fee manager, fee) by the
 * fee token, reverted ones too. That log is proved by the receipts root, while `feePayer` and
 * `feeToken` are the node's own words: anvil names the sender also of sponsored transactions.
 * Deposits into the fee AMM go to the manager too, so only the last log counts.
 */
function tempoFee<Account, Amount>(
  words: Payers<Account>,
  cost: bigint | null,
  payment: () => Fee<Account, Amount> | null,
): Fee<Account, Amount | bigint> {
  const paid = cost === 0n ? null : payment()
  if (paid !== null) return paid
  return {
    payer: words.feePayer ?? words.from,
    token: cost === 0n ? null : (words.feeToken ?? null),
    amount: amountOrNull(unitsOf(cost)),
    logPosition: null,
  }
}

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

/** On zkSync, where coins move by logs of their own contract, the bootloader takes the fee first. */
const zksyncCoin = address('0x000000000000000000000000000000000000800a')
const bootloaderTopic = `0x${'8001'.padStart(64, '0')}`

function readBootloaderPayer(logs: readonly LogContent[]): Address | null {
  for (const log of logs)
    if (log.address === zksyncCoin && isTransfer(log) && log.topics[2] === bootloaderTopic)
      return topicAddress(log.topics[1])
  return null
}
