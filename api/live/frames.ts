/**
 * The frames of a live stream. Every payload carries `ok`, because clients of the reference look at
 * nothing else.
 *
 * | event       | payload                                         | meaning                                              |
 * | ----------- | ----------------------------------------------- | ---------------------------------------------------- |
 * | `result`    | the JSON answer with `blocks: [{num, hash}]`    | the query over these blocks alone                    |
 * |             | the same with `reset: true`, without `blocks`   | the whole result; it replaces the one before         |
 * | `retract`   | `blocks: [{num, hash}]`                         | forget what came for these blocks; they are orphaned |
 * | `progress`  | `block, finalized`                              | the stream begins after this block                   |
 * | `finalized` | `finalized`                                     | nothing up to this block will be retracted           |
 * | `lagged`    | `skipped, from, to, reason`                     | forget what came for these blocks; ask for them      |
 * |             |                                                 | by SQL: they were left out, or are no longer so      |
 * |             | the same with `foreign: true`                   | the Last-Event-ID is none of this stream's           |
 * | `error`     | `error: {code, message}, blocks?, retrying?`    | no answer for these blocks, or none yet              |
 */

import { encodeFrame } from '#http/stream/sse.ts'
import type { QueryResult } from '#query/result.ts'
import { UserQueryError } from '#query/UserQueryError.ts'
import { presentResult } from './result.ts'

/** A block a frame speaks of. */
export interface FrameBlock {
  readonly num: number
  readonly hash: string
}

export const resultFrame = (id: string, result: QueryResult, blocks: readonly FrameBlock[]): Buffer =>
  encodeFrame({ event: 'result', id, data: { ...presentResult(result), blocks } })

export const retractFrame = (id: string, blocks: readonly FrameBlock[]): Buffer =>
  encodeFrame({ event: 'retract', id, data: { ok: true, blocks } })

export const progressFrame = (id: string, block: number, finalized: number): Buffer =>
  encodeFrame({ event: 'progress', id, data: { ok: true, block, finalized } })

/** Has no id: it is no place to go on from. */
export const finalizedFrame = (finalized: number): Buffer =>
  encodeFrame({ event: 'finalized', data: { ok: true, finalized } })

export const laggedFrame = (
  skipped: { readonly from: number; readonly to: number },
  reason: string,
  isForeign = false,
): Buffer =>
  encodeFrame({
    event: 'lagged',
    data: {
      ok: true,
      skipped: Math.max(0, skipped.to - skipped.from + 1),
      ...skipped,
      reason,
      ...(isForeign && { foreign: true }),
    },
  })

/** The query failed on these blocks for good: the stream goes on behind them. */
export const failedFrame = (id: string, error: UserQueryError, blocks: readonly FrameBlock[]): Buffer =>
  encodeFrame({ event: 'error', id, data: { ok: false, error: errorFields(error), blocks, retrying: false } })

/** The store does not answer now; what comes later will leave nothing out. */
export const retryingFrame = (error: UserQueryError): Buffer =>
  encodeFrame({ event: 'error', data: { ok: false, error: errorFields(error), retrying: true } })

const errorFields = ({ code, message }: UserQueryError) => ({ code, message })

/**
 * The client's part of a failure: the words of a query's own errors, of others only that the store is away.
 */
export function publicError(error: unknown): UserQueryError {
  return error instanceof UserQueryError
    ? error
    : new UserQueryError('sql_unavailable', 'the store does not answer now', { cause: error })
}
