/**
 * Whether the sellers that a search found are there now: bounded, unpaid looks while the caller
 * waits. Nothing is written down, and nobody is asked twice in a while, so that searches cannot
 * flood a seller.
 */

import type { Allowance } from '#http/request/access.ts'
import { readHealth } from '#rows/catalog/catalogHealth.ts'
import type { AppDatabase } from '#rows/database.ts'
import { BoundedMap } from '#runtime/BoundedMap.ts'
import type { Clock } from '#runtime/runtime.ts'
import type { FoundEndpoint } from '../search/search.ts'
import type { LookTarget } from './drift.ts'
import { type LookOptions, look, type Sight } from './look.ts'
import { readTargets } from './targets.ts'

/** A caller waits for all sellers together; those that are slower are listed as they were. */
const DEADLINE_MS = 2_500
/** A sight is believed for so long. */
const HELD_MS = 60_000
const HELD_MAX = 5_000

export interface LivenessOptions {
  /** Only reads. */
  readonly app: AppDatabase
  readonly egress: LookOptions['egress']
  readonly clock: Clock
  /** Bounds the calls of sellers made for a caller. */
  readonly allowance: Allowance
  /** Origins where this very program answers. */
  readonly isOwn: (origin: string) => boolean
}

type Seen = Sight | 'busy' | null

export class Liveness {
  readonly #options: LivenessOptions
  readonly #held: BoundedMap<string, Promise<Seen>>

  constructor(options: LivenessOptions) {
    this.#options = options
    this.#held = new BoundedMap({ max: HELD_MAX, now: () => options.clock.monotonic() })
  }

  /** Without those that failed, in their order. @throws ApiError rate_limit_exceeded */
  async keepLiving(
    found: readonly FoundEndpoint[],
    caller: string,
    signal: AbortSignal,
  ): Promise<readonly FoundEndpoint[]> {
    const targets = await this.#targetsOf(found)
    const fresh = targets.filter((target) => target && !this.#held.has(targetKey(target)))
    if (fresh.length > 0) await this.#options.allowance(caller, fresh.length)
    const looked = await Promise.all(targets.map((target) => (target ? this.#look(target) : null)))
    signal.throwIfAborted()
    return found.flatMap((each, index) => {
      const seen = looked[index]
      if (!seen || seen === 'busy') return [each]
      if (seen.outcome === 'failed') return []
      const lastVerifiedAt = new Date(this.#options.clock.now())
      return [seen.outcome === 'verified' ? { ...each, lastVerifiedAt } : each]
    })
  }

  /** Null for what is not asked: this program, and calls that may have an effect. */
  async #targetsOf(found: readonly FoundEndpoint[]): Promise<readonly (LookTarget | null)[]> {
    const ids = [...new Set(found.map(({ serviceId }) => serviceId))]
    if (ids.length === 0) return []
    const { app, isOwn } = this.#options
    const [targets, health] = await Promise.all([readTargets(app, found), readHealth(app, ids)])
    const over = new Set(health.filter(({ isOver }) => isOver).map(keyOf))
    return found.map((each, index) => {
      const target = targets[index]
      if (!target || over.has(keyOf(each)) || isOwn(new URL(target.service.serviceUrl).origin)) return null
      return target
    })
  }

  /** Shared by all that ask meanwhile, so it does not end with one of them. */
  #look(target: LookTarget): Promise<Seen> {
    const key = targetKey(target)
    const known = this.#held.get(key)
    if (known) return known
    const { egress, clock } = this.#options
    const time = AbortSignal.timeout(DEADLINE_MS)
    // At the deadline nothing is known, which is no failure.
    const seen = look(target, { egress, clock, purpose: 'liveProbe' }, time).catch((error: unknown) => {
      if (time.aborted) return null
      throw error
    })
    this.#held.set(key, seen, clock.monotonic() + HELD_MS)
    return seen
  }
}

const targetKey = ({ service, endpoint }: LookTarget): string => keyOf({ serviceId: service.id, ...endpoint })

const keyOf = ({
  serviceId,
  method,
  path,
}: {
  readonly serviceId: string
  readonly method: string
  readonly path: string
}): string => `${serviceId} ${method} ${path}`
