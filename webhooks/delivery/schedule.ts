/** When a failed attempt is repeated. */
import type { Random } from '#runtime/runtime.ts'

const SECOND_MS = 1_000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS

/** Waits before each further attempt: with the first, eight in 27 h 35 min 5 s. */
export const retryWaitsMs: readonly number[] = [
  5 * SECOND_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
  10 * HOUR_MS,
]

export const ATTEMPTS_MAX = retryWaitsMs.length + 1
/** Share of a wait that chance adds or takes, so that what failed together does not return together. */
const JITTER = 0.2
/** The longest wait that an endpoint may ask for. */
const RETRY_AFTER_MS_MAX = 24 * HOUR_MS

/**
 * Time until the attempt after this one; null after the last. An endpoint that names a longer time
 * gets it.
 */
export function retryInMs(attempt: number, retryAfterMs: number | null, random: Random): number | null {
  const wait = retryWaitsMs[attempt - 1]
  if (wait === undefined) return null
  const asked = Math.min(retryAfterMs ?? 0, RETRY_AFTER_MS_MAX)
  return Math.max(asked, wait * (1 - JITTER + 2 * JITTER * random()))
}
