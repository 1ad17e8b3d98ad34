/**
 * Receipts and logs as bytes: what the scan of an answer, or parsed receipts, leave for
 * verification and for rows. Values stand in one buffer per block and are named by their place in
 * it; null where a node has none.
 */
import type { Address, Hash, Hex } from '#primitives.ts'
import type { Quantity } from '../block.ts'
import type { FeeTerms } from '../feeTerms.ts'
import type { ByteBuffer, BytesAt } from '../json/ByteBuffer.ts'

/** The receipts of a block, in order. The checks of `parseReceipts` hold for them. */
export interface ScannedReceipts {
  readonly bytes: ByteBuffer
  readonly list: readonly ScannedReceipt[]
}

export interface ScannedReceipt {
  readonly transactionHash: BytesAt
  readonly from: BytesAt
  readonly to: BytesAt | null
  readonly contractAddress: BytesAt | null
  readonly feePayer: BytesAt | null
  readonly feeToken: BytesAt | null
  readonly gasUsed: number
  readonly cumulativeGasUsed: number
  readonly effectiveGasPrice: Quantity | null
  /** Null before Byzantium, when there was a state root instead. */
  readonly status: Quantity | null
  readonly root: BytesAt | null
  readonly logsBloom: BytesAt | null
  readonly depositNonce: Quantity | null
  readonly depositReceiptVersion: Quantity | null
  readonly l1Fee: Quantity | null
  readonly blobGasUsed: Quantity | null
  readonly blobGasPrice: Quantity | null
  /** Null on most chains. */
  readonly feeTerms: FeeTerms | null
  readonly logs: readonly ScannedLog[]
}

export const ADDRESS_BYTES = 20
export const HASH_BYTES = 32
export const BLOOM_BYTES = 256

/** A log by its places, which texts are made of only when somebody asks. */
export class ScannedLog {
  readonly bytes: ByteBuffer
  readonly emitter: BytesAt
  readonly topicCount: number
  /** Place of the first topic; the others follow. */
  readonly topicsAt: BytesAt
  /** Sized (`ByteBuffer.sizeAt`). */
  readonly dataAt: BytesAt
  /** Position among all logs of the block. */
  readonly logIndex: number
  /** Second hop of a transfer to a virtual address (TIP-1022); found out while rows are built. */
  isVirtualForward = false

  constructor(
    bytes: ByteBuffer,
    emitter: BytesAt,
    topicCount: number,
    topicsAt: BytesAt,
    dataAt: BytesAt,
    logIndex: number,
  ) {
    this.bytes = bytes
    this.emitter = emitter
    this.topicCount = topicCount
    this.topicsAt = topicsAt
    this.dataAt = dataAt
    this.logIndex = logIndex
  }

  /** Null where the log has fewer topics. */
  topicAt(index: number): BytesAt | null {
    return index < this.topicCount ? ((this.topicsAt + index * HASH_BYTES) as BytesAt) : null
  }

  get dataBytes(): number {
    return this.bytes.sizeAt(this.dataAt)
  }

  get address(): Address {
    return this.bytes.hexAt(this.emitter, ADDRESS_BYTES) as Address
  }

  get topics(): readonly Hash[] {
    return Array.from(
      { length: this.topicCount },
      (_, index) => this.bytes.hexAt(this.topicsAt + index * HASH_BYTES, HASH_BYTES) as Hash,
    )
  }

  get data(): Hex {
    return this.bytes.hexAt(this.dataAt, this.dataBytes)
  }
}
