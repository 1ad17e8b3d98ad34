/**
 * The bytes of a transaction, as they are hashed and as they stand in the transactions trie
 * (EIP-2718).
 */

import type { AccessListEntry, RpcAuthorization, RpcTransaction } from '../../read/block.ts'
import { keccak256Hex } from '../tries/keccak.ts'
import type { RlpItem, RlpWriter } from '../tries/rlp.ts'
import { withoutLeadingZeros } from './looseFields.ts'
import { hasOpenEncoding, tempoFields } from './tempoTransaction.ts'

/**
 * - `own`: the fields of the transaction give its hash;
 * - `open`: they do not, and they need not: an envelope, a field or a part of it is one we do not
 *   know;
 * - `contradicted`: they do not, and they should.
 */
export type TransactionVerdict = 'own' | 'open' | 'contradicted'

/**
 * Puts the bytes of a transaction in front of what is written, and compares their hash with the
 * transaction's own.
 */
export function writeTransaction(writer: RlpWriter, tx: RpcTransaction): TransactionVerdict {
  const mark = writer.written
  if (!writeEnvelope(writer, tx)) return 'open'
  return transactionVerdict(tx, keccak256Hex(writer.since(mark)))
}

/**
 * Puts the bytes of a transaction in front of what is written; false, and nothing written, for an
 * envelope we do not know.
 */
export function writeEnvelope(writer: RlpWriter, tx: RpcTransaction): boolean {
  const fields = envelopeFields(tx)
  if (fields === null) return false
  writer.writeList(fields)
  if (tx.type !== '0x0') writer.writeByte(Number(tx.type))
  return true
}

/** The verdict of the hash of a transaction's bytes. */
export function transactionVerdict(tx: RpcTransaction, hash: string): TransactionVerdict {
  if (hash === tx.hash) return 'own'
  return isOpen(tx) ? 'open' : 'contradicted'
}

/**
 * The fields of a transaction as they are hashed, its signature last; null for an envelope we do
 * not know.
 */
export function envelopeFields(tx: RpcTransaction): readonly RlpItem[] | null {
  return envelopes.get(tx.type)?.(tx) ?? null
}

/** The fields of every known envelope, in the order they are hashed. */
const envelopes: ReadonlyMap<string, (tx: RpcTransaction) => readonly RlpItem[]> = new Map([
  ['0x0', legacyFields],
  ['0x1', accessListFields],
  ['0x2', dynamicFeeFields],
  ['0x3', blobFields],
  ['0x4', delegationFields],
  ['0x76', (tx: RpcTransaction) => tempoFields(tx, accessListItem(tx))],
  ['0x7e', depositFields],
])

/** EIP-155 or older, which only `v` tells apart; Tempo's system transactions have r = s = 0. */
function legacyFields(tx: RpcTransaction): readonly RlpItem[] {
  return [tx.nonce, tx.gasPrice, tx.gas, tx.to, tx.value, tx.input, tx.v, scalar(tx.r), scalar(tx.s)]
}

/** EIP-2930. */
function accessListFields(tx: RpcTransaction): readonly RlpItem[] {
  return [
    tx.chainId,
    tx.nonce,
    tx.gasPrice,
    tx.gas,
    tx.to,
    tx.value,
    tx.input,
    accessListItem(tx),
    ...signature(tx),
  ]
}

/** EIP-1559. */
function dynamicFeeFields(tx: RpcTransaction): readonly RlpItem[] {
  return [...dynamicFeeHead(tx), ...signature(tx)]
}

/** EIP-4844, without the sidecar, which is not part of the chain. */
function blobFields(tx: RpcTransaction): readonly RlpItem[] {
  return [...dynamicFeeHead(tx), tx.maxFeePerBlobGas, tx.blobVersionedHashes ?? [], ...signature(tx)]
}

/** EIP-7702. */
function delegationFields(tx: RpcTransaction): readonly RlpItem[] {
  return [...dynamicFeeHead(tx), (tx.authorizationList ?? []).map(authorizationItem), ...signature(tx)]
}

/** Deposits of the OP stack; not signed. */
function depositFields(tx: RpcTransaction): readonly RlpItem[] {
  const isSystem = tx.isSystemTx === true ? '0x1' : '0x0'
  return [tx.sourceHash, tx.from, tx.to, tx.mint, tx.value, tx.gas, isSystem, tx.input]
}

function dynamicFeeHead(tx: RpcTransaction): readonly RlpItem[] {
  const fees = [tx.maxPriorityFeePerGas, tx.maxFeePerGas]
  return [tx.chainId, tx.nonce, ...fees, tx.gas, tx.to, tx.value, tx.input, accessListItem(tx)]
}

function signature(tx: RpcTransaction | RpcAuthorization): readonly RlpItem[] {
  return [tx.yParity ?? tx.v, scalar(tx.r), scalar(tx.s)]
}

function accessListItem(tx: RpcTransaction): RlpItem {
  return (tx.accessList ?? noEntries).map((entry) => [entry.address, entry.storageKeys])
}

const noEntries: readonly AccessListEntry[] = []

function authorizationItem(authorization: RpcAuthorization): RlpItem {
  return [authorization.chainId, authorization.address, authorization.nonce, ...signature(authorization)]
}

function scalar(text: string | null | undefined): RlpItem {
  return text === null || text === undefined ? text : withoutLeadingZeros(text)
}

/**
 * Whether a hash that does not match may be due to something we do not know, rather than to a wrong
 * answer.
 */
function isOpen(tx: RpcTransaction): boolean {
  if (tx.type === '0x76' && hasOpenEncoding(tx)) return true
  // Unsigned legacy transactions are made by chains themselves and hashed by rules of their own
  // (Polygon's state sync).
  if (tx.type === '0x0' && isZero(tx.r) && isZero(tx.s)) return true
  return Object.keys(tx).some((field) => !knownFields.has(field))
}

function isZero(text: string | null | undefined): boolean {
  return text === null || text === undefined || /^0x0+$/.test(text)
}

/** Everything encoded above, and what nodes add that is not part of a transaction. */
const knownFields: ReadonlySet<string> = new Set([
  ...['hash', 'type', 'blockHash', 'blockNumber', 'blockTimestamp', 'transactionIndex', 'from'],
  ...['nonce', 'gas', 'gasPrice', 'to', 'value', 'input', 'chainId', 'v', 'r', 's', 'yParity', 'accessList'],
  ...['maxFeePerGas', 'maxPriorityFeePerGas', 'maxFeePerBlobGas', 'blobVersionedHashes', 'authorizationList'],
  ...['sourceHash', 'mint', 'isSystemTx', 'depositReceiptVersion'],
  ...['calls', 'feeToken', 'nonceKey', 'validBefore', 'validAfter', 'feePayerSignature', 'keyAuthorization'],
  ...['aaAuthorizationList', 'signature'],
])
