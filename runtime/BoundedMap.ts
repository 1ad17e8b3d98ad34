/**
 * A map that holds only so much, and drops what was written longest ago. No package has it: entries
 * end by a clock that is given, and a look makes them younger only where it should.
 */

export interface MapBounds<Key, Value> {
  /** Weight of all entries together. */
  readonly max: number
  /** The weight of an entry; one, unless given. An entry heavier than all there is is not held. */
  readonly weigh?: (value: Value, key: Key) => number
  /** The clock that entries end by, where some do. */
  readonly now?: () => number
}

interface Entry<Value> {
  readonly value: Value
  readonly weight: number
  readonly until: number
}

export class BoundedMap<Key, Value> {
  readonly #max: number
  readonly #weigh: (value: Value, key: Key) => number
  readonly #now: () => number
  /** The oldest first. */
  readonly #entries = new Map<Key, Entry<Value>>()
  #weight = 0

  constructor({ max, weigh = () => 1, now = () => 0 }: MapBounds<Key, Value>) {
    this.#max = max
    this.#weigh = weigh
    this.#now = now
  }

  get size(): number {
    return this.#entries.size
  }

  /** Sum of all that is held. */
  get weight(): number {
    return this.#weight
  }

  /** Undefined where nothing is held, or its end has come. */
  get(key: Key): Value | undefined {
    return this.#living(key)?.value
  }

  has(key: Key): boolean {
    return this.#living(key) !== undefined
  }

  /** As `get`, and the entry is the newest from now on. */
  use(key: Key): Value | undefined {
    const entry = this.#living(key)
    if (!entry) return undefined
    this.#entries.delete(key)
    this.#entries.set(key, entry)
    return entry.value
  }

  /** Holds it as the newest, until the clock shows `until`. */
  set(key: Key, value: Value, until = Number.POSITIVE_INFINITY): void {
    this.delete(key)
    const weight = this.#weigh(value, key)
    this.#entries.set(key, { value, weight, until })
    this.#weight += weight
    for (const oldest of this.#entries.keys()) {
      if (this.#weight <= this.#max) break
      this.delete(oldest)
    }
  }

  delete(key: Key): void {
    const entry = this.#entries.get(key)
    if (!entry) return
    this.#entries.delete(key)
    this.#weight -= entry.weight
  }

  clear(): void {
    this.#entries.clear()
    this.#weight = 0
  }

  /** The held entries, the oldest first; entries may be deleted meanwhile. */
  *[Symbol.iterator](): Generator<readonly [Key, Value]> {
    for (const [key, { value, until }] of this.#entries) if (this.#now() < until) yield [key, value]
  }

  #living(key: Key): Entry<Value> | undefined {
    const entry = this.#entries.get(key)
    if (!entry || this.#now() < entry.until) return entry
    this.delete(key)
    return undefined
  }
}
