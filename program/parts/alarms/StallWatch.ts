/**
 * Notices a head that stands still: endpoints are ahead of it, or far more time has passed than the
 * chain takes for a block. What the chain takes is learned from its own blocks as they come in.
 */

/** With endpoints ahead, the head may stand this long; a reorg or a slow batch is over by then. */
const BEHIND_MS = 60_000
/**
 * The time without blocks ahead anywhere: a chain may pause, and every endpoint may be cut off in the same
 * way.
 */
const SILENT_MS = 300_000
/** And this many of its blocks must be missing: some chains take a minute for one. */
const BEHIND_BLOCKS = 10
const SILENT_BLOCKS = 20
/** Share of the newest interval in the mean. */
const WEIGHT = 0.1

export interface HeadSeen {
  /** Newest block held; -1 before the first. */
  readonly tip: number
  /** Newest block that any endpoint has named; -1 where none has. */
  readonly ahead: number
}

export class StallWatch {
  #tip = Number.NaN
  #sinceMs = 0
  /** Mean time from block to block while watched; 0 before two were seen. */
  #blockMs = 0

  /** Why the head is taken to stand still at the moment, or null. */
  look({ tip, ahead }: HeadSeen, nowMs: number): string | null {
    if (tip !== this.#tip) this.#moved(tip, nowMs)
    const stoodMs = nowMs - this.#sinceMs
    const seconds = Math.floor(stoodMs / 1000)
    const since =
      tip < 0 ? `no block has come for ${seconds} s` : `block ${tip} has been the newest for ${seconds} s`
    if (ahead > tip && stoodMs >= Math.max(BEHIND_MS, BEHIND_BLOCKS * this.#blockMs))
      return `${since}, while an endpoint has told of block ${ahead}`
    if (stoodMs >= Math.max(SILENT_MS, SILENT_BLOCKS * this.#blockMs))
      return `${since}, and no endpoint tells of another`
    return null
  }

  #moved(tip: number, nowMs: number): void {
    const blocks = tip - this.#tip
    if (blocks > 0) {
      const each = (nowMs - this.#sinceMs) / blocks
      this.#blockMs = this.#blockMs === 0 ? each : this.#blockMs * (1 - WEIGHT) + each * WEIGHT
    }
    this.#tip = tip
    this.#sinceMs = nowMs
  }
}
