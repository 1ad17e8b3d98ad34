/**
 * Requests of callers without a credential begin behind all others, one after the other, and only
 * while the event loop has time to spare: however many ask, and whatever it costs, what others ask
 * for finds the program at most half busy with them. While nobody else asks they have most of it.
 */
import { performance } from 'node:perf_hooks'
import type { Clock } from '#runtime/runtime.ts'
import { everybody } from '#runtime/Slots.ts'
import { ApiError } from '../errors.ts'

/** Time of the event loop in milliseconds since it began; the parts only grow. */
export interface LoopTimes {
  readonly active: number
  readonly idle: number
}

interface Pace {
  /** Idle time, for each millisecond of work since one was let in, after which the next one is. */
  readonly idleShare: number
  /** However busy the loop is, one is let in after this long, so that all are answered some time. */
  readonly longestPauseMs: number
}

const besideOthers: Pace = { idleShare: 1, longestPauseMs: 100 }
/** Ingest and health go on beside them. */
const amongThemselves: Pace = { idleShare: 1 / 4, longestPauseMs: 20 }
/** Others are about for this long after each asked. */
const ABOUT_MS = 1_000
/** Those that wait are looked at this often. */
const TICK_MS = 1
/** As long as other requests wait for their turn (Turns.ts). */
const WAIT_MS_MAX = 2_000
const WAITING_MAX = 1_000
/** One network address may hold a tenth of the places. */
const WAITING_PER_PARTY_MAX = 100
/** Turns are counted for as long: who had fewer goes first. */
const COUNTED_MS = 10_000

interface Waiting {
  readonly party: string
  readonly sinceMs: number
  readonly enter: () => void
  readonly refuse: (error: ApiError) => void
}

export class Guests {
  readonly #clock: Clock
  readonly #loop: () => LoopTimes
  readonly #waiting = new Set<Waiting>()
  /** Turns of each party since `#countedMs`. */
  readonly #had = new Map<string, number>()
  #countedMs = 0
  /** When the last one was let in. */
  #before: LoopTimes = { active: 0, idle: 0 }
  #enteredMs = -Infinity
  #othersMs = -Infinity

  constructor(clock: Clock, loop: () => LoopTimes = () => performance.eventLoopUtilization()) {
    this.#clock = clock
    this.#loop = loop
  }

  /** Somebody who is known asks for something. */
  sawOther(): void {
    this.#othersMs = this.#clock.monotonic()
  }

  /**
   * Undefined where it may begin now; else resolves when it may. `everybody` never waits.
   * @throws ApiError `overloaded` when too many wait, or the wait is too long
   */
  enter(party: string): Promise<void> | undefined {
    if (party === everybody) return undefined
    if (this.#waiting.size === 0 && this.#hasTime()) {
      this.#letIn(party)
      return undefined
    }
    if (this.#waiting.size >= WAITING_MAX || this.#waitingOf(party) >= WAITING_PER_PARTY_MAX)
      throw overloaded()
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    this.#waiting.add({ party, sinceMs: this.#clock.monotonic(), enter: resolve, refuse: reject })
    if (this.#waiting.size === 1) void this.#watch()
    return promise
  }

  async #watch(): Promise<void> {
    while (this.#waiting.size > 0) {
      await this.#clock.sleep(TICK_MS)
      this.#refuseLate()
      const next = this.#hasTime() ? this.#next() : undefined
      if (!next) continue
      this.#waiting.delete(next)
      this.#letIn(next.party)
      next.enter()
    }
  }

  #hasTime(): boolean {
    const nowMs = this.#clock.monotonic()
    const { idleShare, longestPauseMs } = nowMs - this.#othersMs < ABOUT_MS ? besideOthers : amongThemselves
    if (nowMs - this.#enteredMs >= longestPauseMs) return true
    const { active, idle } = this.#loop()
    const idleMs = idle - this.#before.idle
    return idleMs > 0 && idleMs >= (active - this.#before.active) * idleShare
  }

  #letIn(party: string): void {
    const nowMs = this.#clock.monotonic()
    this.#before = this.#loop()
    this.#enteredMs = nowMs
    if (nowMs - this.#countedMs >= COUNTED_MS) {
      this.#countedMs = nowMs
      this.#had.clear()
    }
    this.#had.set(party, this.#hadBy(party) + 1)
  }

  /** They wait in the order they came. */
  #refuseLate(): void {
    const nowMs = this.#clock.monotonic()
    for (const waiting of this.#waiting) {
      if (nowMs - waiting.sinceMs < WAIT_MS_MAX) return
      this.#waiting.delete(waiting)
      waiting.refuse(overloaded())
    }
  }

  /** The one that waits longest of those whose party has had the fewest turns. */
  #next(): Waiting | undefined {
    let next: Waiting | undefined
    for (const waiting of this.#waiting)
      if (!next || this.#hadBy(waiting.party) < this.#hadBy(next.party)) next = waiting
    return next
  }

  #hadBy(party: string): number {
    return this.#had.get(party) ?? 0
  }

  #waitingOf(party: string): number {
    let count = 0
    for (const waiting of this.#waiting) if (waiting.party === party) count++
    return count
  }
}

const overloaded = (): ApiError => new ApiError('overloaded', undefined, { headers: { 'retry-after': '2' } })
