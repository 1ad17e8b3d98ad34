import type { RpcLog, RpcReceipt } from './block.ts'
import { feeTermsOf } from './feeTerms.ts'
import type { ByteBuffer, BytesAt } from './json/ByteBuffer.ts'
import { decodeHex } from './json/hexBytes.ts'
import {
  ADDRESS_BYTES,
  BLOOM_BYTES,
  HASH_BYTES,
  ScannedLog,
  type ScannedReceipt,
} from './scan/scannedReceipt.ts'

/**
 * Receipts that were parsed (`parseReceipts`), as a scan would have left them: the way of answers
 * it declines.
 */
export function receiptBytes(receipts: readonly RpcReceipt[], bytes: ByteBuffer): readonly ScannedReceipt[] {
  const hasOwn = ascends(receipts)
  let position = 0
  return receipts.map((receipt) => ({
    transactionHash: put(receipt.transactionHash, HASH_BYTES, bytes),
    from: put(receipt.from, ADDRESS_BYTES, bytes),
    to: putOrNull(receipt.to, ADDRESS_BYTES, bytes),
    contractAddress: putOrNull(receipt.contractAddress, ADDRESS_BYTES, bytes),
    feePayer: putOrNull(receipt.feePayer, ADDRESS_BYTES, bytes),
    feeToken: putOrNull(receipt.feeToken, ADDRESS_BYTES, bytes),
    gasUsed: Number(receipt.gasUsed),
    cumulativeGasUsed: Number(receipt.cumulativeGasUsed),
    effectiveGasPrice: receipt.effectiveGasPrice ?? null,
    status: receipt.status ?? null,
    // Unchecked, and of no use, where there is a status.
    root: receipt.status ? null : putOrNull(receipt.root, HASH_BYTES, bytes),
    logsBloom: putOrNull(receipt.logsBloom, BLOOM_BYTES, bytes),
    depositNonce: receipt.depositNonce ?? null,
    depositReceiptVersion: receipt.depositReceiptVersion ?? null,
    l1Fee: receipt.l1Fee ?? null,
    blobGasUsed: receipt.blobGasUsed ?? null,
    blobGasPrice: receipt.blobGasPrice ?? null,
    feeTerms: feeTermsOf(receipt),
    logs: receipt.logs.map((log) => {
      const logIndex = hasOwn ? Number(log.logIndex) : position
      position++
      return logBytes(log, logIndex, bytes)
    }),
  }))
}

/** Log indexes are stored in 32 bits with a sign. */
const LOG_INDEX_MAX = 2 ** 31 - 1

/** Whether log indexes name each log of the block, in their order. */
function ascends(receipts: readonly RpcReceipt[]): boolean {
  let last = -1
  for (const { logs } of receipts)
    for (const { logIndex } of logs) {
      const told = Number(logIndex)
      if (told <= last || told > LOG_INDEX_MAX) return false
      last = told
    }
  return true
}

function logBytes(log: RpcLog, logIndex: number, bytes: ByteBuffer): ScannedLog {
  const address = put(log.address, ADDRESS_BYTES, bytes)
  const topicsAt = bytes.end
  for (const topic of log.topics) put(topic, HASH_BYTES, bytes)
  const width = log.data.length / 2 - 1
  bytes.putSize(width)
  const data = put(log.data, width, bytes)
  return new ScannedLog(bytes, address, log.topics.length, topicsAt, data, logIndex)
}

function put(text: string, width: number, bytes: ByteBuffer): BytesAt {
  bytes.reserve(width)
  const place = bytes.end
  const source = Buffer.from(text, 'latin1')
  decodeHex(new DataView(source.buffer, source.byteOffset, source.length), 2, bytes.view, place, width)
  bytes.length += width
  return place
}

function putOrNull(text: string | null | undefined, width: number, bytes: ByteBuffer): BytesAt | null {
  return text === null || text === undefined ? null : put(text, width, bytes)
}
