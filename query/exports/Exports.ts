/**
 * Turns of exports: one of a caller at a time, which goes on as long as it gives rows, and for each
 * caller so many minutes, so that nobody holds a slot all day.
 */
import type { Clock } from '#runtime/runtime.ts'
import { everybody, Slots } from '#runtime/slots.ts'
import { EXPORT_SILENT_MS_MAX } from '../limits.ts'
import type { ResultEvent } from '../result.ts'
import { exportSlots, sqlSlotErrors } from '../slotLimits.ts'
import { UserQueryError } from '../UserQueryError.ts'

/** Three exports of full length. */
const ALLOWED_MS = 15 * 60_000
/** What was used comes back evenly: all of it within an hour. */
const RETURN_MS = 60 * 60_000
/** Milliseconds that pass until one has come back. */
const RETURN_SHARE = RETURN_MS / ALLOWED_MS

type Work = (signal: AbortSignal) => AsyncIterable<ResultEvent>

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
    this.#slots = new Slots(exportSlots, clock, sqlSlotErrors, (party) => this.#usedBy(party))
    this.#clock = clock
  }

  /**
   * Like `Slots.hold`. An export that began within the allowance goes on past it, and what it took
   * too much has to come back as well.
   * @throws UserQueryError `sql_allowance` when the caller has none left, `sql_timeout` when no row
   * came for too long
   */
  async *hold(
    work: Work,
    signal?: AbortSignal,
    party = everybody,
  ): AsyncGenerator<ResultEvent, void, undefined> {
    this.#assertLeft(party)
    yield* this.#slots.hold((ending) => this.#counted(work, ending, party), signal, party)
  }

  async *#counted(
    work: Work,
    signal: AbortSignal,
    party: string,
  ): AsyncGenerator<ResultEvent, void, undefined> {
    // It may have run out while this one waited for its turn.
    this.#assertLeft(party)
    const startedMs = this.#clock.monotonic()
    try {
      yield* this.#giving(work, signal)
    } finally {
      const atMs = this.#clock.monotonic()
      if (party !== everybody) this.#used.set(party, { ms: this.#usedBy(party) + atMs - startedMs, atMs })
    }
  }

  /** Ends work that gives no row for too long; the head, which comes before all of it, is none. */
  async *#giving(work: Work, signal: AbortSignal): AsyncGenerator<ResultEvent, void, undefined> {
    const silent = new AbortController()
    let given = this.#awaitRows(silent)
    try {
      for await (const event of work(AbortSignal.any([signal, silent.signal]))) {
        if (event.kind === 'head') {
          yield event
          continue
        }
        // The reader's time is no silence of the engine.
        given.abort()
        yield event
        given = this.#awaitRows(silent)
      }
    } catch (error) {
      throw silent.signal.aborted && !signal.aborted ? gaveNothing(error) : error
    } finally {
      given.abort()
    }
  }

  /** Aborts `silent` after the time, unless what it returns is aborted first. */
  #awaitRows(silent: AbortController): AbortController {
    const given = new AbortController()
    this.#clock.sleep(EXPORT_SILENT_MS_MAX, given.signal).then(
      () => silent.abort(),
      () => {},
    )
    return given
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

function gaveNothing(cause: unknown): UserQueryError {
  const problem = `the export gave no row for ${EXPORT_SILENT_MS_MAX / 1_000} seconds`
  return new UserQueryError('sql_timeout', problem, {
    hint: 'name fewer blocks, or leave out what needs all rows before the first one (ORDER BY, GROUP BY)',
    cause,
  })
}
