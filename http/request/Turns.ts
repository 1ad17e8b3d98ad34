/**
 * Turns of requests for chain data. More at once would only make each slower, so the others wait,
 * for a short time: an overloaded server answers as many as it can, and tells the rest at once to
 * come back.
 */

import type { Clock } from '#runtime/runtime.ts'
import { type SlotLimits, Slots, slotErrors } from '#runtime/Slots.ts'
import { ApiError } from '../errors.ts'
import { type AccessRule, dataRead } from './access.ts'

/**
 * Twice the connections to Postgres, since some requests wait for a node; and what is answered
 * within the wait.
 */
const turnLimits: SlotLimits = { running: 64, waiting: 1_000, waitMs: 2_000 }

const retryAfterSeconds = '2'

/** Share of one request in the mean time they take: some hundred of them make it. */
const MEAN_SHARE = 1 / 64

export class Turns {
  readonly #slots: Slots
  readonly #clock: Clock
  /** Time that a request takes once it has its turn. */
  #meanMs = 0

  constructor(clock: Clock, limits: SlotLimits = turnLimits) {
    this.#clock = clock
    const waiting = () => this.#waitingMax(limits)
    const foreseen: SlotLimits = {
      ...limits,
      get waiting() {
        return waiting()
      },
    }
    this.#slots = new Slots(foreseen, clock, { ...slotErrors, busy: overloaded })
  }

  /**
   * As many as will have their turn in time. One more would wait in vain, and each that does takes
   * from those that are answered: at five times the load that was a third of them.
   */
  #waitingMax({ running, waiting, waitMs }: SlotLimits): number {
    return Math.max(1, Math.min(waiting, Math.ceil((running * waitMs) / this.#meanMs)))
  }

  /**
   * Runs what reads chain data in its turn; all else, such as health, at once. @throws ApiError
   * `overloaded`
   */
  async take<T>(rule: AccessRule, party: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    return rule.scope === dataRead.scope ? this.#slots.run(() => this.#timed(work), signal, party) : work()
  }

  /** Takes no turn. @throws ApiError `overloaded` where `take` would refuse without a wait */
  assertRoom(rule: AccessRule, party: string): void {
    if (rule.scope === dataRead.scope) this.#slots.assertRoom(party)
  }

  async #timed<T>(work: () => Promise<T>): Promise<T> {
    const begunMs = this.#clock.monotonic()
    try {
      return await work()
    } finally {
      this.#meanMs += (this.#clock.monotonic() - begunMs - this.#meanMs) * MEAN_SHARE
    }
  }
}

const overloaded = (problem: string): ApiError =>
  new ApiError('overloaded', undefined, {
    headers: { 'retry-after': retryAfterSeconds },
    cause: new Error(problem),
  })
