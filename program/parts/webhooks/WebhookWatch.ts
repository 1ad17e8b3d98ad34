/**
 * How webhooks stand, for /status and /metrics: counted when it is asked for, by one count at a time
 * with rests in between. Nobody waits long for one: what a supervisor looks at answers also while the
 * database does not.
 */
import { messageOf } from '#errors.ts'
import type { Pending, Reached } from '#rows/webhooks/pending.ts'
import type { Clock } from '#runtime/runtime.ts'
import type { Stream } from '#store/read/pieces.ts'

export interface WebhookReport {
  readonly chains: readonly {
    readonly chainId: number
    readonly stream: Stream
    readonly block: number
    readonly lagBlocks: number
    readonly problem: string | null
  }[]
  /** Null before it was ever counted. */
  readonly pending: Pending | null
  /** Counted in this process, since its start. */
  readonly attempts: { readonly succeeded: number; readonly failed: number }
  readonly problem: string | null
}

export interface WebhookCounts {
  readonly pending: Pending
  readonly reached: readonly Reached[]
}

export interface WebhookWatchOptions {
  readonly count: () => Promise<WebhookCounts>
  readonly clock: Pick<Clock, 'monotonic' | 'sleep'>
  /** Newest block held of a chain. */
  readonly tipOf: (chainId: number) => number
  readonly problemOf: (chainId: number, stream: Stream) => string | null
  readonly attempts: () => WebhookReport['attempts']
}

/** Time between two counts. */
const REST_MS = 1_000
/** A count may take a fiftieth of the time. */
const RESTS_PER_COUNT = 50
/** How long an answer waits for the count; some ten thousand events are counted by then. */
const COUNT_MS = 250

export class WebhookWatch {
  readonly #options: WebhookWatchOptions
  #seen: Pick<WebhookReport, 'chains' | 'pending'> = { chains: [], pending: null }
  #problem: string | null = null
  #nextMs = Number.NEGATIVE_INFINITY
  #counting: Promise<void> | null = null

  constructor(options: WebhookWatchOptions) {
    this.#options = options
  }

  /** The newest report, or the last one if the database does not answer, and why. */
  async report(): Promise<WebhookReport> {
    if (!this.#counting && this.#options.clock.monotonic() >= this.#nextMs) this.#counting = this.#count()
    if (this.#counting) await this.#within(this.#counting)
    return { ...this.#seen, attempts: this.#options.attempts(), problem: this.#problem }
  }

  async #within(counting: Promise<void>): Promise<void> {
    const stop = new AbortController()
    const late = this.#options.clock.sleep(COUNT_MS, stop.signal).catch(() => {})
    await Promise.race([counting, late])
    stop.abort()
  }

  async #count(): Promise<void> {
    const { count, clock, tipOf, problemOf } = this.#options
    const startedMs = clock.monotonic()
    try {
      const { pending, reached } = await count()
      const chains = reached.map(({ chainId, stream, block }) => ({
        ...{ chainId, stream, block, lagBlocks: Math.max(0, tipOf(chainId) - block) },
        problem: problemOf(chainId, stream),
      }))
      this.#seen = { chains, pending }
      this.#problem = null
    } catch (error) {
      this.#problem = messageOf(error)
    } finally {
      const nowMs = clock.monotonic()
      this.#nextMs = nowMs + Math.max(REST_MS, RESTS_PER_COUNT * (nowMs - startedMs))
      this.#counting = null
    }
  }
}
