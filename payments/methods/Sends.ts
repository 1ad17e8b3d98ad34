/**
 * The news that sends bring of a way to be paid. A node can answer every look and take nothing: if the last
 * sends all failed for a reason of ours, the way is not offered for a while, then tried again.
 */
import type { Clock } from '#runtime/runtime.ts'
import { CommitBell } from '#store/ledger/commits.ts'

/** A node that is started anew fails one or two. */
const FAILED_MAX = 3
/** The first pause; each after it is twice as long. */
const PAUSE_MS = 5_000
/** Well again, it is offered within a minute. */
const PAUSE_MS_MAX = 30_000

export class Sends {
  /** Rings where a look is due. */
  readonly doubted = new CommitBell()
  readonly #clock: Pick<Clock, 'monotonic'>
  #failed = 0
  #pauseMs = PAUSE_MS
  #untilMs = Number.NEGATIVE_INFINITY

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock
  }

  /** Whether nothing more is sent for now. */
  get areFailing(): boolean {
    return this.#clock.monotonic() < this.#untilMs
  }

  /** One has settled. */
  readonly went = (): void => {
    this.#failed = 0
    this.#pauseMs = PAUSE_MS
  }

  /** One was not sent, by whoever's fault. */
  readonly doubt = (): void => this.doubted.ring()

  /** One failed, and no payer could be the cause: the node did not answer, or does not know the method. */
  readonly failed = (): void => {
    this.doubt()
    if (++this.#failed < FAILED_MAX) return
    this.#untilMs = this.#clock.monotonic() + this.#pauseMs
    this.#pauseMs = Math.min(2 * this.#pauseMs, PAUSE_MS_MAX)
  }
}
