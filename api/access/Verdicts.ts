/**
 * What is known of credentials, for a moment: found or not, so that a key costs one look into the
 * database a second and a made-up one costs no more. A revocation is felt when the moment is over.
 */
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
  readonly #find: (name: string) => Promise<Found | null>
  readonly #clock: Clock
  readonly #known = new BoundedMap<string, Verdict<Found>>({ max: VERDICTS_MAX })
  readonly #asking = new Map<string, Promise<Found | null>>()

  /** `find` looks into the database by the credential's digest. */
  constructor(find: (name: string) => Promise<Found | null>, clock: Clock) {
    this.#find = find
    this.#clock = clock
  }

  /** At once where it is known; undefined where the database has to be asked. */
  known(name: string): Found | null | undefined {
    const verdict = this.#known.get(name)
    return verdict && this.#ageMs(verdict) < FRESH_MS ? verdict.found : undefined
  }

  /** Whether it was good lately: it needs no suspicion. */
  wasGood(name: string): boolean {
    const verdict = this.#known.get(name)
    return verdict !== undefined && verdict.found !== null && this.#ageMs(verdict) < STALE_MS
  }

  /**
   * Asks the database where it is not known, once for all who want to know. @throws what it throws,
   * for a credential not known of late
   */
  async ask(name: string): Promise<Found | null> {
    const known = this.known(name)
    if (known !== undefined) return known
    const asking = this.#asking.get(name)
    if (asking) return asking
    const asked = this.#ask(name).finally(() => this.#asking.delete(name))
    this.#asking.set(name, asked)
    return asked
  }

  /** What was decided here is felt here at once. */
  forget(name: string): void {
    this.#known.delete(name)
  }

  async #ask(name: string): Promise<Found | null> {
    const askedMs = this.#clock.monotonic()
    try {
      const found = await this.#find(name)
      this.#known.set(name, { found, askedMs })
      return found
    } catch (error) {
      const last = this.#known.get(name)
      if (last?.found && this.#ageMs(last) < STALE_MS) return last.found
      throw error
    }
  }

  #ageMs({ askedMs }: Verdict<Found>): number {
    return this.#clock.monotonic() - askedMs
  }
}
