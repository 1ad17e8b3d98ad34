/**
 * The newest block that clients were told of, over all endpoints: it goes back only where the chain
 * did. Every call that means the newest block goes to endpoints that have reached it.
 */
import type { BlockRef } from '#primitives.ts'
import type { Clock } from '#runtime.ts'

/** Heads remembered, by which a reorganization to a lower height is known. */
const HEADS_KEPT = 256
/**
 * A head that every endpoint has been below for this long is none: longer than an endpoint is away
 * at a restart.
 */
const LOWER_MS = 60_000

export class RelayView {
  readonly #clock: Clock
  readonly #hashes = new Map<number, string>()
  readonly #tags = new Map<string, number>()
  #shown = -1
  /** When a head at or above the shown one was told last. */
  #reachedMs: number

  constructor(clock: Clock) {
    this.#clock = clock
    this.#reachedMs = clock.monotonic()
  }

  /** The newest block told of; -1 before the first. */
  get shown(): number {
    return this.#shown
  }

  /** A block that an answer names exists. */
  saw(number: number): void {
    if (number < this.#shown) return
    this.#shown = number
    this.#reachedMs = this.#clock.monotonic()
  }

  /** The height of a tag; never lower than told before, null while none was told. */
  sawTag(tag: string, height: number): number | null {
    const highest = Math.max(height, this.#tags.get(tag) ?? -1)
    if (highest < 0) return null
    this.#tags.set(tag, highest)
    this.saw(highest)
    return highest
  }

  /** An endpoint named this block as its head; `isReached` where one still has the shown block. */
  sawHead({ number, hash }: BlockRef, isReached: boolean): void {
    const before = this.#hashes.get(number)
    const wasReplaced = before !== undefined && before !== hash
    this.#hashes.delete(number)
    this.#hashes.set(number, hash)
    for (const [oldest] of this.#hashes) {
      if (this.#hashes.size <= HEADS_KEPT) break
      this.#hashes.delete(oldest)
    }
    this.saw(number)
    if (number >= this.#shown || isReached) return
    const isLate = this.#clock.monotonic() - this.#reachedMs > LOWER_MS
    if (wasReplaced || isLate) this.#lower(number)
  }

  #lower(number: number): void {
    for (const known of this.#hashes.keys()) if (known > number) this.#hashes.delete(known)
    this.#shown = number
    this.#reachedMs = this.#clock.monotonic()
  }
}
