/**
 * Sums of what was proved, for /status. Counting reads an index of the whole chain, so it happens
 * beside requests: one count at a time for each chain, and rests in between. A sum that is not
 * known is null.
 */
import type { Clock } from '#runtime/runtime.ts'
import type { ProofCounts } from './proofs.ts'

/** Time between two counts, also after one that failed. */
const REST_MS = 10_000
/** A count may take a fiftieth of the time. */
const RESTS_PER_COUNT = 50
/**
 * How long the first answer waits for the first count; a chain of some thousand blocks is counted
 * by then.
 */
const FIRST_MS = 250

interface Counted {
  proofs: ProofCounts | null
  counting: Promise<void> | null
  nextMs: number
}

export interface ProofCounterOptions {
  readonly count: (schema: string) => Promise<ProofCounts>
  readonly clock: Clock
}

export class ProofCounter {
  readonly #options: ProofCounterOptions
  readonly #counted = new Map<string, Counted>()

  constructor(options: ProofCounterOptions) {
    this.#options = options
  }

  /** The newest known sums of a chain's schema. */
  async of(schema: string): Promise<ProofCounts | null> {
    const { clock } = this.#options
    const counted = this.#counted.get(schema) ?? { proofs: null, counting: null, nextMs: -Infinity }
    this.#counted.set(schema, counted)
    if (!counted.counting && clock.monotonic() >= counted.nextMs)
      counted.counting = this.#count(schema, counted)
    if (counted.proofs === null && counted.counting) await this.#first(counted.counting)
    return counted.proofs
  }

  async #first(counting: Promise<void>): Promise<void> {
    const stop = new AbortController()
    const late = this.#options.clock.sleep(FIRST_MS, stop.signal).catch(() => {})
    await Promise.race([counting, late])
    stop.abort()
  }

  async #count(schema: string, counted: Counted): Promise<void> {
    const { clock, count } = this.#options
    const startedMs = clock.monotonic()
    try {
      counted.proofs = await count(schema)
    } catch {
      // The last sums stand; what is wrong with the store is told elsewhere in the report.
    }
    const nowMs = clock.monotonic()
    counted.nextMs = nowMs + Math.max(REST_MS, RESTS_PER_COUNT * (nowMs - startedMs))
    counted.counting = null
  }
}
