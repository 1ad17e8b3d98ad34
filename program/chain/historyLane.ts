/** Fills what lies below the head lane, chunk by chunk, into Postgres. */

import { messageOf } from '#errors.ts'
import { isOfBlocks } from '#ingest/lanes/ChunkQueue.ts'
import { fillHistory, type HistoryEvent, type HistoryOptions } from '#ingest/lanes/history.ts'
import { type BlockRange, blockCount, covers } from '#ingest/range.ts'
import type { Problem } from '#runtime/backoff.ts'
import { visitListed } from '#runtime/failpoints.ts'
import { repeat } from '#runtime/repeat.ts'
import { historyTarget } from '#store/ledger/ledger.ts'
import type { PostgresHistorySink } from '#store/ledger/PostgresHistorySink.ts'
import { aheadOf, type Writing, wake, witnessingOf } from './writing.ts'

/** Two chunks keep both cores busy: one decodes while the other commits. */
const CHUNKS_IN_FLIGHT = 2
/**
 * How long until history is looked at again; the head lane leaves more of it when it seals a
 * segment.
 */
const HISTORY_IDLE_MS = 1_000

/**
 * How long until blocks are asked for again that no endpoint serves: behind one address may stand
 * many nodes, of which one that lacks them answered.
 */
const HELD_RETRY_MS = 600_000

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
    return isOfBlocks(error) ? HELD_RETRY_MS : 'ended'
  }
  await repeat({ clock: runtime.clock, signal, failed }, async () => {
    const target = await missingHistory(writing).catch(() => null)
    if (!target) return HISTORY_IDLE_MS
    activity.history = { state: 'filling', problem: null }
    await fill(writing, sink, target, signal, () => missingHistory(writing))
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
  replan?: HistoryOptions['replan'],
): Promise<void> {
  const { options, source, decode } = writing
  const { runtime, log } = options
  const failpoint = visitListed(runtime.failpoint)
  const witnessing = witnessingOf(writing, 'history')
  const lane = { source, decode, failpoint, lane: 'history' as const, witnessing, sink }
  const held = new Map<number, Problem>()
  const observe = (event: HistoryEvent) => observeHistory(writing, held, event)
  const bounds = { ahead: aheadOf(writing), chunksMax: CHUNKS_IN_FLIGHT }
  return fillHistory(lane, target, { runtime, log, ...bounds, observe, ...(replan && { replan }) }, signal)
}

/** @param held problems of chunks that wait, by their first blocks */
function observeHistory(writing: Writing, held: Map<number, Problem>, event: HistoryEvent): void {
  const { activity } = writing
  if (event.type === 'appended') activity.foreignReceipts += event.foreignReceipts
  if (event.type === 'progress') activity.historyProgress = event.progress
  if (event.type === 'waiting') held.set(event.range.from, event.problem)
  if (event.type === 'resumed') held.delete(event.range.from)
  if (event.type === 'waiting' || event.type === 'resumed')
    activity.history = { state: 'filling', problem: describeHeld(held) }
  if (event.type === 'attached') wake(writing)
}

/** The lowest in full: each names its block. */
function describeHeld(held: ReadonlyMap<number, Problem>): string | null {
  const [lowest, ...others] = [...held].toSorted(([one], [other]) => one - other)
  if (!lowest) return null
  const message = lowest[1].message
  return others.length === 0 ? message : `${message}; ${others.length} more chunks of history wait`
}

/** Null while there is nothing to fill. */
async function missingHistory({ options, state }: Writing): Promise<BlockRange | null> {
  const target = await historyTarget(options.postgres, state.chainId, state.startBlock)
  return blockCount(target) > 0 && !covers(state.coverage('postgres'), target) ? target : null
}
