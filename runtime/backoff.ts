import { MillraceError, type Remedy } from '#errors.ts'
import type { Random } from './runtime.ts'

export interface BackoffLimits {
  readonly baseMs: number
  readonly maxMs: number
}

/**
 * Wait before attempt `attempt + 1` (attempts count from 1): doubling up to the maximum, of which
 * the upper half is chance, so that several waiting for the same thing do not return at once.
 */
export function backoffMs(attempt: number, { baseMs, maxMs }: BackoffLimits, random: Random): number {
  // 2^30 ms is past every maximum in use, and keeps the power finite.
  const ceiling = Math.min(maxMs, baseMs * 2 ** Math.min(attempt - 1, 30))
  return ceiling / 2 + (ceiling / 2) * random()
}

/**
 * Between tries of a lane: soon enough for a hiccup, gentle on a node or database that stays away.
 */
export const laneBackoff: BackoffLimits = { baseMs: 100, maxMs: 10_000 }

/**
 * An error that is not ours (a driver's, a socket's) is taken for passing: it is tried again,
 * loudly.
 */
export const remedyOf = (error: unknown): Remedy => (error instanceof MillraceError ? error.remedy : 'retry')

/** A person's view of a failure: stable code and text. */
export interface Problem {
  readonly code: string
  readonly message: string
}

export const problemOf = (error: unknown): Problem => ({
  code: error instanceof MillraceError ? error.code : 'unexpected',
  message: error instanceof Error ? error.message : String(error),
})
