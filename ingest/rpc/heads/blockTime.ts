/**
 * The chain's pace, learned from when heads were seen: header timestamps are whole seconds and say
 * nothing about a chain with two blocks in each. Pure transitions.
 */
export interface BlockTime {
  readonly number: number
  readonly seenAtMs: number
  /** Moving average, or null before the second head. */
  readonly averageMs: number | null
}

/**
 * A poll sees a block up to one interval late; a fifth of the block time keeps that below what a
 * reader notices.
 */
const POLLS_PER_BLOCK = 5
/** Faster polling loads a node for chains that already push their heads. */
export const POLL_MS_MIN = 50
/** Slower polling would miss replaced heads on slow chains for too long. */
const POLL_MS_MAX = 2_000
const POLL_MS_START = 200

/** After a head was seen; blocks that came at once share the time they took. */
export function afterHead(state: BlockTime | null, number: number, nowMs: number): BlockTime {
  if (!state || number <= state.number) return state ?? { number, seenAtMs: nowMs, averageMs: null }
  const sampleMs = (nowMs - state.seenAtMs) / (number - state.number)
  return { number, seenAtMs: nowMs, averageMs: averageOf(state.averageMs, sampleMs) }
}

/**
 * A pause counts as a few blocks at most, and is soon forgotten: polling too slowly is seen by
 * readers, too fast by nobody.
 */
function averageOf(averageMs: number | null, sampleMs: number): number {
  if (averageMs === null) return sampleMs
  const weight = sampleMs < averageMs ? 0.5 : 0.2
  return averageMs * (1 - weight) + Math.min(sampleMs, PAUSE_BLOCKS_MAX * averageMs) * weight
}

const PAUSE_BLOCKS_MAX = 4

export function pollIntervalMs(state: BlockTime | null): number {
  if (!state || state.averageMs === null) return POLL_MS_START
  return Math.min(POLL_MS_MAX, Math.max(POLL_MS_MIN, state.averageMs / POLLS_PER_BLOCK))
}
