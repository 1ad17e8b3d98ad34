/**
 * Turns of exports: one of a caller at a time, which goes on as long as it gives rows, and for each
 * caller so many minutes over all processes, so that nobody holds a slot all day.
 */
import type { Clock } from '#runtime/runtime.ts'
import { everybody, Slots } from '#runtime/Slots.ts'
import { EXPORT_SILENT_MS_MAX } from '../limits.ts'
import type { ResultEvent } from '../result.ts'
import { exportSlots, sqlSlotErrors } from '../slotLimits.ts'
import { UserQueryError } from '../UserQueryError.ts'

/** Three exports of full length. */
const ALLOWED_MS = 15 * 60_000
/** Used time comes back evenly: all of it within an hour. */
const RETURN_MS = 60 * 60_000
/** Milliseconds that pass until one has come back. */
const RETURN_SHARE = RETURN_MS / ALLOWED_MS

type Work = (signal: AbortSignal) => AsyncIterable<ResultEvent>

/** Parties' debts for exports of one engine, in all processes (rows/access/exportDebts.ts). */
export interface ExportDebts {
  /** Milliseconds until all that the party used has come back. */
  leftMs(party: string): Promise<number>
  /** Adds milliseconds to them, and tells the sum. */
  add(party: string, ms: number): Promise<number>
}

export class Exports {
  readonly #slots: Slots
  readonly #clock: Clock
  readonly #debts: ExportDebts
  /**
   * When all that a party used has come back, on the monotonic clock, as it was told last; `everybody`
   * is not counted. A party in it used the slot within the last four times as long, so that a few
   * callers fill it, or many with tiny exports, which leave it soon.
   */
  readonly #returned = new Map<string, number>()

  constructor(clock: Clock, debts: ExportDebts) {
    this.#slots = new Slots(exportSlots, clock, sqlSlotErrors, (party) => this.#owedBy(party))
    this.#clock = clock
    this.#debts = debts
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
    await this.#assertLeft(party)
    yield* this.#slots.hold((ending) => this.#counted(work, ending, party), signal, party)
  }

  /** @throws UserQueryError where `hold` would refuse without a wait */
  async assertRoom(party = everybody): Promise<void> {
    this.#slots.assertRoom(party)
    await this.#assertLeft(party)
  }

  async *#counted(
    work: Work,
    signal: AbortSignal,
    party: string,
  ): AsyncGenerator<ResultEvent, void, undefined> {
    // It may have run out while this one waited for its turn.
    await this.#assertLeft(party)
    const startedMs = this.#clock.monotonic()
    try {
      yield* this.#giving(work, signal)
    } finally {
      await this.#count(party, this.#clock.monotonic() - startedMs)
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

  async #assertLeft(party: string): Promise<void> {
    if (party === everybody) return
    for (const known of this.#returned.keys()) if (this.#owedBy(known) === 0) this.#returned.delete(known)
    const leftMs = await this.#debts.leftMs(party)
    this.#remember(party, leftMs)
    if (leftMs >= RETURN_MS) throw spent(leftMs - RETURN_MS + RETURN_SHARE)
  }

  async #count(party: string, ms: number): Promise<void> {
    if (party === everybody) return
    const owedMs = ms * RETURN_SHARE
    // The rows are given. Where they cannot be written, what they cost is known here alone.
    this.#remember(party, await this.#debts.add(party, owedMs).catch(() => this.#owedBy(party) + owedMs))
  }

  #remember(party: string, leftMs: number): void {
    this.#returned.set(party, this.#clock.monotonic() + leftMs)
  }

  /** Milliseconds until all that the party used has come back, as far as this process was told. */
  #owedBy(party: string): number {
    return Math.max(0, (this.#returned.get(party) ?? 0) - this.#clock.monotonic())
  }
}

function spent(retryMs: number): UserQueryError {
  const problem = `your exports have run for ${ALLOWED_MS / 60_000} minutes on this engine, which come back within an hour`
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
