/** How many user queries an engine runs at once; the others wait in a short queue, for a short time. */

import type { Clock } from '#runtime.ts'
import { UserQueryError } from './UserQueryError.ts'

export interface SlotLimits {
  readonly running: number
  readonly waiting: number
  readonly waitMs: number
}

/** On two cores: four Postgres or two ClickHouse queries keep both busy; more would only slow the indexer down. */
export const postgresSlots: SlotLimits = { running: 4, waiting: 16, waitMs: 5_000 }
export const clickhouseSlots: SlotLimits = { running: 2, waiting: 16, waitMs: 5_000 }

export class Slots {
  readonly #limits: SlotLimits
  readonly #clock: Clock
  readonly #waiting = new Set<() => void>()
  #running = 0

  constructor(limits: SlotLimits, clock: Clock) {
    this.#limits = limits
    this.#clock = clock
  }

  get running(): number {
    return this.#running
  }

  get waiting(): number {
    return this.#waiting.size
  }

  /**
   * Runs `work` when a slot is free; the slot is given back whatever happens.
   * @throws UserQueryError `sql_busy` when the queue is full or the wait too long, `sql_cancelled` when aborted first
   */
  async run<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    await this.#enter(signal)
    try {
      return await work()
    } finally {
      this.#leave()
    }
  }

  /** The same for work that gives its result piece by piece: the slot is held until the loop over it ends. */
  async *hold<T>(work: () => AsyncIterable<T>, signal?: AbortSignal): AsyncGenerator<T, void, undefined> {
    await this.#enter(signal)
    try {
      yield* work()
    } finally {
      this.#leave()
    }
  }

  async #enter(signal: AbortSignal | undefined): Promise<void> {
    if (signal?.aborted) throw cancelled(signal)
    if (this.#running < this.#limits.running) {
      this.#running++
      return
    }
    if (this.#waiting.size >= this.#limits.waiting) throw busy('too many queries are waiting')
    await this.#wait(signal)
  }

  /** A slot that becomes free is handed over, never returned in between, so nobody can overtake. */
  async #wait(signal: AbortSignal | undefined): Promise<void> {
    const { promise: turn, resolve } = Promise.withResolvers<'turn'>()
    const enter = () => resolve('turn')
    this.#waiting.add(enter)
    const stopWaiting = new AbortController()
    const either = signal ? AbortSignal.any([signal, stopWaiting.signal]) : stopWaiting.signal
    const late = this.#clock.sleep(this.#limits.waitMs, either).then(
      () => 'late' as const,
      () => 'aborted' as const,
    )
    const outcome = await Promise.race([turn, late])
    stopWaiting.abort()
    const hasTurn = !this.#waiting.delete(enter)
    if (outcome === 'turn') return
    if (hasTurn) this.#leave()
    if (signal?.aborted) throw cancelled(signal)
    throw busy(`no slot became free within ${this.#limits.waitMs} ms`)
  }

  #leave(): void {
    const [next] = this.#waiting
    if (!next) {
      this.#running--
      return
    }
    this.#waiting.delete(next)
    next()
  }
}

function busy(problem: string): UserQueryError {
  return new UserQueryError('sql_busy', problem, { hint: 'try again in a few seconds' })
}

function cancelled(signal: AbortSignal): UserQueryError {
  return new UserQueryError('sql_cancelled', 'the caller went away', { cause: signal.reason })
}
