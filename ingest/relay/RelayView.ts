/**
 * The newest block that clients were told of, over all endpoints: it goes back only where the chain
 * did, or where it was one endpoint's lie. Every call that means the newest block goes to endpoints
 * that have reached it.
 */
import type { BlockRef } from '#primitives.ts'
import { BoundedMap } from '#runtime/BoundedMap.ts'
import type { Clock } from '#runtime/runtime.ts'
import { HEADS_APART_MAX } from '../source.ts'
import type { Believed } from './RelayTrust.ts'

/** Heads remembered, by which a reorganization to a lower height is known. */
const HEADS_KEPT = 256
/**
 * A head that every endpoint has been below for this long is none: longer than an endpoint is away
 * at a restart.
 */
const LOWER_MS = 60_000

/** The joint worth of endpoints' words on a tag. */
export interface TagSeen {
  /** Granted to it; -1 for none. */
  readonly height: number
  /** On the word of one of several endpoints alone. */
  readonly isAlone: boolean
  /** The highest that any endpoint says. */
  readonly said: number
  /** Not the word of endpoints: what they granted before, and told higher, counts no more. */
  readonly isKnown?: boolean
}

interface ToldTag extends Omit<TagSeen, 'said' | 'isKnown'> {
  /** When an endpoint last said as much. */
  readonly saidMs: number
}

export class RelayView {
  readonly #clock: Clock
  readonly #hashes = new BoundedMap<number, string>({ max: HEADS_KEPT })
  readonly #tags = new Map<string, ToldTag>()
  #shown = -1
  /** Name of the endpoint on whose word alone it is shown. */
  #aloneBy: string | null = null
  /** When heads were first found below the shown one, since it was reached last. */
  #belowSinceMs: number | null = null
  /** A head below the shown one has replaced a block that was told at its height. */
  #isReplaced = false

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** The newest block told of; -1 before the first. */
  get shown(): number {
    return this.#shown
  }

  /** Its hash, as it was named last; null where only its height is known. */
  get shownHash(): string | null {
    return this.#hashes.get(this.#shown) ?? null
  }

  /** An endpoint named this block as its head. */
  heard({ number, hash }: BlockRef): void {
    const before = this.#hashes.get(number)
    if (before !== undefined && before !== hash && number < this.#shown) this.#isReplaced = true
    this.#hashes.set(number, hash)
  }

  /**
   * The heads that endpoints named are worth this much now.
   * @param doubts whether the word of the endpoint of this name is not believed
   */
  settle({ height, aloneBy }: Believed, doubts: (name: string) => boolean): void {
    const isReplaced = this.#isReplaced
    this.#isReplaced = false
    if (height > this.#shown) this.#set(height, aloneBy)
    else if (height === this.#shown) this.#set(height, aloneBy && this.#aloneBy)
    else if (isReplaced || this.#isLate() || this.#isLie(height, doubts)) this.#lower(height, aloneBy)
  }

  /** The height last told of a tag; -1 for none. */
  tagged(tag: string): number {
    return this.#tags.get(tag)?.height ?? -1
  }

  /** The height of a tag; not lower than told before, unless that is a word nobody keeps to. */
  settleTag(tag: string, { height, isAlone, said, isKnown = false }: TagSeen): number | null {
    const nowMs = this.#clock.monotonic()
    const before = this.#tags.get(tag)
    const saidMs = before && said < before.height ? before.saidMs : nowMs
    const isLower = before && before.height > height && !isKnown
    const isKept = isLower && nowMs - saidMs <= LOWER_MS && (isAlone || !before.isAlone)
    const told = isKept ? { ...before, saidMs } : { height, isAlone, saidMs: nowMs }
    if (told.height < 0) return null
    this.#tags.set(tag, told)
    return told.height
  }

  /** Counted from the first look: while nobody asks, nothing is known of the endpoints. */
  #isLate(): boolean {
    const nowMs = this.#clock.monotonic()
    this.#belowSinceMs ??= nowMs
    return nowMs - this.#belowSinceMs > LOWER_MS
  }

  /** Whether what is shown was one endpoint's word, and is far above what is believed without it. */
  #isLie(height: number, doubts: (name: string) => boolean): boolean {
    const by = this.#aloneBy
    return by !== null && (doubts(by) || height + HEADS_APART_MAX < this.#shown)
  }

  #lower(height: number, aloneBy: string | null): void {
    for (const [known] of this.#hashes) if (known > height) this.#hashes.delete(known)
    this.#set(height, aloneBy)
  }

  #set(height: number, aloneBy: string | null): void {
    this.#shown = height
    this.#aloneBy = aloneBy
    this.#belowSinceMs = null
  }
}
