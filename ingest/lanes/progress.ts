/**
 * How fast history fills and when it will be done: pure, so that a restart tells the same truth as
 * before it.
 */

import type { BlockRange } from '../range.ts'
import type { Chunk } from '../sink.ts'

export interface ChunkProgress {
  readonly range: BlockRange
  /** Newest block loaded, or `range.from - 1`. */
  readonly tip: number
}

export interface HistoryProgress {
  readonly target: BlockRange
  /** Chunks not attached yet, ascending. */
  readonly chunks: readonly ChunkProgress[]
  readonly blocksTotal: number
  readonly blocksDone: number
  /** Over the last minute of work; null until it has been watched long enough. */
  readonly blocksPerSecond: number | null
  readonly etaSeconds: number | null
}

/** Blocks done at a moment of the monotonic clock. */
export interface RateSample {
  readonly atMs: number
  readonly blocksDone: number
}

/** Long enough to even out chunks that attach, short enough to follow a node that slows down. */
const WINDOW_MS = 60_000

/**
 * Below this a rate is a guess: the first answers come in while connections and caches are cold.
 */
const WATCHED_MIN_MS = 3_000

/** Samples closer than this are merged, so that the window holds at most a few hundred. */
const SAMPLE_GAP_MS = 250

/**
 * The window with one more sample; what has left the window is dropped, except the one at its edge.
 */
export function addSample(window: readonly RateSample[], sample: RateSample): readonly RateSample[] {
  // Blocks of a branch that was left are loaded again; a rate over their loss would be negative.
  if (sample.blocksDone < (window.at(-1)?.blocksDone ?? 0)) return [sample]
  const merged = window.at(-2)
  const kept = merged && sample.atMs - merged.atMs < SAMPLE_GAP_MS ? window.slice(0, -1) : window
  const edge = kept.findLastIndex((old) => old.atMs <= sample.atMs - WINDOW_MS)
  return [...kept.slice(Math.max(0, edge)), sample]
}

/** Blocks per second over the window up to now, or null when it is too short to say. */
function rateOf(window: readonly RateSample[], nowMs: number): number | null {
  const first = window[0]
  const last = window.at(-1)
  if (!first || !last || nowMs - first.atMs < WATCHED_MIN_MS) return null
  return ((last.blocksDone - first.blocksDone) * 1000) / (nowMs - first.atMs)
}

/** Progress of `target` given the chunks that are still open. */
export function historyProgress(
  target: BlockRange,
  open: readonly Pick<Chunk, 'range' | 'tip'>[],
  window: readonly RateSample[],
  nowMs: number,
): HistoryProgress {
  const blocksTotal = Math.max(0, target.to - target.from + 1)
  const blocksLeft = remainingBlocks(open)
  const rate = rateOf(window, nowMs)
  return {
    target,
    chunks: open.map(({ range, tip }) => ({ range, tip })),
    blocksTotal,
    blocksDone: blocksTotal - blocksLeft,
    blocksPerSecond: rate,
    etaSeconds: blocksLeft === 0 ? 0 : rate ? blocksLeft / rate : null,
  }
}

/** Blocks of the open chunks not loaded yet. */
export const remainingBlocks = (open: readonly Pick<Chunk, 'range' | 'tip'>[]): number =>
  open.reduce((sum, { range, tip }) => sum + range.to - tip, 0)
