/** The payments that this process works on: kept while it does, and free for another soon after it died. */
import type { AppDatabase } from '#rows/database.ts'
import { renewHolds } from '#rows/payments/holds.ts'
import type { HeldPayment } from '#rows/payments/payments.ts'
import { repeat } from '#runtime/repeat.ts'
import type { Clock } from '#runtime/runtime.ts'
import type { Logger } from '#telemetry.ts'

/** Another process goes on with a payment at most so long after this one died. */
export const HOLD_MS = 20_000
/** Three renewals may fail. */
const RENEW_MS = 5_000
/** Longer than any answer takes, a paid stream's ten minutes included: nobody works for longer. */
const WORK_MS_MAX = 15 * 60_000

export interface HoldsOptions {
  readonly app: AppDatabase
  readonly clock: Clock
  readonly log: Logger
}

export class Holds {
  readonly #options: HoldsOptions
  /** Since when, in monotonic milliseconds. */
  readonly #kept = new Map<HeldPayment, number>()

  constructor(options: HoldsOptions) {
    this.#options = options
  }

  keep(held: HeldPayment): void {
    this.#kept.set(held, this.#options.clock.monotonic())
  }

  /** Ends all work on it here. Comes before its row is let go, which a renewal must not undo. */
  drop(held: HeldPayment): void {
    this.#kept.delete(held)
  }

  /** While the work lasts. */
  async during<Result>(held: HeldPayment, work: () => Promise<Result>): Promise<Result> {
    this.keep(held)
    try {
      return await work()
    } finally {
      this.drop(held)
    }
  }

  /** Whether it is this process's still, and so for the time of a hold. */
  async isOurs(held: HeldPayment): Promise<boolean> {
    const [kept] = await renewHolds(this.#options.app, [held], HOLD_MS)
    return kept !== undefined
  }

  /** Renews all of them, until aborted. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#options
    const failed = { log, ms: RENEW_MS, message: 'payments under way could not be held' }
    await repeat({ clock, signal, failed, firstMs: RENEW_MS }, async () => {
      await this.#renew()
      return RENEW_MS
    })
  }

  async #renew(): Promise<void> {
    const { app, clock } = this.#options
    const longAgoMs = clock.monotonic() - WORK_MS_MAX
    for (const [held, sinceMs] of this.#kept) if (sinceMs < longAgoMs) this.#kept.delete(held)
    const asked = [...this.#kept.keys()]
    const renewed = new Set((await renewHolds(app, asked, HOLD_MS)).map(keyOf))
    // A hold that has run out may be another's: its row refuses what this process does next.
    for (const held of asked) if (!renewed.has(keyOf(held))) this.#kept.delete(held)
  }
}

const keyOf = ({ id, attempt }: HeldPayment): string => `${id} ${attempt}`
