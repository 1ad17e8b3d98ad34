/** The findings of followers for the operator, looked up now and then beside their steps. */
import type { Clock } from '#runtime/runtime.ts'
import type { Postgres } from '../postgres.ts'
import type { BlockFollower, FollowerFindings } from './follower.ts'

/** Time between two looks at one follower's rows. */
const REST_MS = 10_000

export interface FindingsWatchOptions {
  readonly postgres: Postgres
  readonly schema: string
  readonly clock: Clock
}

export class FindingsWatch {
  readonly #options: FindingsWatchOptions
  readonly #found = new Map<string, FollowerFindings>()
  readonly #nextMs = new Map<string, number>()

  constructor(options: FindingsWatchOptions) {
    this.#options = options
  }

  /** Null before the first look, and where there is nothing to find. */
  of(name: string): FollowerFindings | null {
    return this.#found.get(name) ?? null
  }

  /** Looks when it is time. What a look that failed would have found is found by the next one. */
  async look({ name, inspect }: Pick<BlockFollower, 'name' | 'inspect'>): Promise<void> {
    const { postgres, schema, clock } = this.#options
    if (!inspect || clock.monotonic() < (this.#nextMs.get(name) ?? Number.NEGATIVE_INFINITY)) return
    this.#nextMs.set(name, clock.monotonic() + REST_MS)
    const found = await inspect(postgres.pool, schema).catch(() => null)
    if (found) this.#found.set(name, found)
  }
}
