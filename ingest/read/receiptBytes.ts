import type { RpcLog, RpcReceipt } from './block.ts'
import type { ByteBuffer, BytesAt } from './byteBuffer.ts'
import { decodeHex } from './hexBytes.ts'
import { addressBytes, bloomBytes, hashBytes, ScannedLog, type ScannedReceipt } from './scannedReceipt.ts'

/**
 * Receipts that were parsed (`parseReceipts`), as a scan would have left them: the way of answers
 * it declines.
 */
export function receiptBytes(receipts: readonly RpcReceipt[], bytes: ByteBuffer): readonly ScannedReceipt[] {
  return receipts.map((receipt) => ({
    transactionHash: put(receipt.transactionHash, hashBytes, bytes),
    from: put(receipt.from, addressBytes, bytes),
    to: putOrNull(receipt.to, addressBytes, bytes),
    contractAddress: putOrNull(receipt.contractAddress, addressBytes, bytes),
    feePayer: putOrNull(receipt.feePayer, addressBytes, bytes),
    feeToken: putOrNull(receipt.feeToken, addressBytes, bytes),
    gasUsed: Number(receipt.gasUsed),
    cumulativeGasUsed: Number(receipt.cumulativeGasUsed),
    effectiveGasPrice: receipt.effectiveGasPrice ?? null,
    status: receipt.status ?? null,
    // Unchecked, and of no use, where there is a status.
    root: receipt.status ? null : putOrNull(receipt.root, hashBytes, bytes),
    logsBloom: putOrNull(receipt.logsBloom, bloomBytes, bytes),
    depositNonce: receipt.depositNonce ?? null,
    depositReceiptVersion: receipt.depositReceiptVersion ?? null,
    l1Fee: receipt.l1Fee ?? null,
    blobGasUsed: receipt.blobGasUsed ?? null,
    blobGasPrice: receipt.blobGasPrice ?? null,
    logs: receipt.logs.map((log) => logBytes(log, bytes)),
  }))
}

function logBytes(log: RpcLog, bytes: ByteBuffer): ScannedLog {
  const address = put(log.address, addressBytes, bytes)
  const topicsAt = bytes.end
  for (const topic of log.topics) put(topic, hashBytes, bytes)
  const width = log.data.length / 2 - 1
  bytes.putSize(width)
  const data = put(log.data, width, bytes)
  return new ScannedLog(bytes, address, log.topics.length, topicsAt, data, Number(log.logIndex))
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
