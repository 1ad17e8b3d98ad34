/** Compares the ledger, its rows and the chains again and again. */
import { compareEntries } from '#rows/books/compareEntries.ts'
import { compareRows } from '#rows/books/compareRows.ts'
import type { AppDatabase } from '#rows/database.ts'
import { repeat } from '#runtime/repeat.ts'
import type { Clock } from '#runtime/runtime.ts'
import type { Logger } from '#telemetry.ts'
import { type BookedChains, checkBooks, countDifferences, unnamedText } from './checkBooks.ts'

export interface BooksWatchOptions {
  readonly app: AppDatabase
  readonly chains: () => Promise<BookedChains>
  readonly clock: Clock
  readonly log: Logger
}

export interface BooksLook {
  /** Null before the first. */
  readonly lookedAt: Date | null
  /** When the chains were asked too; null before the first time. */
  readonly chainsAskedAt: Date | null
  /** Entries, rows and transfers that differ. */
  readonly differing: number
  /** A sentence for each chain that did not tell, or tells nobody. */
  readonly unchecked: readonly string[]
}

const FIRST_MS = 60_000
/** Ledger and rows are read each time. */
const LOOK_MS = 3_600_000
/** Looks until the chains are asked again: a day. */
const CHAIN_LOOKS = 24
const COUNTED_MAX = 1_000

export class BooksWatch {
  readonly #options: BooksWatchOptions
  #looks = 0
  #ofRows = 0
  /** Problems that the last look at the chains found. */
  #ofChains = 0
  #unchecked: readonly string[] = []
  #lookedAt: Date | null = null
  #chainsAskedAt: Date | null = null
  #unnamed: readonly number[] = []

  constructor(options: BooksWatchOptions) {
    this.#options = options
  }

  /** Entries, rows and transfers that differed at the last look; up to 1,000 of each kind are counted. */
  get differing(): number {
    return Math.max(this.#ofRows, this.#ofChains)
  }

  /** The findings of this process's last look. */
  get last(): BooksLook {
    return {
      ...{ lookedAt: this.#lookedAt, chainsAskedAt: this.#chainsAskedAt, differing: this.differing },
      unchecked: [...this.#unchecked, ...this.#unnamed.map(unnamedText)],
    }
  }

  /** Chains that did not tell at the last look. */
  get unchecked(): number {
    return this.#unchecked.length
  }

  /** Payments on chains without a named node: no alarm, which none could end. */
  get notes(): readonly string[] {
    return this.#unnamed.map((chainId) => `books are not checked on ${unnamedText(chainId)}`)
  }

  /** Until aborted. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#options
    const failed = { log, ms: LOOK_MS, message: 'the books could not be compared' }
    await repeat({ clock, signal, firstMs: FIRST_MS, failed }, async () => {
      await this.look()
      return LOOK_MS
    })
  }

  async look(): Promise<void> {
    const { app, chains, clock, log } = this.#options
    // A chain that did not tell, or that differs, is asked again at once.
    if (this.#looks % CHAIN_LOOKS === 0 || this.#ofChains > 0 || this.#unchecked.length > 0) {
      const report = await checkBooks(app, await chains())
      this.#ofChains = countDifferences(report)
      this.#unchecked = report.unchecked
      this.#chainsAskedAt = new Date(clock.now())
      if (report.unchecked.length > 0)
        log.warn({ unchecked: report.unchecked }, 'books were not checked whole')
      this.#tell(report.unnamed)
    }
    const entries = await compareEntries(app, COUNTED_MAX)
    const rows = await compareRows(app, COUNTED_MAX)
    this.#ofRows = entries.length + rows.length
    this.#lookedAt = new Date(clock.now())
    this.#looks++
  }

  /** Once, each. */
  #tell(unnamed: readonly number[]): void {
    const { log } = this.#options
    const news = unnamed.filter((chainId) => !this.#unnamed.includes(chainId))
    for (const chainId of news)
      log.warn({ chain: chainId }, `books are not checked on ${unnamedText(chainId)}`)
    this.#unnamed = unnamed
  }
}
