/**
 * The cost of a transaction on chains with a native coin, one rule for each family of chains. A family is
 * told by its own types of transactions and by fields of its receipts, never by a chain's id, so that a new
 * chain of a family needs no line here. What no rule knows is unknown: an amount without one of its parts
 * would be a wrong one. `feeRules.test.ts` holds every rule against a receipt of a real chain, by what that
 * chain itself says was paid.
 */
import type { Quantity } from '#ingest/read/block.ts'
import type { FeeTerms } from '#ingest/read/feeTerms.ts'
import type { Address } from '#primitives.ts'
import { toUint256, toUint256OrNull } from './quantity.ts'

type Maybe<Value> = Value | null | undefined

/** A transaction's words on its fee. */
export interface PricedTransaction {
  readonly type?: Maybe<Quantity>
  /** Tells the price where an old node's receipt does not. */
  readonly gasPrice?: Maybe<Quantity>
  readonly feeCurrency?: Maybe<Address>
  readonly gatewayFee?: unknown
  readonly calls?: unknown
}

/** A receipt's words on prices, in any chain's terms. */
export interface ReceiptPrices {
  readonly effectiveGasPrice?: Maybe<Quantity>
  readonly l1Fee?: Maybe<Quantity>
  readonly blobGasUsed?: Maybe<Quantity>
  readonly blobGasPrice?: Maybe<Quantity>
}

/** The parts that a fee is computed from. */
export interface Bill {
  readonly tx: PricedTransaction
  readonly receipt: ReceiptPrices
  readonly terms: FeeTerms | null
  readonly gasUsed: bigint
}

interface FeeRule {
  readonly chains: string
  applies(bill: Bill): boolean
  /** Null where it is unknown. */
  amount(bill: Bill): bigint | null
  /** The sender, whoever paid zkSync's bootloader, or somebody that the receipt does not name. */
  readonly payer: 'sender' | 'bootloader' | 'unnamed'
}

/** The rule by which a transaction pays. */
export function feeRuleOf(bill: Bill): FeeRule {
  if (bill.terms === null && ethereum.applies(bill)) return ethereum
  return families.find((rule) => rule.applies(bill)) ?? unknown
}

/** Token that a transaction of Celo pays in; null for its coin. */
export const feeCurrencyOf = ({ type, feeCurrency }: PricedTransaction): Address | null =>
  feeCurrency && (celoTypes.has(typeOf(type)) || isLegacy(type)) ? feeCurrency : null

/** Whether a receipt tells a fee without its transaction, which names the token on Celo. */
export const isFeeInReceipt = (type: Maybe<Quantity>): boolean => !celoTypes.has(typeOf(type))

const typeOf = (type: Maybe<Quantity>): Quantity => type ?? '0x0'
const isLegacy = (type: Maybe<Quantity>): boolean => typeOf(type) === '0x0'
const isOf = (types: ReadonlySet<Quantity>, { tx }: Bill): boolean => types.has(typeOf(tx.type))

const ethereumTypes: ReadonlySet<Quantity> = new Set(['0x0', '0x1', '0x2', '0x3', '0x4'])
/** EIP-4844 */
const blobType = '0x3'

/** Gas at its price, blobs, and what data costs on the chain below where that is told apart. */
const ethereum: FeeRule = {
  chains: 'Ethereum, chains that changed nothing of its fees, zkSync, rollups that tell `l1Fee` alone',
  applies: (bill) => isOf(ethereumTypes, bill) && feeCurrencyOf(bill.tx) === null,
  amount: (bill) => {
    const { tx, receipt } = bill
    const gas = gasFee(bill, receipt.effectiveGasPrice ?? tx.gasPrice)
    if (gas === null || tx.type !== blobType) return gas === null ? null : gas + l1Fee(receipt)
    const { blobGasUsed, blobGasPrice } = receipt
    if (!blobGasUsed || !blobGasPrice) return null
    return gas + l1Fee(receipt) + toUint256(blobGasUsed) * toUint256(blobGasPrice)
  },
  payer: 'sender',
}

/** Their gas is bought on the chain below, or by nobody where the system sends them. */
const deposits: FeeRule = {
  chains: 'OP Stack (deposits), Scroll (messages)',
  applies: ({ tx }) => tx.type === '0x7e',
  amount: () => 0n,
  payer: 'sender',
}

/** A ticket (0x69) pays for its submission, which no receipt tells; others gave a redeem (0x68) its gas. */
const retryableTypes: ReadonlySet<Quantity> = new Set(['0x68', '0x69'])
const retryables: FeeRule = {
  chains: 'Arbitrum (retryable tickets)',
  applies: (bill) => isArbitrum(bill) && isOf(retryableTypes, bill),
  amount: () => null,
  payer: 'unnamed',
}

/** Coins that arrive (0x64), and ArbOS itself (0x6a). */
const arbitrumFreeTypes: ReadonlySet<Quantity> = new Set(['0x64', '0x6a'])
const arbitrumFree: FeeRule = {
  chains: 'Arbitrum (deposits and internal transactions)',
  applies: (bill) => isArbitrum(bill) && isOf(arbitrumFreeTypes, bill),
  amount: () => 0n,
  payer: 'sender',
}

/** Beside Ethereum's: from below, with gas that the sender buys (0x65, 0x66), and before Nitro (0x78). */
const arbitrumTypes: ReadonlySet<Quantity> = new Set([...ethereumTypes, '0x65', '0x66', '0x78'])
/** `gasUsedForL1` is a part of `gasUsed`; the price is what was charged, whatever was offered. */
const arbitrum: FeeRule = {
  chains: 'Arbitrum',
  applies: (bill) => isArbitrum(bill) && isOf(arbitrumTypes, bill),
  amount: (bill) => gasFee(bill, bill.receipt.effectiveGasPrice),
  payer: 'sender',
}

const isArbitrum = ({ terms }: Bill): boolean => terms?.gasUsedForL1 !== undefined

/** CIP-64, and CIP-42 before it. Base has 0x7b for something else, which has calls (EIP-8130). */
const celoTypes: ReadonlySet<Quantity> = new Set(['0x7b', '0x7c'])
/** Celo's rule: if a token pays, price and base fee are in units of it. */
const celo: FeeRule = {
  chains: 'Celo',
  applies: (bill) =>
    (isOf(celoTypes, bill) && !Array.isArray(bill.tx.calls)) || feeCurrencyOf(bill.tx) !== null,
  amount: (bill) => {
    const gas = gasFee(bill, bill.receipt.effectiveGasPrice)
    const beside = rollupFee(bill)
    if (gas === null || beside === null || !isNothing(bill.tx.gatewayFee)) return null
    // A rollup's addition is in the coin, and there is no sum of two currencies.
    return feeCurrencyOf(bill.tx) !== null && beside > 0n ? null : gas + beside
  },
  payer: 'sender',
}

const isNothing = (fee: unknown): boolean => fee === undefined || fee === null || fee === '0x0'

/** EIP-712: the price of pubdata and what is given back are in `gasUsed`; a paymaster may pay. */
const zksync: FeeRule = {
  chains: 'zkSync (EIP-712)',
  applies: ({ tx }) => tx.type === '0x71',
  amount: (bill) => gasFee(bill, bill.receipt.effectiveGasPrice),
  payer: 'bootloader',
}

/** Requests from below (0xff) and upgrades (0xfe) are paid for there, unless they are free. */
const zksyncRequestTypes: ReadonlySet<Quantity> = new Set(['0xfe', '0xff'])
const zksyncRequests: FeeRule = {
  chains: 'zkSync (priority requests and upgrades)',
  applies: (bill) => isOf(zksyncRequestTypes, bill),
  amount: (bill) => (gasFee(bill, bill.receipt.effectiveGasPrice) === 0n ? 0n : null),
  payer: 'unnamed',
}

/** State that comes from Ethereum; earlier as a legacy transaction without gas, which pays as little. */
const polygon: FeeRule = {
  chains: 'Polygon (state sync)',
  applies: ({ tx, gasUsed, terms }) => tx.type === '0x7f' && gasUsed === 0n && terms === null,
  amount: () => 0n,
  payer: 'sender',
}

const opStack: FeeRule = {
  chains: 'OP Stack since Isthmus, Mantle since Arsia',
  applies: (bill) => isOf(ethereumTypes, bill) && isNothing(bill.terms?.feeTokenID),
  amount: (bill) => {
    const gas = ethereum.amount(bill)
    const operator = operatorFee(bill)
    return gas === null || operator === null ? null : gas + operator
  },
  payer: 'sender',
}

/** Types and terms of no rule, such as a token's number (Morph). */
const unknown: FeeRule = { chains: 'others', applies: () => true, amount: () => null, payer: 'unnamed' }

/** The first that applies. */
const families: readonly FeeRule[] = [
  ...[deposits, retryables, arbitrumFree, arbitrum],
  ...[celo, zksync, zksyncRequests, polygon, opStack],
]

function gasFee({ gasUsed }: Bill, told: Maybe<Quantity>): bigint | null {
  if (gasUsed === 0n) return 0n
  const price = toUint256OrNull(told)
  return price === null ? null : gasUsed * price
}

/** Wei for the data on the chain below. */
const l1Fee = (receipt: ReceiptPrices): bigint => toUint256OrNull(receipt.l1Fee) ?? 0n

function rollupFee(bill: Bill): bigint | null {
  const operator = operatorFee(bill)
  return operator === null ? null : l1Fee(bill.receipt) + operator
}

/** Isthmus has the scalar in millionths, Jovian in hundreds. */
const MILLION = 1_000_000n
const HUNDRED = 100n

/**
 * Jovian is in force where a receipt has its gas scalar. Mantle has Jovian's formula since Arsia,
 * when its receipts began to name the operator's fee; what it charged before that is unknown.
 */
function operatorFee({ terms, gasUsed }: Bill): bigint | null {
  if (terms === null) return 0n
  const { operatorFeeScalar: scalar, operatorFeeConstant: constant, tokenRatio } = terms
  if (scalar === undefined && constant === undefined) return tokenRatio === undefined ? 0n : null
  if (!isTold(scalar) || !isTold(constant)) return null
  const isJovian = terms.daFootprintGasScalar !== undefined || tokenRatio !== undefined
  const scaled = gasUsed * toUint256(scalar)
  return (isJovian ? scaled * HUNDRED : scaled / MILLION) + toUint256(constant)
}

const isTold = (term: FeeTerms[keyof FeeTerms]): term is Quantity =>
  term !== undefined && term !== 'unreadable'
