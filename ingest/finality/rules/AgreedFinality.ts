import type { Clock } from '#runtime/runtime.ts'
import { HEADS_APART_MAX } from '../../source.ts'
import { type Claim, grantedFinality } from './claim.ts'
import type { FinalityRule } from './finalityRule.ts'

/** An endpoint, and what it said last. */
export interface Claimant {
  readonly name: string
  readonly claim: Claim | null
  readonly claimedAtMs: number
}

export interface AgreedFinalityOptions {
  readonly endpoints: readonly Claimant[]
  readonly clock: Clock
  /** Blocks behind the head that count as final where a node does not say. */
  readonly finalityDepth: number
  /** An endpoint without an answer for this long is gone, and the only other one is believed alone. */
  readonly goneMs: number
}

/**
 * Age up to which the last word of an endpoint counts, when it was not asked since or did not
 * answer.
 */
const CLAIM_KEPT_MS = 30_000
/**
 * Endpoints differ this long at most where finality comes in steps of many blocks; longer, one of
 * them stands still, or invents.
 */
const APART_MS_MAX = 300_000
/**
 * A height that nobody calls final any more for this long is not: it was a lie of the only
 * endpoint. One address may stand for several nodes, of which one is behind for a moment.
 */
const TAKEN_BACK_MS = 30_000

/**
 * The finality that the endpoints grant together. It never decreases, whatever one of them says later (I5),
 * unless its own word was refuted or all have taken it back for long.
 */
export class AgreedFinality implements FinalityRule {
  readonly name = 'agreed'
  readonly #options: AgreedFinalityOptions
  readonly #startedAtMs: number
  /** When each endpoint's word counted last. */
  readonly #countedAtMs = new Map<string, number>()
  #granted: Claim | null = null
  /** When an endpoint last said as much as is granted. */
  #saidAtMs = Number.NEGATIVE_INFINITY
  #begun = false
  /** Grants far apart, and since when. */
  #apart: { readonly sinceMs: number; readonly problem: string } | null = null

  constructor(options: AgreedFinalityOptions) {
    this.#options = options
    this.#startedAtMs = options.clock.monotonic()
  }

  get granted(): Claim | null {
    return this.#granted
  }

  get number(): number {
    return this.#granted?.finalized ?? -1
  }

  /** Which endpoints have granted far different blocks for long. */
  get held(): string | null {
    const { clock } = this.#options
    const { sinceMs, problem } = this.#apart ?? { sinceMs: Number.POSITIVE_INFINITY, problem: null }
    return clock.monotonic() - sinceMs >= APART_MS_MAX ? problem : null
  }

  doubt(endpoint: string): void {
    if (this.#granted?.endpoint === endpoint) this.#granted = null
  }

  conclude(silent: ReadonlySet<string>, askedSinceMs: number): void {
    const { endpoints, clock } = this.#options
    const nowMs = clock.monotonic()
    const sinceMs = Math.min(nowMs - CLAIM_KEPT_MS, askedSinceMs)
    const claims = endpoints.flatMap(({ name, claim, claimedAtMs }) =>
      claim && claimedAtMs >= sinceMs && !silent.has(name) ? [claim] : [],
    )
    for (const { endpoint } of claims) this.#countedAtMs.set(endpoint, nowMs)
    const problem = farApart(claims)
    this.#apart = problem === null ? null : { sinceMs: this.#apart?.sinceMs ?? nowMs, problem }
    if (claims.some(({ finalized }) => finalized >= this.number)) this.#saidAtMs = nowMs
    const [only] = claims
    const granted = only && claims.length === 1 ? this.#ofOne(only, silent) : grantedFinality(claims)
    if (granted) this.#take(granted, nowMs)
  }

  /**
   * The word of one endpoint while others are silent. It counts where they are gone or were
   * refuted. Where they are merely away nothing becomes final by it, but a program that starts has
   * to begin somewhere: as far below the head as a chain is said to change.
   */
  #ofOne(claim: Claim, silent: ReadonlySet<string>): Claim | null {
    const { endpoints, clock, finalityDepth, goneMs } = this.#options
    const goneSinceMs = clock.monotonic() - goneMs
    const isAway = ({ name }: Claimant) =>
      name !== claim.endpoint &&
      !silent.has(name) &&
      (this.#countedAtMs.get(name) ?? this.#startedAtMs) >= goneSinceMs
    if (!endpoints.some(isAway)) return claim
    if (this.#begun) return null
    const deep = Math.max(0, claim.head.number - finalityDepth)
    return { ...claim, finalized: Math.min(claim.finalized, deep) }
  }

  #take(granted: Claim, nowMs: number): void {
    this.#begun = true
    if (granted.finalized < this.number && nowMs - this.#saidAtMs <= TAKEN_BACK_MS) return
    const isNews = granted.finalized !== this.number
    const isExact = (of: Claim | null) => of !== null && of.finalizedBy.number === of.finalized
    // A head can be replaced at its height; a final block that is told for once stays the better
    // proof.
    if (!isNews && !isExact(granted) && isExact(this.#granted)) return
    this.#granted = granted
    if (isNews) this.#saidAtMs = nowMs
  }
}

/** Blocks counted from a head and those of a tag are far apart on many chains, and nobody is wrong. */
function farApart(claims: readonly Claim[]): string | null {
  const tagged = claims.filter(({ isTagged }) => isTagged)
  const sorted = tagged.toSorted((a, b) => a.finalized - b.finalized)
  const [lowest, highest] = [sorted[0], sorted.at(-1)]
  if (!lowest || !highest || highest.finalized - lowest.finalized <= HEADS_APART_MAX) return null
  return `${lowest.endpoint} grants block ${lowest.finalized} to be final, ${highest.endpoint} block ${highest.finalized}`
}
