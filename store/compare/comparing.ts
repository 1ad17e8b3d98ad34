/**
 * The common part of parity between the stores and the audit against the node: comparing all the time, and
 * believing no single look.
 */

import { messageOf } from '#errors.ts'
import { type BlockRange, covers, intersection, type RangeSet } from '#ingest/range.ts'
import { repeat } from '#runtime/repeat.ts'
import type { Clock } from '#runtime/runtime.ts'
import type { StoreName } from '../ledger/lane.ts'

/** A comparison of nothing is quick, and so is one that fails. */
const REST_MS_MIN = 2_000
/**
 * A comparison is a statement for each table and store, however few its blocks are: what is new
 * gathers this long, so that a quiet chain costs a fifth of what it would at every look.
 */
const GATHER_MS = 10_000
/** A repair takes blocks away and writes them again; what still differs after this is no repair. */
const CONFIRM_MS = 1_000

/** The blocks that each store holds whole, now. */
export type CoverageOf = (store: StoreName) => RangeSet

export const heldByBoth = (coverage: CoverageOf): RangeSet =>
  intersection(coverage('postgres'), coverage('clickhouse'))

/** The extent of a look: no block, some of the new ones, or all of them. */
export type Looked = 'nothing' | 'some' | 'all'

export interface Comparing {
  /** Compares one piece. */
  readonly step: (signal: AbortSignal) => Promise<Looked>
  /** Told after each step: why it failed, or null. */
  readonly failed: (problem: string | null) => void
  /** Rest after a step, as a multiple of the time it took. */
  readonly restFactor: number
  readonly clock: Clock
}

/** Compares until aborted. What does not answer is tried again later. */
export async function keepComparing(
  { step, failed, restFactor, clock }: Comparing,
  signal: AbortSignal,
): Promise<void> {
  await repeat({ clock, signal }, async () => {
    const startedAt = clock.monotonic()
    let looked: Looked = 'nothing'
    try {
      looked = await step(signal)
      failed(null)
    } catch (error) {
      failed(`not compared: ${messageOf(error)}`)
    }
    const restMs = looked === 'all' ? GATHER_MS : REST_MS_MIN
    return Math.max(restMs, (clock.monotonic() - startedAt) * restFactor)
  })
}

/**
 * A finding that `compare` makes twice in the range; null when the stores gave the blocks up meanwhile.
 * @throws what it throws
 */
export async function findTwice<Found>(
  { coverage, clock }: { readonly coverage: CoverageOf; readonly clock: Clock },
  range: BlockRange,
  signal: AbortSignal,
  compare: () => Promise<readonly Found[]>,
): Promise<readonly Found[] | null> {
  const found = await compare()
  if (found.length === 0) return found
  await clock.sleep(CONFIRM_MS, signal).catch(() => {})
  if (signal.aborted || !covers(heldByBoth(coverage), range)) return null
  return compare()
}
