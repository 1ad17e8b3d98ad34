/**
 * Calls of a node made for readers. The operator may pay for each, and anybody can ask: so a process
 * makes only so many a second, a caller has a part of them, and no more of several processes.
 */

import { ApiError } from '#http/errors.ts'
import type { Allowance } from '#http/request/access.ts'
import type { Clock } from '#runtime/runtime.ts'
import { everybody } from '#runtime/Slots.ts'

const SECOND_MS = 1_000

export interface NodeCallLimits {
  /** Calls in a second, for all callers together. */
  readonly all: number
  readonly perCaller: number
  /** A caller's limit in a minute, over all processes. */
  readonly allowance: Allowance
  /** The thing asked for, in the plural. */
  readonly what: string
}

export class NodeCalls {
  readonly #limits: NodeCallLimits
  readonly #clock: Pick<Clock, 'monotonic'>
  /** Calls of the second that began last, by caller. */
  readonly #taken = new Map<string, number>()
  #all = 0
  #secondMs = -Infinity

  constructor(limits: NodeCallLimits, clock: Pick<Clock, 'monotonic'>) {
    this.#limits = limits
    this.#clock = clock
  }

  /**
   * @throws ApiError `overloaded` where too many were made in this second, `rate_limit_exceeded`
   * where the caller had too many in this minute
   */
  async take(party: string, calls = 1): Promise<void> {
    this.#takeHere(party, calls)
    if (party !== everybody) await this.#limits.allowance(party, calls)
  }

  #takeHere(party: string, calls: number): void {
    this.#beginSecond()
    const { all, perCaller, what } = this.#limits
    const taken = (this.#taken.get(party) ?? 0) + calls
    if (this.#all + calls > all) throw tooMany(`Too many ${what} are asked for`)
    if (party !== everybody && taken > perCaller) throw tooMany(`You ask for too many ${what}`)
    this.#all += calls
    this.#taken.set(party, taken)
  }

  #beginSecond(): void {
    const nowMs = this.#clock.monotonic()
    if (nowMs - this.#secondMs < SECOND_MS) return
    this.#secondMs = nowMs
    this.#all = 0
    this.#taken.clear()
  }
}

const tooMany = (message: string): ApiError =>
  new ApiError('overloaded', `${message}; retry shortly.`, { headers: { 'retry-after': '1' } })
