/**
 * Turns of exports: one at a time, and for each caller so many minutes, so that nobody holds the
 * slot all day.
 */
import type { Clock } from '#runtime.ts'
import { everybody, exportSlots, Slots } from '../slots.ts'
import { UserQueryError } from '../UserQueryError.ts'

/** Three exports of full length. */
const ALLOWED_MS = 15 * 60_000
/** What was used comes back evenly: all of it within an hour. */
const RETURN_MS = 60 * 60_000
/** Milliseconds that pass until one has come back. */
const RETURN_SHARE = RETURN_MS / ALLOWED_MS

interface Used {
  readonly ms: number
  /** Monotonic: when it was that much. */
  readonly atMs: number
}

export class Exports {
  readonly #slots: Slots
  readonly #clock: Clock
  /**
   * Time of the slot that has not come back; `everybody` is not counted. A caller in it used the slot
   * within the last four times as long, so that a few callers fill it, or many with tiny exports,
   * which leave it soon.
   */
  readonly #used = new Map<string, Used>()

  constructor(clock: Clock) {
    this.#slots = new Slots(exportSlots, clock)
    this.#clock = clock
  }

  /**
   * Like `Slots.hold`. An export that began within the allowance goes on past it, and what it took
   * too much has to come back as well.
   * @throws UserQueryError `sql_allowance` when the caller has none left
   */
  async *hold<T>(
    work: (signal: AbortSignal) => AsyncIterable<T>,
    signal?: AbortSignal,
    party = everybody,
  ): AsyncGenerator<T, void, undefined> {
    this.#assertLeft(party)
    yield* this.#slots.hold((ending) => this.#counted(work, ending, party), signal, party)
  }

  async *#counted<T>(
    work: (signal: AbortSignal) => AsyncIterable<T>,
    signal: AbortSignal,
    party: string,
  ): AsyncGenerator<T, void, undefined> {
    // It may have run out while this one waited for its turn.
    this.#assertLeft(party)
    const startedMs = this.#clock.monotonic()
    try {
      yield* work(signal)
    } finally {
      const atMs = this.#clock.monotonic()
      if (party !== everybody) this.#used.set(party, { ms: this.#usedBy(party) + atMs - startedMs, atMs })
    }
  }

  #assertLeft(party: string): void {
    for (const known of this.#used.keys()) if (this.#usedBy(known) <= 0) this.#used.delete(known)
    const overMs = this.#usedBy(party) - ALLOWED_MS
    if (overMs >= 0) throw spent((overMs + 1) * RETURN_SHARE)
  }

  #usedBy(party: string): number {
    const { ms, atMs } = this.#used.get(party) ?? { ms: 0, atMs: 0 }
    return Math.max(0, ms - (this.#clock.monotonic() - atMs) / RETURN_SHARE)
  }
}

function spent(retryMs: number): UserQueryError {
  const problem = `your exports have run for ${ALLOWED_MS / 60_000} minutes here, which come back within an hour`
  return new UserQueryError('sql_allowance', problem, {
    hint: `try again in ${Math.ceil(retryMs / 1_000)} seconds, or ask for 10,000 rows at a time`,
    retryMs,
  })
}
