/** Fills what lies below the head lane, chunk by chunk, into Postgres. */

import { messageOf } from '#errors.ts'
import { fillHistory, type HistoryEvent } from '#ingest/lanes/history.ts'
import { type BlockRange, blockCount, covers } from '#ingest/range.ts'
import { HistoryPrunedError } from '#ingest/rpc/client/errors.ts'
import { visitListed } from '#runtime/failpoints.ts'
import { repeat } from '#runtime/repeat.ts'
import type { PostgresHistorySink } from '#store/ledger/historySink.ts'
import { historyTarget } from '#store/ledger/ledger.ts'
import { aheadOf, type Writing, wake, witnessingOf } from './writing.ts'

/** Two chunks keep both cores busy: one decodes while the other commits. */
const CHUNKS_IN_FLIGHT = 2
/**
 * How long until history is looked at again; the head lane leaves more of it when it seals a
 * segment.
 */
const HISTORY_IDLE_MS = 1_000

/**
 * How long until blocks are asked for again that the node said it no longer has: behind one address
 * may stand many nodes, of which one that lacks them answered.
 */
const PRUNED_RETRY_MS = 600_000

/**
 * History is whatever the head lane's segment leaves below it; a sealed segment leaves more. Until
 * aborted.
 */
export async function keepHistory(
  writing: Writing,
  sink: PostgresHistorySink,
  signal: AbortSignal,
): Promise<void> {
  const { options, state, activity } = writing
  const { runtime, log } = options
  activity.history = { state: 'idle', problem: null }
  const failed = (error: unknown) => {
    activity.history = { state: 'stopped', problem: messageOf(error) }
    log.error({ chainId: state.chainId, error: messageOf(error) }, 'history stopped')
    return error instanceof HistoryPrunedError ? PRUNED_RETRY_MS : 'ended'
  }
  await repeat({ clock: runtime.clock, signal, failed }, async () => {
    const target = await missingHistory(writing).catch(() => null)
    if (!target) return HISTORY_IDLE_MS
    activity.history = { state: 'filling', problem: null }
    await fill(writing, sink, target, signal)
    activity.history = { state: 'idle', problem: null }
    wake(writing)
    await state.refresh().catch(() => {})
    return 0
  })
}

/** Fills the part of `range` that lies below the head lane. @throws what stops a chunk for good */
export async function fillRange(
  writing: Writing,
  sink: PostgresHistorySink,
  range: BlockRange,
  signal: AbortSignal,
): Promise<void> {
  const { options, state } = writing
  const target = await historyTarget(options.postgres, state.chainId, range.from)
  const history = { from: range.from, to: Math.min(range.to, target.to) }
  if (blockCount(history) > 0) await fill(writing, sink, history, signal)
}

function fill(
  writing: Writing,
  sink: PostgresHistorySink,
  target: BlockRange,
  signal: AbortSignal,
): Promise<void> {
  const { options, source, decode } = writing
  const { runtime, log } = options
  const failpoint = visitListed(runtime.failpoint)
  const witnessing = witnessingOf(writing, 'history')
  const lane = { source, decode, failpoint, lane: 'history' as const, witnessing, sink }
  const observe = (event: HistoryEvent) => observeHistory(writing, event)
  return fillHistory(
    lane,
    target,
    { runtime, log, ahead: aheadOf(writing), chunksMax: CHUNKS_IN_FLIGHT, observe },
    signal,
  )
}

function observeHistory(writing: Writing, event: HistoryEvent): void {
  const { activity } = writing
  if (event.type === 'progress') activity.historyProgress = event.progress
  if (event.type === 'waiting') activity.history = { state: 'filling', problem: event.problem.message }
  if (event.type === 'attached') wake(writing)
}

/** Null while there is nothing to fill. */
async function missingHistory({ options, state }: Writing): Promise<BlockRange | null> {
  const target = await historyTarget(options.postgres, state.chainId, state.startBlock)
  return blockCount(target) > 0 && !covers(state.coverage('postgres'), target) ? target : null
}
