/** Requests that wait for a payment which another request works on: its row is looked at once for all. */
import type { AppDatabase } from '#rows/database.ts'
import { isSingle } from '#rows/payments/holds.ts'
import { findPayment } from '#rows/payments/payments.ts'
import type { Clock } from '#runtime/runtime.ts'

const STEP_MS = 100
const STEP_MS_MAX = 1_000
/** A request waits so long, below what it may last. */
const WAIT_MS = 25_000

export class HeldPayments {
  readonly #app: AppDatabase
  readonly #clock: Clock
  readonly #watched = new Map<string, Promise<boolean>>()

  constructor(app: AppDatabase, clock: Clock) {
    this.#app = app
    this.#clock = clock
  }

  /** True once nobody works on the payment; false where that takes too long. */
  released(identity: string): Promise<boolean> {
    const known = this.#watched.get(identity)
    if (known) return known
    const watching = this.#watch(identity).finally(() => this.#watched.delete(identity))
    this.#watched.set(identity, watching)
    return watching
  }

  async #watch(identity: string): Promise<boolean> {
    const untilMs = this.#clock.monotonic() + WAIT_MS
    for (
      let stepMs = STEP_MS;
      this.#clock.monotonic() < untilMs;
      stepMs = Math.min(2 * stepMs, STEP_MS_MAX)
    ) {
      await this.#clock.sleep(stepMs)
      const payment = await findPayment(this.#app, { identity })
      const isOver = payment?.isAnswered && isSingle(payment)
      if (!payment?.isHeld || isOver) return true
    }
    return false
  }
}
