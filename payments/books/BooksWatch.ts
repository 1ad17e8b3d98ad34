/** Compares the ledger with its rows again and again. */
import { compareEntries } from '#rows/books/compareEntries.ts'
import type { AppDatabase } from '#rows/database.ts'
import { repeat, warning } from '#runtime/repeat.ts'
import type { Clock } from '#runtime/runtime.ts'
import type { Logger } from '#telemetry.ts'

export interface BooksWatchOptions {
  readonly app: AppDatabase
  readonly clock: Clock
  readonly log: Logger
}

const FIRST_MS = 60_000
/** All rows are read each time. */
const LOOK_MS = 3_600_000
const COUNTED_MAX = 1_000

export class BooksWatch {
  readonly #options: BooksWatchOptions
  #differing = 0

  constructor(options: BooksWatchOptions) {
    this.#options = options
  }

  /** Entries that were not what their rows say at the last look; up to 1,000 are counted. */
  get differing(): number {
    return this.#differing
  }

  /** Until aborted. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#options
    const failed = warning(log, LOOK_MS, 'the books could not be compared')
    await repeat({ clock, signal, firstMs: FIRST_MS, failed }, async () => {
      await this.look()
      return LOOK_MS
    })
  }

  async look(): Promise<void> {
    const found = await compareEntries(this.#options.app, COUNTED_MAX)
    this.#differing = found.length
  }
}
