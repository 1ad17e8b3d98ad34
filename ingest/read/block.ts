/**
 * A node's answer: blocks with full transactions, receipts and logs, as the JSON they are. The types name
 * the fields that are read; further fields are allowed and kept. Only `parseBlock` and `parseReceipts` make
 * values of these types, and put each in the one spelling, so a `Quantity` has no leading zero, every hex
 * text is lowercase, and heights, hashes and indexes agree. Whether the content is true is for
 * ingest/verify/verifyBlock.ts to find out.
 */

import type { Address, Hash, Hex } from '#primitives.ts'
import type { ToldFeeTerms } from './feeTerms.ts'
import { checkHeader } from './header/headerShape.ts'
import { type Loose, nothingLoose } from './looseParts.ts'
import { checkIndex, checkLogs, checkReceipt } from './receiptShape.ts'
import {
  AnswerPlace,
  expectFields,
  expectList,
  expectSafeQuantity,
  fillIn,
  isAbsent,
  isBytesOf,
  isQuantityOf,
} from './shape.ts'
import { checkTransactionShape } from './transactionShape.ts'

/** A request to the node, so that an answer about another block is found out. */
export interface AskedBlock {
  readonly number?: number
  readonly hash?: Hash
}

/**
 * Checks the answer of a block with full transactions: shape, quantities, and that every
 * transaction names this block and its own place in it. Returns the value it was given; what is
 * spelled in another way is respelled in it, and where an old node leaves out a transaction's
 * `type`, `0x0` is filled in.
 * @param loose what may be another way than on Ethereum
 * @throws NodeAnswerError
 */
export function parseBlock(value: unknown, asked: AskedBlock = {}, loose = nothingLoose): RpcBlock {
  const place: AnswerPlace = new AnswerPlace(asked.number)
  if (isAbsent(value)) place.fail('block_missing', '')
  const block = expectFields(value, '', place)
  const number = expectSafeQuantity(block, 'number', place)
  if (asked.number !== undefined && asked.number !== number) place.fail('block_mismatch', 'number')
  place.blockNumber = number
  checkHeader(block, place)
  if (asked.hash !== undefined && asked.hash !== block['hash']) place.fail('block_mismatch', 'hash')
  // A header alone has no list either.
  if (block['gasUsed'] === '0x0') fillIn(block, 'transactions', [])
  const transactions = expectList(block['transactions'], 'transactions', place)
  place.list = 'transactions'
  for (let index = 0; index < transactions.length; index++) {
    place.index = index
    checkTransaction(transactions[index], block, place, loose)
  }
  return value as RpcBlock
}

/** A block that is told with hashes in place of its transactions, without them. @throws NodeAnswerError */
export function readHeader(value: unknown): RpcBlock {
  return parseBlock({ ...Object(value), transactions: [] })
}

/**
 * Checks the answer of a block's receipts against the block: one for each transaction in its order,
 * all of this very block, and log indexes without gaps over the whole block. Returns the value it
 * was given.
 * @param loose what may be another way than on Ethereum
 * @throws NodeAnswerError
 */
export function parseReceipts(value: unknown, block: RpcBlock, loose = nothingLoose): readonly RpcReceipt[] {
  const place: AnswerPlace = new AnswerPlace(Number(block.number))
  if (isAbsent(value)) place.fail('receipts_missing', '')
  const receipts = expectList(value, '', place)
  if (receipts.includes(null)) place.fail('receipts_missing', `[${receipts.indexOf(null)}]`)
  if (receipts.length !== block.transactions.length) place.fail('count_mismatch', '')
  let logIndex = 0
  for (let index = 0; index < receipts.length; index++) {
    place.index = index
    const receipt = expectFields(receipts[index], '', place)
    const tx = block.transactions[index]
    if (tx === undefined) place.fail('count_mismatch', '')
    checkReceipt(receipt, tx, place)
    logIndex = checkLogs(receipt, tx, loose.has('logIndexes') ? null : logIndex, place)
  }
  return value as readonly RpcReceipt[]
}

/**
 * Checks one transaction of a block, of which hash and number count, at `place.index`. Returns the
 * value it was given, as `parseBlock`.
 * @throws NodeAnswerError
 */
export function checkTransaction(
  value: unknown,
  block: { readonly hash?: unknown; readonly number?: unknown },
  place: AnswerPlace,
  loose: Loose = nothingLoose,
): RpcTransaction {
  const tx = expectFields(value, '', place)
  if (isAbsent(tx['type'])) Object.assign(tx, { type: '0x0' })
  checkTransactionShape(tx, place, loose)
  if (!isBytesOf(tx, 'blockHash', block.hash)) place.fail('block_mismatch', 'blockHash')
  if (!isQuantityOf(tx, 'blockNumber', block.number)) place.fail('block_mismatch', 'blockNumber')
  checkIndex(tx, place.index, 'transactionIndex', place)
  return value as RpcTransaction
}

/** A number as `0x` and hex digits without leading zeros. */
export type Quantity = Hex

/** Nodes leave a field out or send null, by chain, fork and node software. */
type Maybe<Value> = Value | null | undefined

/** The answer of `eth_getBlockByNumber(n, true)` and its siblings. */
export interface RpcBlock {
  readonly number: Quantity
  readonly hash: Hash
  readonly parentHash: Hash
  readonly timestamp: Quantity
  readonly miner: Address
  readonly stateRoot: Hash
  readonly transactionsRoot: Hash
  readonly receiptsRoot: Hash
  readonly logsBloom: Hex
  readonly sha3Uncles: Hash
  readonly gasLimit: Quantity
  readonly gasUsed: Quantity
  readonly extraData: Hex
  readonly difficulty?: Maybe<Quantity>
  readonly mixHash?: Maybe<Hash>
  readonly nonce?: Maybe<Hex>
  /** Since London (EIP-1559). */
  readonly baseFeePerGas?: Maybe<Quantity>
  /** Since Shanghai (EIP-4895). */
  readonly withdrawalsRoot?: Maybe<Hash>
  /** Since Cancun (EIP-4844, EIP-4788). */
  readonly blobGasUsed?: Maybe<Quantity>
  readonly excessBlobGas?: Maybe<Quantity>
  readonly parentBeaconBlockRoot?: Maybe<Hash>
  /** Since Prague (EIP-7685). */
  readonly requestsHash?: Maybe<Hash>
  /** Since Amsterdam (EIP-7928, EIP-7843); the first on builds of Tempo, too. */
  readonly blockAccessListHash?: Maybe<Hash>
  readonly slotNumber?: Maybe<Quantity>
  readonly size?: Maybe<Quantity>
  /** Not checked here; compared with the header's `withdrawalsRoot` and `sha3Uncles` later. */
  readonly withdrawals?: unknown
  readonly uncles?: unknown
  readonly transactions: readonly RpcTransaction[]

  /** Tempo. */
  readonly mainBlockGeneralGasLimit?: Maybe<Quantity>
  readonly sharedGasLimit?: Maybe<Quantity>
  /** Tempo: milliseconds within the second of `timestamp`. */
  readonly timestampMillisPart?: Maybe<Quantity>
  readonly timestampMillis?: Maybe<Quantity>
  /** Tempo since T4; its numbers are JSON numbers. */
  readonly consensusContext?: Maybe<ConsensusContext>
}

/** Which round of Tempo's consensus made a block. */
export interface ConsensusContext {
  readonly epoch: number
  readonly view: number
  readonly parentView: number
  /** Ed25519 public key, 32 bytes. */
  readonly proposer: Hash
}

/** A transaction of any known envelope, or of an unknown one with the fields all have. */
export interface RpcTransaction {
  readonly hash: Hash
  /**
   * The envelope's number (EIP-2718); `parseBlock` fills in `0x0` where an old node leaves it out.
   */
  readonly type: Quantity
  readonly blockHash: Hash
  readonly blockNumber: Quantity
  readonly transactionIndex: Quantity
  readonly from: Address
  readonly gas: Quantity
  /** Absent in deposits (0x7e). */
  readonly nonce?: Maybe<Quantity>
  /** Null when a contract is created; absent in Tempo's 0x76, which has `calls`. */
  readonly to?: Maybe<Address>
  readonly value?: Maybe<Quantity>
  readonly input?: Maybe<Hex>
  readonly chainId?: Maybe<Quantity>
  readonly gasPrice?: Maybe<Quantity>
  readonly maxFeePerGas?: Maybe<Quantity>
  readonly maxPriorityFeePerGas?: Maybe<Quantity>
  readonly accessList?: Maybe<readonly AccessListEntry[]>
  /** Some nodes pad `r` and `s` to 32 bytes, others write them as quantities. */
  readonly r?: Maybe<Hex>
  readonly s?: Maybe<Hex>
  readonly v?: Maybe<Quantity>
  readonly yParity?: Maybe<Quantity>

  /** 0x3, blobs (EIP-4844). */
  readonly maxFeePerBlobGas?: Maybe<Quantity>
  readonly blobVersionedHashes?: Maybe<readonly Hash[]>
  /** 0x4, delegations (EIP-7702). */
  readonly authorizationList?: Maybe<readonly RpcAuthorization[]>

  /** 0x7e, deposits of the OP stack. */
  readonly sourceHash?: Maybe<Hash>
  readonly mint?: Maybe<Quantity>
  readonly isSystemTx?: Maybe<boolean>

  /** Celo: token that prices are in and the fee is paid in; its coin where absent. */
  readonly feeCurrency?: Maybe<Address>
  /** Celo before Gingerbread, beside the price of gas. Not checked. */
  readonly gatewayFee?: unknown

  /**
   * 0x76, Tempo's transaction. The four fields of its signatures are read by their encoder only.
   */
  readonly calls?: Maybe<readonly RpcTxCall[]>
  readonly feeToken?: Maybe<Address>
  readonly nonceKey?: Maybe<Quantity>
  readonly validBefore?: Maybe<Quantity>
  readonly validAfter?: Maybe<Quantity>
  readonly feePayerSignature?: unknown
  readonly keyAuthorization?: unknown
  readonly aaAuthorizationList?: unknown
  readonly signature?: unknown
}

/** One entry of an access list (EIP-2930). */
export interface AccessListEntry {
  readonly address: Address
  readonly storageKeys: readonly Hash[]
}

/** A signed delegation (EIP-7702). */
export interface RpcAuthorization {
  readonly chainId: Quantity
  readonly address: Address
  readonly nonce: Quantity
  readonly r: Hex
  readonly s: Hex
  readonly yParity?: Maybe<Quantity>
  readonly v?: Maybe<Quantity>
}

/**
 * One call of a 0x76 transaction. Nodes write `input` and a null `data`; clients may write `data`
 * only.
 */
export interface RpcTxCall {
  /** Null when a contract is created. */
  readonly to?: Maybe<Address>
  readonly value?: Maybe<Quantity>
  readonly input?: Maybe<Hex>
  readonly data?: Maybe<Hex>
}

/** One receipt of `eth_getBlockReceipts`. */
export interface RpcReceipt extends ToldFeeTerms {
  readonly transactionHash: Hash
  readonly transactionIndex: Quantity
  readonly blockHash: Hash
  readonly blockNumber: Quantity
  /** Absent on nodes from before typed transactions; the transaction's type counts. */
  readonly type?: Maybe<Quantity>
  readonly from: Address
  readonly to?: Maybe<Address>
  readonly contractAddress?: Maybe<Address>
  readonly gasUsed: Quantity
  readonly cumulativeGasUsed: Quantity
  readonly effectiveGasPrice?: Maybe<Quantity>
  /** `0x1` or `0x0`; before Byzantium there is `root` instead. */
  readonly status?: Maybe<Quantity>
  /** State root after the transaction; before Byzantium only. */
  readonly root?: Maybe<Hash>
  readonly logsBloom?: Maybe<Hex>
  readonly logs: readonly RpcLog[]
  /** Not checked and not read: anvil writes a JSON number where the others write a quantity. */
  readonly blockTimestamp?: unknown

  /** 0x7e, deposits of the OP stack, since Regolith and Canyon. */
  readonly depositNonce?: Maybe<Quantity>
  readonly depositReceiptVersion?: Maybe<Quantity>

  /** Wei charged for the data on the chain below; rollups of the OP stack. */
  readonly l1Fee?: Maybe<Quantity>
  /** The cost of blobs (EIP-4844) with 0x3; the OP stack counts something else here, and names no price. */
  readonly blobGasUsed?: Maybe<Quantity>
  readonly blobGasPrice?: Maybe<Quantity>

  /** Tempo. Derived by the node and covered by no root; anvil always names the sender. */
  readonly feePayer?: Maybe<Address>
  /** Tempo: absent when the transaction was free, and from anvil. */
  readonly feeToken?: Maybe<Address>
}

export interface RpcLog {
  readonly address: Address
  /** At most four. */
  readonly topics: readonly Hash[]
  readonly data: Hex
  readonly blockHash: Hash
  readonly blockNumber: Quantity
  readonly transactionHash: Hash
  readonly transactionIndex: Quantity
  /** Position among all logs of the block; without gaps. */
  readonly logIndex: Quantity
  readonly removed?: Maybe<boolean>
}
