/**
 * Verdicts on credentials, for a moment: found or not, so that a key costs one look into the database a
 * second and a made-up one costs no more. A revocation is felt when the moment is over.
 */
import { SharedReads } from '#http/SharedReads.ts'
import { BoundedMap } from '#runtime/BoundedMap.ts'
import type { Clock } from '#runtime/runtime.ts'

/**
 * From before the database was asked; a revocation has to be felt within a second, the next look
 * included.
 */
const FRESH_MS = 900
/** Verdicts remembered; the oldest go first. */
const VERDICTS_MAX = 20_000
/**
 * With the database away, a credential that was good this recently still is: as long as a quota's
 * window.
 */
const STALE_MS = 60_000

interface Verdict<Found> {
  readonly found: Found | null
  readonly askedMs: number
}

export class Verdicts<Found> {
  readonly #clock: Clock
  readonly #known = new BoundedMap<string, Verdict<Found>>({ max: VERDICTS_MAX })
  readonly #asking = new SharedReads<Found | null>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** The verdict on the credential with this digest, at once; undefined if the database has to be asked. */
  known(digest: string): Found | null | undefined {
    const verdict = this.#known.get(digest)
    return verdict && this.#ageMs(verdict) < FRESH_MS ? verdict.found : undefined
  }

  /** Whether it was good lately: it needs no suspicion. */
  wasGood(digest: string): boolean {
    const verdict = this.#known.get(digest)
    return verdict !== undefined && verdict.found !== null && this.#ageMs(verdict) < STALE_MS
  }

  /**
   * Asks the database by `find` where it is not known, once for all who want to know. @throws what
   * it throws, for a credential not known of late
   */
  async ask(digest: string, find: () => Promise<Found | null>): Promise<Found | null> {
    const known = this.known(digest)
    return known === undefined ? this.#asking.join(digest, null, () => this.#ask(digest, find)) : known
  }

  /** A verdict changed here is felt here at once. */
  forget(digest: string): void {
    this.#known.delete(digest)
  }

  async #ask(digest: string, find: () => Promise<Found | null>): Promise<Found | null> {
    const askedMs = this.#clock.monotonic()
    try {
      const found = await find()
      this.#known.set(digest, { found, askedMs })
      return found
    } catch (error) {
      const last = this.#known.get(digest)
      if (last?.found && this.#ageMs(last) < STALE_MS) return last.found
      throw error
    }
  }

  #ageMs({ askedMs }: Verdict<Found>): number {
    return this.#clock.monotonic() - askedMs
  }
}
