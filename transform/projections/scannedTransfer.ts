/**
 * Events of the shape (address indexed, address indexed, uint256), Transfer and Approval, read from
 * a log's bytes: what rows are made of most, by far. As strict as the decoders of `events/`, with
 * which a test holds it equal.
 */
import type { ByteBuffer, BytesAt } from '#ingest/read/json/ByteBuffer.ts'
import { ADDRESS_BYTES, HASH_BYTES, ScannedLog } from '#ingest/read/scan/scannedReceipt.ts'
import { type Address, address, type Hash } from '#primitives.ts'
import { nativeCoinEmitter, zeroAddress } from '../addresses.ts'
import { approval, transfer } from '../events/tokens/erc20.ts'
import { nativeTransfer } from '../nativeCoin.ts'
import type { LogFacts, Stored } from '../projection.ts'

/**
 * Two accounts, an amount of a token, and whether an account is the zero address, which holds
 * nothing.
 */
export interface ScannedMovement<Account, Amount> {
  readonly token: Account
  readonly from: Account
  readonly to: Account
  readonly amount: Amount
  readonly fromNobody: boolean
  readonly toNobody: boolean
}

type StoredMovement = ScannedMovement<Stored<Address>, Stored<bigint>>

/** As `readTransfer`, for those who only know logs as bytes. */
export const readScannedTransfer = (log: ScannedLog): ScannedMovement<BytesAt, BytesAt> | null =>
  isNativeCoin(log) ? null : readScanned(log, transferTopic)

/** Null when the log is no well-formed Transfer of a token. */
export function readTransfer(log: LogFacts): StoredMovement | null {
  if (log instanceof ScannedLog) return isNativeCoin(log) ? null : readScanned(log, transferTopic)
  const args = transfer.decode(log)
  return args && movement(log.address, args.from, args.to, args.amount)
}

/** Null when the log is none of the native coin; `token` is its emitter, which is no token. */
export function readNativeTransfer(log: LogFacts): StoredMovement | null {
  if (log instanceof ScannedLog) return isNativeCoin(log) ? readScanned(log, transferTopic) : null
  const args = nativeTransfer.decode(log)
  return args && movement(log.address, args.from, args.to, args.amount)
}

/** An account as text, of a transaction that the log is of. */
export function accountOf(account: Stored<Address>, log: LogFacts): Address | null {
  if (typeof account === 'string') return address(account)
  return log instanceof ScannedLog ? address(log.bytes.hexAt(account, ADDRESS_BYTES)) : null
}

/** Null when the log is no well-formed Approval; `from` is the owner and `to` the spender. */
export function readApproval(log: LogFacts): StoredMovement | null {
  if (log instanceof ScannedLog) return readScanned(log, approvalTopic)
  const args = approval.decode(log)
  return args && movement(log.address, args.owner, args.spender, args.amount)
}

function movement(token: Address, from: Address, to: Address, amount: bigint): StoredMovement {
  return { token, from, to, amount, fromNobody: from === zeroAddress, toNobody: to === zeroAddress }
}

/** The topic that logs of an event begin with, as text and as bytes. */
export interface EventTopic {
  readonly text: Hash
  readonly view: DataView
}

export function topicOf({ topic0 }: { readonly topic0: Hash }): EventTopic {
  const { buffer, byteOffset, byteLength } = Buffer.from(topic0.slice(2), 'hex')
  return { text: topic0, view: new DataView(buffer, byteOffset, byteLength) }
}

/** Whether a log begins with a topic; of scanned logs no text is made for that. */
export function hasTopic0(log: LogFacts, topic: EventTopic): boolean {
  if (!(log instanceof ScannedLog)) return log.topics[0] === topic.text
  return log.topicCount > 0 && isTopic(log.bytes, log.topicsAt, topic.view)
}

const transferTopic = topicOf(transfer)
const approvalTopic = topicOf(approval)
const ADDRESS_SKIP = 12

function readScanned(log: ScannedLog, topic0: EventTopic): ScannedMovement<BytesAt, BytesAt> | null {
  const { bytes, topicsAt } = log
  if (log.topicCount !== 3 || !isTopic(bytes, topicsAt, topic0.view) || log.dataBytes !== HASH_BYTES)
    return null
  const fromWord = topicsAt + HASH_BYTES
  const toWord = fromWord + HASH_BYTES
  if (!isZero(bytes, fromWord, ADDRESS_SKIP) || !isZero(bytes, toWord, ADDRESS_SKIP)) return null
  const from = (fromWord + ADDRESS_SKIP) as BytesAt
  const to = (toWord + ADDRESS_SKIP) as BytesAt
  return {
    token: log.emitter,
    from,
    to,
    amount: log.dataAt,
    fromNobody: isZero(bytes, from, HASH_BYTES - ADDRESS_SKIP),
    toNobody: isZero(bytes, to, HASH_BYTES - ADDRESS_SKIP),
  }
}

const nativeCoin = new DataView(Uint8Array.from(Buffer.from(nativeCoinEmitter.slice(2), 'hex')).buffer)

/** Nearly every emitter differs in its first bytes. */
function isNativeCoin({ bytes: { view }, emitter }: ScannedLog): boolean {
  for (let offset = 0; offset < nativeCoin.byteLength; offset += 4) {
    if (view.getUint32(emitter + offset) !== nativeCoin.getUint32(offset)) return false
  }
  return true
}

function isTopic({ view }: ByteBuffer, at: number, topic: DataView): boolean {
  for (let offset = 0; offset < HASH_BYTES; offset += 4) {
    if (view.getUint32(at + offset) !== topic.getUint32(offset)) return false
  }
  return true
}

function isZero({ view }: ByteBuffer, at: number, width: number): boolean {
  for (let offset = 0; offset < width; offset += 4) if (view.getUint32(at + offset) !== 0) return false
  return true
}
