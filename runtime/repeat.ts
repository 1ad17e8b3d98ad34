/** The one loop of what goes on until it is told to stop. */
import { messageOf } from '#errors.ts'
import type { Logger } from '#telemetry.ts'
import type { Clock } from './runtime.ts'

/** The turn's successor: the milliseconds until the next one (0 is at once), or that there is none. */
export type Next = number | 'ended'

/** A turn that failed is a warning in the log, and the next one comes after `ms`. */
export interface Warning {
  readonly log: Pick<Logger, 'warn'>
  readonly ms: number
  readonly message: string
  /** Facts that the line has beside the problem. */
  readonly about?: Readonly<Record<string, unknown>>
}

export interface Repeating {
  readonly clock: Pick<Clock, 'sleep'>
  readonly signal: AbortSignal
  /** Milliseconds before the first turn; 0 unless given. */
  readonly firstMs?: number
  /**
   * The answer to a turn that failed: a line in the log, or a function, which gets the error and the
   * failures in a row and ends the loop if it throws. Without one, the first failure ends the loop.
   * An error that comes with the abort belongs to the abort: it has no answer.
   */
  readonly failed?: Warning | ((error: unknown, failures: number) => Next | Promise<Next>)
}

/**
 * Takes turns, one after the other, until aborted or ended. A pause ends with the signal.
 * @throws the error of a turn without `failed`, and what `failed` throws
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
      next = typeof failed === 'function' ? await failed(error, ++failures) : warned(failed, error)
    }
  }
}

function warned({ log, ms, message, about }: Warning, error: unknown): number {
  log.warn({ ...about, problem: messageOf(error), retryMs: ms }, message)
  return ms
}
