/**
 * Proves a node's answer for one block against the block's own header, by recomputing what the
 * header commits to.
 */

import type { RpcBlock, RpcTransaction } from '../read/block.ts'
import { leavesOutSlot } from '../read/header/forkFields.ts'
import type { BytesAt } from '../read/json/ByteBuffer.ts'
import { type Loose, nothingLoose } from '../read/looseParts.ts'
import {
  ADDRESS_BYTES,
  HASH_BYTES,
  type ScannedReceipt,
  type ScannedReceipts,
} from '../read/scan/scannedReceipt.ts'
import type { KnownChain } from './knownChains.ts'
import { creationAddress } from './parts/creationAddress.ts'
import { type EncodedBlock, encodedHeaderVerdict, encodedReceiptsVerdict } from './parts/encodedBlock.ts'
import { type HeaderRule, hasFieldsOfTempo, hasUnknownHeaderFields, headerHash } from './parts/header.ts'
import { hasKnownReceipt, writeReceipt } from './parts/receipt.ts'
import { type TransactionVerdict, transactionVerdict, writeEnvelope } from './parts/transaction.ts'
import { hasListsOf } from './parts/withdrawals.ts'
import { provedParts, RefutedError } from './RefutedError.ts'
import { Bloom } from './tries/Bloom.ts'
import { DigestBatch } from './tries/DigestBatch.ts'
import { RlpWriter } from './tries/rlp.ts'
import { orderedTrieRoot } from './tries/trie.ts'

/**
 * - `proved`: recomputed and equal;
 * - `unprovable`: could not be recomputed, because something in it has an encoding we do not know;
 * - `refuted`: recomputed and different, so the answer is wrong;
 * - `unchecked`: not looked at.
 */
export type Verdict = 'proved' | 'unprovable' | 'refuted' | 'unchecked'

/** The proof of one block. Nothing in it says that the block is final, or on the chain others follow. */
export interface BlockProof {
  /** The block follows the parent that was given. */
  readonly parent: Verdict
  /** The block's hash is that of its header fields. */
  readonly header: Verdict
  /**
   * The transactions are those of the header. Not covered: `from` (senders.ts), `gasPrice` of those
   * that state a maximum, and fields that a transaction's envelope does not have.
   */
  readonly transactionsRoot: Verdict
  /**
   * Logs, status and gas are those of the header. Not covered: effectiveGasPrice, to, feePayer,
   * feeToken.
   */
  readonly receiptsRoot: Verdict
  /** The header's bloom is that of the logs. */
  readonly bloom: Verdict
  /** Transactions whose own hash could not be recomputed. */
  readonly unprovableTxs: number
}

export interface VerifyOptions {
  /** The chain's rule, from `detectHeaderRule`. */
  readonly headerRule: HeaderRule
  /**
   * `links` looks at the parent only; for sources whose roots are known not to hold, such as
   * rewritten recordings.
   */
  readonly checks: 'roots' | 'links'
  /** The parts that blocks of this chain do not prove: a difference there says nothing. */
  readonly loose?: Loose
  /** Up to where nothing unknown can be in a block; absent, anywhere. */
  readonly known?: Pick<KnownChain, 'headersTo' | 'envelopesTo'>
  /** The block's own bytes, which are looked at where its JSON does not prove a part. */
  readonly encoded?: EncodedBlock | undefined
  /** The block before, when it is at hand. */
  readonly parent?: { readonly number: number; readonly hash: string } | undefined
}

/**
 * Recomputes header hash, transactions root, receipts root and bloom. Both answers must have been
 * parsed. Stops at the first part that is refuted; later parts are then `unchecked`.
 */
export function verifyBlock(block: RpcBlock, receipts: ScannedReceipts, options: VerifyOptions): BlockProof {
  const proof = { ...nothingChecked, parent: verifyParent(block, options.parent) }
  if (proof.parent === 'refuted' || options.checks === 'links') return proof
  const { loose = nothingLoose } = options
  const { encoded } = options
  proof.header = verifyHeader(block, options)
  if (proof.header === 'unprovable' && encoded)
    proof.header = hasListsOf(block, false) ? closed(encodedHeaderVerdict(block, encoded)) : 'refuted'
  if (proof.header === 'refuted') return proof
  verifyTransactions(block, proof, options)
  if (proof.transactionsRoot === 'refuted') return proof
  const isCreationKnown = options.headerRule !== 'unknown'
  proof.receiptsRoot = loosely(verifyReceipts(block, receipts, isCreationKnown), loose.has('receiptsRoot'))
  if (proof.receiptsRoot === 'unprovable' && encoded)
    proof.receiptsRoot = closed(encodedReceiptsVerdict(block, receipts, encoded))
  if (proof.receiptsRoot === 'refuted') return proof
  proof.bloom = loosely(verifyBloom(block, receipts, proof.receiptsRoot), loose.has('bloom'))
  return proof
}

/** Throws when any part of a proof is refuted. @throws RefutedError */
export function assertNotRefuted(proof: BlockProof, blockNumber: number): void {
  for (const part of provedParts) {
    if (proof[part] === 'refuted') throw new RefutedError(part, blockNumber)
  }
}

type Mutable<Type> = { -readonly [Key in keyof Type]: Type[Key] }

const nothingChecked: Mutable<BlockProof> = {
  parent: 'unchecked',
  header: 'unchecked',
  transactionsRoot: 'unchecked',
  receiptsRoot: 'unchecked',
  bloom: 'unchecked',
  unprovableTxs: 0,
}

/** Kept between blocks; verification never waits, so no two blocks use them at once. */
const writer = new RlpWriter()
const bloom = new Bloom()
const txDigests = new DigestBatch()

function verifyParent(block: RpcBlock, parent: VerifyOptions['parent']): Verdict {
  if (parent === undefined) return 'unchecked'
  return block.parentHash === parent.hash && Number(block.number) === parent.number + 1 ? 'proved' : 'refuted'
}

const loosely = (verdict: Verdict, isLoose: boolean): Verdict =>
  verdict === 'refuted' && isLoose ? 'unprovable' : verdict

/** Bytes that tell nothing leave a part as it was. */
const closed = (verdict: ReturnType<typeof encodedHeaderVerdict>): Verdict =>
  verdict === 'open' ? 'unprovable' : verdict

function verifyHeader(
  block: RpcBlock,
  { headerRule: rule, known, loose = nothingLoose }: VerifyOptions,
): Verdict {
  if (rule === 'unknown') return 'unprovable'
  if (rule === 'ethereum' && hasFieldsOfTempo(block)) return loosely('refuted', loose.has('header'))
  if (headerHash(block, rule) === block.hash)
    return hasListsOf(block, known !== undefined && isUpTo(block, known.headersTo)) ? 'proved' : 'refuted'
  if (known && isUpTo(block, known.headersTo)) return 'refuted'
  const isOpen = hasUnknownHeaderFields(block) || leavesOutSlot(block) || loose.has('header')
  return isOpen ? 'unprovable' : 'refuted'
}

const isUpTo = ({ number }: RpcBlock, height: number): boolean => Number(number) <= height

function verifyTransactions(
  block: RpcBlock,
  proof: Mutable<BlockProof>,
  { loose = nothingLoose, known }: VerifyOptions,
): void {
  const { transactions } = block
  const hashes: (BytesAt | null)[] = []
  const root = orderedTrieRoot(writer, transactions.length, (index) => {
    const tx = transactions[index]
    const mark = writer.written
    const isKnown = tx !== undefined && writeEnvelope(writer, tx)
    hashes[index] = isKnown ? txDigests.add(writer.since(mark)) : null
  })
  const verdicts = readVerdicts(transactions, hashes)
  const own = verdicts.filter((verdict) => verdict === 'own').length
  proof.unprovableTxs = verdicts.length - own
  const isWrong = verdicts.includes('contradicted') && !loose.has('transactionHashes')
  if (isWrong || (known && proof.unprovableTxs > 0 && isUpTo(block, known.envelopesTo)))
    proof.transactionsRoot = 'refuted'
  else if (proof.unprovableTxs > 0) proof.transactionsRoot = 'unprovable'
  else if (root === block.transactionsRoot) proof.transactionsRoot = 'proved'
  else proof.transactionsRoot = loose.has('transactionsRoot') ? 'unprovable' : 'refuted'
}

/** A transaction whose bytes are not known has no hash. */
function readVerdicts(
  transactions: readonly RpcTransaction[],
  hashes: readonly (BytesAt | null)[],
): readonly TransactionVerdict[] {
  txDigests.finish()
  const verdicts = transactions.map((tx, index): TransactionVerdict => {
    const hash = hashes[index] ?? null
    return hash === null ? 'open' : transactionVerdict(tx, txDigests.digests.hexAt(hash, HASH_BYTES))
  })
  txDigests.clear()
  return verdicts
}

function verifyReceipts(
  block: RpcBlock,
  { bytes, list }: ScannedReceipts,
  isCreationKnown: boolean,
): Verdict {
  let known = true
  const root = orderedTrieRoot(writer, list.length, (index) => {
    const receipt = list[index]
    const type = block.transactions[index]?.type
    if (receipt === undefined || type === undefined) return
    known &&= hasKnownReceipt(type)
    writeReceipt(writer, bytes, receipt, type)
  })
  if (root !== block.receiptsRoot) return known ? 'refuted' : 'unprovable'
  if (isCreationKnown && !createdAsTold(block, { bytes, list })) return 'refuted'
  return gasAddsUp(list) ? 'proved' : 'refuted'
}

/**
 * No root covers the address of a created contract, but sender and nonce give it, and a call
 * creates none this way. Of a creation that failed some nodes tell it and some do not.
 */
function createdAsTold(block: RpcBlock, { bytes, list }: ScannedReceipts): boolean {
  return list.every(({ contractAddress, status }, index) => {
    const tx = block.transactions[index]
    if (tx === undefined || !plainTypes.has(tx.type)) return true
    if (contractAddress === null) return (tx.to ?? null) !== null || status !== '0x1'
    const created = (tx.to ?? null) === null ? creationAddress(tx.from, tx.nonce) : null
    return bytes.hexAt(contractAddress, ADDRESS_BYTES) === created
  })
}

/** Envelopes of one call each. */
const plainTypes: ReadonlySet<string> = new Set(['0x0', '0x1', '0x2', '0x3', '0x4'])

/** The root covers cumulative gas only; a receipt's own gas is the difference to the one before. */
function gasAddsUp(receipts: readonly ScannedReceipt[]): boolean {
  let total = 0
  for (const { gasUsed, cumulativeGasUsed } of receipts) {
    total += gasUsed
    if (total !== cumulativeGasUsed) return false
  }
  return true
}

/**
 * Logs with a proved root have proved blooms, and joining those is cheaper than hashing every topic
 * again.
 */
function verifyBloom(block: RpcBlock, { bytes, list }: ScannedReceipts, receiptsRoot: Verdict): Verdict {
  bloom.clear()
  for (const { logs, logsBloom } of list) {
    if (receiptsRoot === 'proved' && logsBloom !== null) bloom.addBloom(bytes.view, logsBloom)
    else bloom.addLogs(logs)
  }
  return bloom.toHex() === block.logsBloom ? 'proved' : 'refuted'
}
