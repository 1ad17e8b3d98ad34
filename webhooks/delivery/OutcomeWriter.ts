/** Writes outcomes together: as many as came while the ones before were written. */
import { MillraceError, messageOf } from '#errors.ts'
import type { AppDatabase } from '#rows/database.ts'
import { type DeliveryOutcome, type Disabled, storeOutcomes } from '#rows/webhooks/outcomes.ts'
import { backoffMs } from '#runtime/backoff.ts'
import type { Runtime } from '#runtime/runtime.ts'
import type { Logger } from '#telemetry.ts'

export interface OutcomeWriterOptions {
  readonly app: AppDatabase
  readonly runtime: Runtime
  readonly log: Logger
  readonly disabled: (subscriptions: readonly Disabled[]) => Promise<void>
  /** Told after each commit. */
  readonly written: () => void
}

const retries = { baseMs: 100, maxMs: 5_000 }
/** Tries of one write; what is lost with the last is sent once more when its claim is over. */
const TRIES_MAX = 10

export class OutcomeWriter {
  readonly #options: OutcomeWriterOptions
  #waiting: DeliveryOutcome[] = []
  #writing: Promise<void> | null = null

  constructor(options: OutcomeWriterOptions) {
    this.#options = options
  }

  add(outcome: DeliveryOutcome): void {
    this.#waiting.push(outcome)
    this.#writing ??= this.#writeAll()
  }

  /** Resolves when everything added is written. */
  async settled(): Promise<void> {
    while (this.#writing) await this.#writing
  }

  async #writeAll(): Promise<void> {
    // Outcomes of the same turn are written with it.
    await Promise.resolve()
    while (this.#waiting.length > 0) {
      const outcomes = this.#waiting
      this.#waiting = []
      await this.#write(outcomes)
      this.#options.written()
    }
    this.#writing = null
  }

  async #write(outcomes: readonly DeliveryOutcome[]): Promise<void> {
    const { app, runtime, log, disabled } = this.#options
    const { clock, random, failpoint } = runtime
    for (let tries = 1; ; tries++) {
      try {
        const found = await app.transaction().execute(async (transaction) => {
          const result = await storeOutcomes(transaction, outcomes)
          failpoint('webhooks.outcome.commit')
          return result
        })
        failpoint('webhooks.outcome.done')
        if (found.length > 0) await disabled(found)
        return
      } catch (error) {
        const mayPass = error instanceof MillraceError && error.remedy === 'retry'
        log.warn({ tries, problem: messageOf(error) }, 'outcomes of deliveries could not be written')
        if (!mayPass || tries >= TRIES_MAX) return
        await clock.sleep(backoffMs(tries, retries, random))
      }
    }
  }
}
