/** Follows the node's head into Postgres. */

import { messageOf } from '#errors.ts'
import { type FollowEvent, follow } from '#ingest/lanes/follow.ts'
import { visitListed } from '#runtime/failpoints.ts'
import type { PostgresHeadSink } from '#store/ledger/PostgresHeadSink.ts'
import { aheadOf, type Writing, wake, witnessingOf } from './writing.ts'

/** Until aborted, or until a person has to act. */
export async function runHeadLane(
  writing: Writing,
  sink: PostgresHeadSink,
  signal: AbortSignal,
): Promise<void> {
  const { options, limits, source, decode, activity, state } = writing
  const { runtime, log } = options
  const lane = {
    source,
    decode,
    failpoint: visitListed(runtime.failpoint),
    lane: 'head' as const,
    witnessing: witnessingOf(writing, 'head'),
    sink,
    startBlock: state.startBlock,
    batchBlocksMax: limits.batchBlocksMax,
    sealGapBlocks: limits.sealGapBlocks,
  }
  const observe = (event: FollowEvent) => observeHead(writing, event)
  const end = await follow(lane, { runtime, log, ahead: aheadOf(writing), observe }, signal)
  if (end.reason === 'stopped') activity.head = { state: end.state, problem: messageOf(end.error) }
}

function observeHead(writing: Writing, event: FollowEvent): void {
  const { state, activity } = writing
  if (event.type === 'appended') activity.foreignReceipts += event.foreignReceipts
  if (event.type === 'target') state.sawHead(event.head.number)
  if (event.type === 'finalized') wake(writing)
  if (event.type === 'state') activity.head = { state: event.state, problem: event.problem?.message ?? null }
}
