/**
 * The chain's pace, learned from when heads were seen: header timestamps are whole seconds and say nothing about a chain
 * with two blocks in each. Pure transitions.
 */
export interface BlockTime {
  readonly number: number
  readonly seenAtMs: number
  /** Moving average, or null before the second head. */
  readonly averageMs: number | null
}

/** A poll sees a block up to one interval late; a fifth of the block time keeps that below what a reader notices. */
const POLLS_PER_BLOCK = 5
/** Faster polling loads a node for chains that already push their heads. */
const POLL_MS_MIN = 50
/** Slower polling would miss replaced heads on slow chains for too long. */
const POLL_MS_MAX = 2_000
const POLL_MS_START = 200

/** After a head was seen; blocks that came at once share the time they took. */
export function afterHead(state: BlockTime | null, number: number, nowMs: number): BlockTime {
  if (!state || number <= state.number) return state ?? { number, seenAtMs: nowMs, averageMs: null }
  const sampleMs = (nowMs - state.seenAtMs) / (number - state.number)
  const averageMs = state.averageMs === null ? sampleMs : state.averageMs * 0.8 + sampleMs * 0.2
  return { number, seenAtMs: nowMs, averageMs }
}

export function pollIntervalMs(state: BlockTime | null): number {
  if (!state || state.averageMs === null) return POLL_MS_START
  return Math.min(POLL_MS_MAX, Math.max(POLL_MS_MIN, state.averageMs / POLLS_PER_BLOCK))
}
