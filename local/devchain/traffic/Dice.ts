/**
 * Chance from a seed: the same seed gives the same traffic. Not for secrets.
 */
import { createHash } from 'node:crypto'
import type { Hex } from '#primitives.ts'

/** A sequence of draws (xorshift128, Marsaglia 2003). */
export class Dice {
  readonly #state: Uint32Array

  constructor(seed: string) {
    const digest = createHash('sha256').update(seed).digest()
    this.#state = Uint32Array.from([0, 4, 8, 12], (offset) => digest.readUInt32LE(offset) || 1)
  }

  /** Uniform in [0, 1). */
  fraction(): number {
    const [x = 1, y = 1, z = 1, w = 1] = this.#state
    const mixed = x ^ (x << 11)
    const next = w ^ (w >>> 19) ^ mixed ^ (mixed >>> 8)
    this.#state.set([y, z, w, next])
    return (next >>> 0) / 2 ** 32
  }

  /** An integer in [low, high]. */
  between(low: number, high: number): number {
    return low + Math.floor(this.fraction() * (high - low + 1))
  }

  chance(probability: number): boolean {
    return this.fraction() < probability
  }

  /** One of a list, all alike. @throws RangeError for an empty list. */
  pick<Item>(list: readonly Item[]): Item {
    return itemAt(list, this.between(0, list.length - 1))
  }

  /**
   * One of a list, the first far more often than the last. @throws RangeError for an empty list.
   */
  favour<Item>(list: readonly Item[]): Item {
    return itemAt(list, Math.floor(list.length * this.fraction() ** 2))
  }

  /** An amount between two, spread evenly over orders of magnitude; odd digits and all. */
  amount(low: number, high: number): bigint {
    return BigInt(Math.floor(low * (high / low) ** this.fraction()))
  }

  /** So many bytes as hex. */
  bytes(length: number): Hex {
    let digits = ''
    while (digits.length < length * 2) digits += this.between(0, 0xffff).toString(16).padStart(4, '0')
    return `0x${digits.slice(0, length * 2)}`
  }

  /** A copy in another order. */
  shuffle<Item>(list: readonly Item[]): Item[] {
    const cards = [...list]
    for (let last = cards.length - 1; last > 0; last--) {
      const other = this.between(0, last)
      const card = itemAt(cards, last)
      cards[last] = itemAt(cards, other)
      cards[other] = card
    }
    return cards
  }
}

function itemAt<Item>(list: readonly Item[], index: number): Item {
  const item = list[index]
  if (item === undefined) throw new RangeError(`no item ${index} among ${list.length}`)
  return item
}
