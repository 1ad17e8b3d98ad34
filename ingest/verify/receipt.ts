/** The bytes of a receipt as they stand in the receipts trie (Yellow Paper 4.3.1, EIP-658, EIP-2718). */

import type { RpcReceipt } from '../block.ts'
import type { RlpItem, RlpWriter } from './rlp.ts'

/**
 * Puts the bytes of a receipt in front of what is written. `type` is that of its transaction. Ethereum, Tempo and the
 * OP stack encode alike; deposits append their nonce and version. Other envelopes are tried the same way.
 */
export function writeReceipt(
  writer: RlpWriter,
  receipt: RpcReceipt,
  type: string,
  bloom: string | Uint8Array,
): void {
  const fields: RlpItem[] = [
    receipt.status ?? receipt.root,
    receipt.cumulativeGasUsed,
    bloom,
    receipt.logs.map((log) => [log.address, log.topics, log.data]),
  ]
  // Between Regolith and Canyon a deposit's nonce is in the answer but not in the trie; the version tells them apart.
  if (type === depositType && receipt.depositReceiptVersion) {
    fields.push(receipt.depositNonce, receipt.depositReceiptVersion)
  }
  writer.writeList(fields)
  if (type !== '0x0') writer.writeByte(Number(type))
}

/** Whether the encoding of an envelope's receipts is known for sure. */
export function hasKnownReceipt(type: string): boolean {
  return knownTypes.has(type)
}

const depositType = '0x7e'
const knownTypes: ReadonlySet<string> = new Set(['0x0', '0x1', '0x2', '0x3', '0x4', '0x76', depositType])
