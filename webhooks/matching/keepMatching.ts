/** Matches a chain whenever its lease is ours. */
import { messageOf } from '#errors.ts'
import { visitListed } from '#ingest/failpoints.ts'
import { waitForLease } from '#ingest/lease.ts'
import type { Runtime } from '#runtime.ts'
import { postgresLeases } from '#store/app/leases.ts'
import { Matcher, type MatcherOptions } from './Matcher.ts'

export interface KeepMatchingOptions extends Omit<MatcherOptions, 'fence' | 'clock' | 'failpoint'> {
  readonly runtime: Runtime
  /** This program, to others on the same database. */
  readonly holder: string
}

/** As long as a chain's writer has: a process that was killed is replaced after it. */
const LEASE_MS = 15_000
const RETRY_MS = 1_000

export class MatcherKeeper {
  readonly #options: KeepMatchingOptions
  #matcher: Matcher | null = null
  #problem: string | null = null

  constructor(options: KeepMatchingOptions) {
    this.#options = options
  }

  get problem(): string | null {
    return this.#matcher?.problem ?? this.#problem
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        await this.#matchOnce(signal)
      } catch (error) {
        if (signal.aborted) return
        this.#problem = messageOf(error)
        await this.#options.runtime.clock.sleep(RETRY_MS, signal).catch(() => {})
      } finally {
        this.#matcher = null
      }
    }
  }

  async #matchOnce(signal: AbortSignal): Promise<void> {
    const { runtime, holder, ...options } = this.#options
    const { clock, failpoint } = runtime
    const lease = await waitForLease(
      {
        store: postgresLeases(options.postgres),
        name: `webhooks:${options.chain.chainId}:${options.stream}`,
        holder,
        ttlMs: LEASE_MS,
        runtime,
        log: options.log,
        failpoint: visitListed(failpoint),
      },
      signal,
    )
    try {
      const matcher = new Matcher({ ...options, fence: lease.fence, clock, failpoint })
      await matcher.begin()
      this.#matcher = matcher
      this.#problem = null
      await matcher.run(AbortSignal.any([signal, lease.lost]))
    } finally {
      await lease.release().catch(() => {})
    }
  }
}
