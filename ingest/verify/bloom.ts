/** The 2048-bit filter over addresses and topics of logs (Yellow Paper 4.3.1). */

import { keccak256 } from './keccak.ts'

export const bloomBytes = 256

/** What a bloom covers of a log. */
export interface BloomLog {
  readonly address: string
  readonly topics: readonly string[]
}

/**
 * Collects the bits of logs. The bits of an address or topic are kept, as the same few contracts and events come again
 * and again; the memory is dropped when full, which bounds it without the cost of an eviction order.
 */
export class BloomBuilder {
  readonly #bitsOf = new Map<string, Bits>()

  /** Sets the bits of the logs in `bloom`. */
  add(bloom: Uint8Array, logs: readonly BloomLog[]): void {
    for (const log of logs) {
      this.#set(bloom, log.address)
      for (const topic of log.topics) this.#set(bloom, topic)
    }
  }

  #set(bloom: Uint8Array, text: string): void {
    let bits = this.#bitsOf.get(text)
    if (bits === undefined) {
      bits = bitsOf(text)
      if (this.#bitsOf.size >= valuesKept) this.#bitsOf.clear()
      this.#bitsOf.set(text, bits)
    }
    setBit(bloom, bits[0])
    setBit(bloom, bits[1])
    setBit(bloom, bits[2])
  }
}

type Bits = readonly [number, number, number]

/** About 2 MB of strings and bits. */
const valuesKept = 10_000

function bitsOf(text: string): Bits {
  const hash = keccak256(Buffer.from(text.slice(2), 'hex'))
  return [bitAt(hash, 0), bitAt(hash, 2), bitAt(hash, 4)]
}

function bitAt(hash: Uint8Array, offset: number): number {
  return (((hash[offset] ?? 0) << 8) | (hash[offset + 1] ?? 0)) & 0x7ff
}

function setBit(bloom: Uint8Array, bit: number): void {
  const byte = bloomBytes - 1 - (bit >> 3)
  bloom[byte] = (bloom[byte] ?? 0) | (1 << (bit & 7))
}
