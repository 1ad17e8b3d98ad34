/** Answers that were paid for and that nobody collected: their money is owed to its payers. */
import type { AppDatabase } from '#rows/database.ts'
import { oweUncollected } from '#rows/payments/liabilities.ts'
import { repeat } from '#runtime/repeat.ts'
import type { Clock } from '#runtime/runtime.ts'
import type { Logger } from '#telemetry.ts'

export interface UncollectedOptions {
  readonly app: AppDatabase
  /** Those whose answer is all that is sold. */
  readonly scopes: readonly string[]
  readonly clock: Clock
  readonly log: Logger
}

const LOOK_MS = 60_000
const OWED_MAX = 100

export class Uncollected {
  readonly #options: UncollectedOptions

  constructor(options: UncollectedOptions) {
    this.#options = options
  }

  /** Until aborted. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#options
    const failed = { log, ms: LOOK_MS, message: 'uncollected payments were not looked at' }
    await repeat({ clock, signal, failed }, async () => ((await this.owe()) === OWED_MAX ? 0 : LOOK_MS))
  }

  /** Owes what is due; how many payments were. */
  async owe(): Promise<number> {
    const { app, scopes, log } = this.#options
    const owed = await oweUncollected(app, scopes, OWED_MAX)
    if (owed > 0)
      log.warn({ owed }, 'payments were not collected within a day: they are owed to their payers')
    return owed
  }
}
