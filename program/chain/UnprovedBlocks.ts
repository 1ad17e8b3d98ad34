/**
 * Blocks that were taken on the word of one endpoint because nothing proves them whole, for as long
 * as an owner should hear of them.
 */
import type { BlockRange } from '#ingest/range.ts'
import type { Clock } from '#runtime/runtime.ts'

/** Told of for this long after the last time, whatever came after. */
const TOLD_MS = 3_600_000
/** Told of for at least this long: a chain that is caught up with passes any number of blocks. */
const TOLD_MS_MIN = 600_000
/**
 * Blocks above them that were proved, or told alike by two endpoints: what stood in the way has
 * passed. Where every hundredth block has it the alarm stays, and does not come and go.
 */
const SURE_BLOCKS = 1_000

export class UnprovedBlocks {
  readonly #clock: Clock
  #last: { readonly range: BlockRange; readonly atMs: number } | null = null
  /** Highest block that was sure since; -1 without. */
  #sureTo = -1

  constructor(clock: Clock) {
    this.#clock = clock
  }

  takenAlone(range: BlockRange): void {
    this.#last = { range, atMs: this.#clock.monotonic() }
    this.#sureTo = -1
  }

  takenSurely({ to }: BlockRange): void {
    this.#sureTo = Math.max(this.#sureTo, to)
  }

  /** The newest ones, while they are told of. */
  get told(): BlockRange | null {
    if (!this.#last) return null
    const { range, atMs } = this.#last
    const isPast = this.#sureTo >= range.to + SURE_BLOCKS
    const endsMs = atMs + (isPast ? TOLD_MS_MIN : TOLD_MS)
    return this.#clock.monotonic() < endsMs ? range : null
  }
}
