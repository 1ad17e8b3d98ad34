/** Chance from a seed, for a chain and for faults that are the same at every run. */
import { createHash } from 'node:crypto'

/** The digest of texts with a zero between them, in hexadecimal digits. */
export function sha256(...parts: readonly (string | number)[]): string {
  return createHash('sha256').update(parts.join('\0')).digest('hex')
}

/** A small fast generator (sfc32) whose sequence depends on nothing but its seed. */
export class Random {
  #a: number
  #b: number
  #c: number
  #counter: number

  constructor(seed: string) {
    const digest = createHash('sha256').update(seed).digest()
    this.#a = digest.readInt32LE(0)
    this.#b = digest.readInt32LE(4)
    this.#c = digest.readInt32LE(8)
    this.#counter = digest.readInt32LE(12)
  }

  /** Uniform in [0, 1). */
  next(): number {
    const sum = (this.#a + this.#b + this.#counter) | 0
    this.#counter = (this.#counter + 1) | 0
    this.#a = this.#b ^ (this.#b >>> 9)
    this.#b = (this.#c + (this.#c << 3)) | 0
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + sum) | 0
    return (sum >>> 0) / 2 ** 32
  }

  /** An integer in [0, n). */
  below(n: number): number {
    return Math.floor(this.next() * n)
  }

  /** An integer in [low, high]. */
  between(low: number, high: number): number {
    return low + this.below(high - low + 1)
  }

  chance(probability: number): boolean {
    return this.next() < probability
  }

  /** One of a list, all alike. @throws RangeError for an empty list. */
  pick<Item>(list: readonly Item[]): Item {
    return itemAt(list, this.below(list.length))
  }

  /** One of a list; number i comes about 1/(i+1) as often as number 0. */
  favour<Item>(list: readonly Item[]): Item {
    return itemAt(list, this.zipf(list.length))
  }

  /** An index in [0, n); index i comes about 1/(i+1) as often as index 0. */
  zipf(n: number): number {
    return Math.floor((n + 1) ** this.next()) - 1
  }

  /** An amount spread evenly over orders of magnitude between two. */
  magnitude(low: number, high: number): bigint {
    return BigInt(Math.floor(low * (high / low) ** this.next()))
  }
}

/** @throws RangeError for an index outside of the list. */
export function itemAt<Item>(list: readonly Item[], index: number): Item {
  if (index >= list.length) throw new RangeError(`no item ${index} among ${list.length}`)
  return list[index] as Item
}
