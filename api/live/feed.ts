/**
 * A chain as one engine's live queries see it: a sequence of steps, each from one place to the
 * next.
 */
import type { QueryResult } from '#query/result.ts'
import { UserQueryError, type UserQueryErrorCode } from '#query/UserQueryError.ts'
import { type FrameBlock, failedFrame, resultFrame } from './frames.ts'

/** From a place to the next; without bytes where there is nothing to say on the way. */
export interface Step<Position> {
  readonly position: Position
  readonly bytes: Buffer | null
}

/** Runs the query over one block. @throws UserQueryError */
export type RunBlock = (block: number) => Promise<QueryResult>

/**
 * Why a stream cannot go on from where it is: the log no longer holds the place, or never had it, as
 * that of another database.
 */
export type Lost = 'lost' | 'foreign'

export interface Feed<Position> {
  /**
   * The chain's place now: a new stream begins here, also when readers of the engine do not see all below
   * it yet.
   */
  present(): Position
  /**
   * Newest place up to which readers of the engine see everything: SQL over what is below misses
   * nothing.
   */
  reached(): Position
  blockOf(position: Position): number
  format(position: Position): string
  /** A place from a client's Last-Event-ID; null when it is not one of this feed. */
  parse(id: string): Position | null
  /** Lowest block of which a client at this place may know what is no longer so, or nothing. */
  unsureFrom(position: Position): Promise<number>
  /** The step after a place; null while there is none. */
  next(position: Position, run: RunBlock): Promise<Step<Position> | Lost | null>
}

/** These would fail again on the same block; all else is tried again. */
const finalFailures: ReadonlySet<UserQueryErrorCode> = new Set([
  'sql_invalid',
  'sql_refused',
  'sql_failed',
  'sql_timeout',
])

/** The frame of one block: its result, or why it has none. @throws what may pass on another try */
export async function frameOfBlock(id: string, block: FrameBlock, run: RunBlock): Promise<Buffer> {
  try {
    return resultFrame(id, await run(block.num), [block])
  } catch (error) {
    if (error instanceof UserQueryError && finalFailures.has(error.code))
      return failedFrame(id, error, [block])
    throw error
  }
}
