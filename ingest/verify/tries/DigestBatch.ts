/**
 * Keccak-256 of many inputs, two at a time: an input waits for another of as many blocks. Inputs of
 * 100 to 600 bytes take 0.4 to 0.6 of OpenSSL's time: each call into it costs more than a block,
 * and a block 0.4 us, where here it is 0.3.
 */

import { ByteBuffer, type BytesAt } from '../../read/json/ByteBuffer.ts'
import { HASH_BYTES } from '../../read/scan/scannedReceipt.ts'
import { keccak256Latin1 } from './keccak.ts'
import { assembleKeccakPairModule, DIGESTS_AT, INPUTS_AT, RATE_BYTES } from './keccakPairModule.ts'

/**
 * Longer inputs rarely find another of their length, and a call into OpenSSL matters least for
 * them.
 */
const BLOCKS_MAX = 16

/** Digests are kept until `clear`, 32 bytes each. */
const BYTES_AT_FIRST = 1 << 14

/** Inputs to be hashed, and the digests of those that have been. */
export class DigestBatch {
  /** A digest is where `add` said, at the latest after `finish`. */
  readonly digests = new ByteBuffer(BYTES_AT_FIRST)
  readonly #wasm = instantiate()
  readonly #memory = new Uint8Array(this.#wasm.memory.buffer)
  readonly #first = this.#memory.subarray(DIGESTS_AT, DIGESTS_AT + HASH_BYTES)
  readonly #second = this.#memory.subarray(DIGESTS_AT + HASH_BYTES, DIGESTS_AT + 2 * HASH_BYTES)
  /** By the number of blocks: where the digest of the input goes that waits for another. */
  readonly #waiting: (BytesAt | null)[] = new Array<BytesAt | null>(BLOCKS_MAX + 1).fill(null)

  /** Takes an input in, whose bytes may change afterwards; returns where its digest will be. */
  add(bytes: Uint8Array): BytesAt {
    const place = this.#reserve()
    const blocks = Math.floor(bytes.length / RATE_BYTES) + 1
    if (blocks > BLOCKS_MAX) {
      this.digests.bytes.write(keccak256Latin1(bytes), place, 'latin1')
      return place
    }
    const waiting = this.#waiting[blocks] ?? null
    const slot = slotOf(blocks)
    if (waiting === null) {
      this.#pad(bytes, slot, blocks)
      this.#waiting[blocks] = place
    } else {
      this.#pad(bytes, partnerSlot, blocks)
      this.#wasm.hashPair(slot, partnerSlot, blocks)
      this.digests.bytes.set(this.#first, waiting)
      this.digests.bytes.set(this.#second, place)
      this.#waiting[blocks] = null
    }
    return place
  }

  /** Hashes the inputs that still wait. */
  finish(): void {
    for (let blocks = 1; blocks <= BLOCKS_MAX; blocks++) {
      const waiting = this.#waiting[blocks] ?? null
      if (waiting === null) continue
      this.#wasm.hashPair(slotOf(blocks), slotOf(blocks), blocks)
      this.digests.bytes.set(this.#first, waiting)
      this.#waiting[blocks] = null
    }
  }

  /** Forgets all inputs and digests. */
  clear(): void {
    this.digests.clear(BYTES_AT_FIRST)
    this.#waiting.fill(null)
  }

  #reserve(): BytesAt {
    this.digests.reserve(HASH_BYTES)
    const place = this.digests.end
    this.digests.length += HASH_BYTES
    return place
  }

  /** Keccak's own padding, which has not the two bits that SHA-3 puts in front of it. */
  #pad(bytes: Uint8Array, slot: number, blocks: number): void {
    const last = slot + blocks * RATE_BYTES - 1
    this.#memory.set(bytes, slot)
    this.#memory.fill(0, slot + bytes.length, last + 1)
    this.#memory[slot + bytes.length] = 0x01
    this.#memory[last] = (this.#memory[last] ?? 0) | 0x80
  }
}

/** The place in which the input of this many blocks waits: behind those of fewer. */
function slotOf(blocks: number): number {
  return INPUTS_AT + RATE_BYTES * ((blocks * (blocks - 1)) / 2)
}

const partnerSlot = slotOf(BLOCKS_MAX + 1)

interface KeccakPair {
  readonly memory: { readonly buffer: ArrayBuffer }
  hashPair(first: number, second: number, blocks: number): void
}

/** Node has it; TypeScript declares it with the browser's things only. */
declare const WebAssembly: {
  Module: new (bytes: Uint8Array<ArrayBuffer>) => object
  Instance: new (module: object) => { readonly exports: unknown }
}

const keccakPairModule = new WebAssembly.Module(assembleKeccakPairModule())

function instantiate(): KeccakPair {
  return new WebAssembly.Instance(keccakPairModule).exports as KeccakPair
}
