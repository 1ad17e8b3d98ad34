/**
 * Blocks whose receipts an endpoint does not tell as a list. Nodes fail so for single blocks for
 * ever, and serve each receipt of theirs; another endpoint, or another version, may not.
 */
import type { Clock } from '#runtime/runtime.ts'
import type { BlockRange } from '../../range.ts'

/** After this the list is asked for again: the node behind the address may be another one. */
export const RECEIPTS_AGAIN_MS = 600_000
/** Blocks remembered; beyond them the oldest are forgotten, which costs a request each. */
const BLOCKS_MAX = 10_000
/** So many blocks in a row are no chance, and as many behind them are taken to lack theirs too. */
const ROW_MIN = 3
const PRESUMED_MAX = 250

export class LackingReceipts {
  readonly #clock: Clock
  /** Until when, by block; oldest first. */
  readonly #untilMs = new Map<number, number>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /**
   * Behind a row of blocks that lack theirs as many are taken to lack them: each would be asked for
   * twice.
   */
  note(block: number): void {
    let below = 0
    while (below < PRESUMED_MAX && this.has(block - below - 1)) below++
    const untilMs = this.#clock.monotonic() + RECEIPTS_AGAIN_MS
    const presumed = below < ROW_MIN ? 0 : below
    for (let number = block; number <= block + presumed; number++) {
      this.#untilMs.delete(number)
      this.#untilMs.set(number, untilMs)
    }
    for (const oldest of this.#untilMs.keys()) {
      if (this.#untilMs.size <= BLOCKS_MAX) break
      this.#untilMs.delete(oldest)
    }
  }

  has(block: number): boolean {
    const untilMs = this.#untilMs.get(block)
    return untilMs !== undefined && untilMs > this.#clock.monotonic()
  }

  /** One by one they were not to be had either. */
  forget({ from, to }: BlockRange): void {
    for (let number = from; number <= to; number++) this.#untilMs.delete(number)
  }

  /** The beginning of a range of which all receipts are asked for alike. */
  cut({ from, to }: BlockRange): { readonly range: BlockRange; readonly singly: boolean } {
    const singly = this.has(from)
    let end = from
    while (end < to && this.has(end + 1) === singly) end++
    return { range: { from, to: end }, singly }
  }
}
