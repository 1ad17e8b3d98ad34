/**
 * How many requests an endpoint gets at a time, found by trying: one more for each round of
 * successes, half as many after a refusal (AIMD, as TCP does). Pure transitions; the endpoint owns
 * the state.
 */
export interface Concurrency {
  /** May have a fraction: it grows by 1/limit with each success. */
  readonly limit: number
  /** Moment of the last shrinking, on the monotonic clock. */
  readonly shrunkAtMs: number
}

/**
 * Enough to hide 50 ms of latency from the first second on (measured: 4 to 16 batches of 25
 * blocks).
 */
const START_LIMIT = 4

/**
 * More connections than this gained nothing against any node, and answers of 8 MB each must fit
 * into memory.
 */
export const LIMIT_MAX = 32

/**
 * One burst of refusals is one event: requests sent before the shrinking still come back refused
 * after it.
 */
const SHRINK_GAP_MS = 1_000

/**
 * A third of the deadline: a node this slow is queueing our requests, and more of them make it
 * slower.
 */
const SLOW_MS = 5_000

export const startConcurrency: Concurrency = { limit: START_LIMIT, shrunkAtMs: Number.NEGATIVE_INFINITY }

/** After a success; a slow one counts as a mild refusal. */
export function afterSuccess(state: Concurrency, durationMs: number, nowMs: number): Concurrency {
  if (durationMs > SLOW_MS) return shrunk(state, 0.8, nowMs)
  return { ...state, limit: Math.min(LIMIT_MAX, state.limit + 1 / state.limit) }
}

/** After 429, 5xx or a deadline. */
export const afterRefusal = (state: Concurrency, nowMs: number): Concurrency => shrunk(state, 0.5, nowMs)

function shrunk(state: Concurrency, factor: number, nowMs: number): Concurrency {
  if (nowMs - state.shrunkAtMs < SHRINK_GAP_MS) return state
  return { limit: Math.max(1, state.limit * factor), shrunkAtMs: nowMs }
}
