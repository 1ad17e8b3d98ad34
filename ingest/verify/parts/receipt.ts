/**
 * The bytes of a receipt as they stand in the receipts trie (Yellow Paper 4.3.1, EIP-658,
 * EIP-2718).
 */

import type { ByteBuffer, BytesAt } from '../../read/json/ByteBuffer.ts'
import {
  ADDRESS_BYTES,
  BLOOM_BYTES,
  HASH_BYTES,
  type ScannedLog,
  type ScannedReceipt,
} from '../../read/scan/scannedReceipt.ts'
import { Bloom } from '../tries/Bloom.ts'
import type { RlpWriter } from '../tries/rlp.ts'

/**
 * Puts the bytes of a receipt in front of what is written. `type` is that of its transaction.
 * Ethereum, Tempo and the OP stack encode alike; deposits append their nonce and version. Other
 * envelopes are tried the same way.
 */
export function writeReceipt(
  writer: RlpWriter,
  bytes: ByteBuffer,
  receipt: ScannedReceipt,
  type: string,
): void {
  const mark = writer.written
  // Between Regolith and Canyon a deposit's nonce is in the answer but not in the trie; the version
  // tells them apart.
  if (type === depositType && receipt.depositReceiptVersion) {
    writer.writeItem(receipt.depositReceiptVersion)
    writer.writeItem(receipt.depositNonce)
  }
  writeLogs(writer, bytes, receipt.logs)
  if (receipt.logsBloom === null) writer.writeString(bloomOf(receipt.logs))
  else writer.writeSlice(bytes, receipt.logsBloom, BLOOM_BYTES)
  writer.writeNumber(receipt.cumulativeGasUsed)
  if (receipt.status !== null) writer.writeItem(receipt.status)
  else writer.writeSlice(bytes, receipt.root ?? noRoot, HASH_BYTES)
  writer.closeList(mark)
  if (type !== '0x0') writer.writeByte(Number(type))
}

/** Whether the encoding of an envelope's receipts is known for sure. */
export function hasKnownReceipt(type: string): boolean {
  return knownTypes.has(type)
}

function bloomOf(logs: readonly ScannedLog[]): Uint8Array {
  const bloom = new Bloom()
  bloom.addLogs(logs)
  return bloom.bytes
}

function writeLogs(writer: RlpWriter, bytes: ByteBuffer, logs: readonly ScannedLog[]): void {
  const all = writer.written
  for (let index = logs.length - 1; index >= 0; index--) {
    const log = logs[index]
    if (log === undefined) continue
    const mark = writer.written
    writer.writeSlice(bytes, log.dataAt, log.dataBytes)
    const topics = writer.written
    for (let topic = log.topicCount - 1; topic >= 0; topic--) {
      writer.writeSlice(bytes, log.topicsAt + topic * HASH_BYTES, HASH_BYTES)
    }
    writer.closeList(topics)
    writer.writeSlice(bytes, log.emitter, ADDRESS_BYTES)
    writer.closeList(mark)
  }
  writer.closeList(all)
}

/** Receipts have a status or a root; `parseReceipts` and the scan see to it. */
const noRoot = 0 as BytesAt

const depositType = '0x7e'
const knownTypes: ReadonlySet<string> = new Set(['0x0', '0x1', '0x2', '0x3', '0x4', '0x76', depositType])
