/** The one loop of what goes on until it is told to stop. */
import { messageOf } from '#errors.ts'
import type { Logger } from '#telemetry.ts'
import type { Clock } from './runtime.ts'

/**
 * What follows a turn: the milliseconds until the next one (0 is at once), or that there is none.
 */
export type Next = number | 'ended'

export interface Repeating {
  readonly clock: Pick<Clock, 'sleep'>
  readonly signal: AbortSignal
  /** Milliseconds before the first turn; 0 unless given. */
  readonly firstMs?: number
  /**
   * Told why a turn failed, and how many have in a row. What it throws ends the loop. Without it the
   * first failure does. An error that comes with the abort is what the abort does, and not told.
   */
  readonly failed?: (error: unknown, failures: number) => Next | Promise<Next>
}

/**
 * Takes turns, one after the other, until aborted or ended. A pause ends with the signal.
 * @throws what a turn throws where nobody is told of failures, and what `failed` throws
 */
export async function repeat(
  { clock, signal, firstMs = 0, failed }: Repeating,
  turn: () => Next | Promise<Next>,
): Promise<void> {
  let failures = 0
  for (let next: Next = firstMs; next !== 'ended'; ) {
    if (next > 0) await clock.sleep(next, signal).catch(() => {})
    if (signal.aborted) return
    try {
      next = await turn()
      failures = 0
    } catch (error) {
      if (!failed) throw error
      if (signal.aborted) return
      next = await failed(error, ++failures)
    }
  }
}

/** The answer to a turn that failed: it is told in the log, and the next comes after `ms`. */
export const warning =
  (log: Pick<Logger, 'warn'>, ms: number, message: string) =>
  (error: unknown): Next => {
    log.warn({ problem: messageOf(error), retryMs: ms }, message)
    return ms
  }
