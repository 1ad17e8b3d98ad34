/** The 2048-bit filter over addresses and topics of logs (Yellow Paper 4.3.1). */

import { keccak256 } from './keccak.ts'

/** The part of a log that a bloom covers. */
export interface BloomLog {
  readonly address: string
  readonly topics: readonly string[]
}

const BLOOM_BYTES = 256

/** A bloom being filled. */
export class Bloom {
  readonly bytes: Buffer = Buffer.alloc(BLOOM_BYTES)
  readonly #view = new DataView(this.bytes.buffer, this.bytes.byteOffset, BLOOM_BYTES)

  /** Sets the bits of logs. */
  addLogs(logs: readonly BloomLog[]): void {
    for (const log of logs) {
      this.#addValue(log.address)
      for (const topic of log.topics) this.#addValue(topic)
    }
  }

  /** Sets the bits of another bloom, whose bytes start at a place. */
  addBloom(view: DataView, at: number): void {
    for (let offset = 0; offset < BLOOM_BYTES; offset += 4) {
      const bits = view.getUint32(at + offset)
      // A receipt's bloom is nearly empty.
      if (bits !== 0) this.#view.setUint32(offset, this.#view.getUint32(offset) | bits)
    }
  }

  clear(): void {
    this.bytes.fill(0)
  }

  toHex(): string {
    return `0x${this.bytes.toString('hex')}`
  }

  #addValue(text: string): void {
    const hash = keccak256(Buffer.from(text.slice(2), 'hex'))
    for (const offset of bitPairs) {
      const bit = (((hash[offset] ?? 0) << 8) | (hash[offset + 1] ?? 0)) & 0x7ff
      const byte = BLOOM_BYTES - 1 - (bit >> 3)
      this.bytes[byte] = (this.bytes[byte] ?? 0) | (1 << (bit & 7))
    }
  }
}

/** Each of the first three pairs of bytes of a value's hash names one bit. */
const bitPairs = [0, 2, 4] as const
