/**
 * Turns of requests for chain data. More at once would only make each slower, so the others wait,
 * for a short time: an overloaded server answers as many as it can, and tells the rest at once to
 * come back.
 */
import { type SlotLimits, Slots } from '#query/slots.ts'
import type { Clock } from '#runtime.ts'
import { type AccessRule, dataRead } from './access.ts'
import { ApiError } from './errors.ts'

/**
 * Twice the connections to Postgres, since some requests wait for a node; and what is answered
 * within the wait.
 */
const turnLimits: SlotLimits = { running: 64, waiting: 1_000, waitMs: 2_000 }

const retryAfterSeconds = '2'

export class Turns {
  readonly #slots: Slots

  constructor(clock: Clock, limits: SlotLimits = turnLimits) {
    this.#slots = new Slots(limits, clock, overloaded)
  }

  /**
   * Runs what reads chain data in its turn; all else, such as health, at once. @throws ApiError
   * `overloaded`
   */
  async take<T>(rule: AccessRule, party: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    return rule.scope === dataRead.scope ? this.#slots.run(work, signal, party) : work()
  }
}

const overloaded = (problem: string): ApiError =>
  new ApiError('overloaded', undefined, {
    headers: { 'retry-after': retryAfterSeconds },
    cause: new Error(problem),
  })
