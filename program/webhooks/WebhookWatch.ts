/** How webhooks stand, for /status and /metrics: counted when it is asked for, at most once a second. */
import { messageOf } from '#errors.ts'
import type { Clock } from '#runtime.ts'
import type { AppDatabase } from '#store/app/database.ts'
import { countPending, type Pending, readReached } from '#store/webhooks/pending.ts'
import type { Stream } from '#store/webhooks/positions.ts'

export interface WebhookReport {
  readonly chains: readonly {
    readonly chainId: number
    readonly stream: Stream
    readonly block: number
    readonly lagBlocks: number
    readonly problem: string | null
  }[]
  readonly pending: Pending
  /** Of this process, since its start. */
  readonly attempts: { readonly succeeded: number; readonly failed: number }
  readonly problem: string | null
}

export interface WebhookWatchOptions {
  readonly app: AppDatabase
  readonly clock: Pick<Clock, 'monotonic'>
  /** Newest block held of a chain. */
  readonly tipOf: (chainId: number) => number
  readonly problemOf: (chainId: number, stream: Stream) => string | null
  readonly attempts: () => WebhookReport['attempts']
}

const AGE_MS_MAX = 1_000

const nothing: Pick<WebhookReport, 'chains' | 'pending'> = {
  chains: [],
  pending: { unfinal: 0, waiting: 0, sending: 0, retrying: 0 },
}

export class WebhookWatch {
  readonly #options: WebhookWatchOptions
  #seen: Pick<WebhookReport, 'chains' | 'pending'> = nothing
  #problem: string | null = null
  #readAtMs = Number.NEGATIVE_INFINITY
  #reading: Promise<void> | null = null

  constructor(options: WebhookWatchOptions) {
    this.#options = options
  }

  /** What was seen last where the database does not answer, and why. */
  async report(): Promise<WebhookReport> {
    if (this.#options.clock.monotonic() - this.#readAtMs > AGE_MS_MAX) {
      this.#reading ??= this.#read()
      await this.#reading
    }
    return { ...this.#seen, attempts: this.#options.attempts(), problem: this.#problem }
  }

  async #read(): Promise<void> {
    const { app, clock, tipOf, problemOf } = this.#options
    try {
      const [pending, reached] = await Promise.all([countPending(app), readReached(app)])
      const chains = reached.map(({ chainId, stream, block }) => ({
        ...{ chainId, stream, block, lagBlocks: Math.max(0, tipOf(chainId) - block) },
        problem: problemOf(chainId, stream),
      }))
      this.#seen = { chains, pending }
      this.#problem = null
    } catch (error) {
      this.#problem = messageOf(error)
    } finally {
      this.#readAtMs = clock.monotonic()
      this.#reading = null
    }
  }
}
