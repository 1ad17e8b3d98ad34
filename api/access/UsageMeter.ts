/**
 * Counts requests of keys in memory and adds the counts to the database every few seconds: a crash
 * loses seconds of them. Quotas do not go by these counts.
 */

import type { AccessRule, Answered, Caller } from '#http/request/access.ts'
import type { UsageCount } from '#rows/access/usage.ts'
import { repeat } from '#runtime/repeat.ts'
import type { Clock } from '#runtime/runtime.ts'

/** The database's side (rows/access/usage.ts). */
export interface UsageStore {
  add(counts: readonly UsageCount[]): Promise<void>
}

const FLUSH_MS = 2_000
/** Counts of one statement. */
const COUNTS_MAX = 1_000
/** Counts held; with the database away for long, what is new beyond them is not counted. */
const HELD_MAX = 20_000

interface Held {
  readonly apiKeyId: string
  readonly route: string
  readonly status: number
  requests: number
  durationMs: number
}

export class UsageMeter {
  readonly #store: UsageStore
  readonly #clock: Clock
  #held = new Map<string, Held>()

  constructor(store: UsageStore, clock: Clock) {
    this.#store = store
    this.#clock = clock
  }

  /** Counts every request that quotas count; an answer 304 too. */
  count(caller: Caller, rule: AccessRule, { route, status, durationMs }: Answered): void {
    if (caller.kind !== 'key' || rule.scope === null || rule.ignoresCredentials) return
    this.#add({ apiKeyId: caller.id, route, status, requests: 1, durationMs })
  }

  /** Adds what was counted to the database until aborted, and once more then. */
  async run(signal: AbortSignal): Promise<void> {
    await repeat({ clock: this.#clock, signal, firstMs: FLUSH_MS }, async () => {
      await this.flush()
      return FLUSH_MS
    })
    await this.flush()
  }

  /** Counts that cannot be added now are kept for the next time. */
  async flush(): Promise<void> {
    const counted = [...this.#held.values()]
    this.#held = new Map()
    for (let start = 0; start < counted.length; start += COUNTS_MAX) {
      const piece = counted.slice(start, start + COUNTS_MAX)
      await this.#store.add(piece).catch(() => {
        for (const count of piece) this.#add(count)
      })
    }
  }

  #add(count: UsageCount): void {
    const { apiKeyId, route, status } = count
    const name = `${apiKeyId} ${status} ${route}`
    const held = this.#held.get(name)
    if (held) {
      held.requests += count.requests
      held.durationMs += count.durationMs
    } else if (this.#held.size < HELD_MAX) this.#held.set(name, { ...count })
  }
}
