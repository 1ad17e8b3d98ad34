import { failure } from '#errors.ts'
import type { BlockRef } from '#primitives.ts'
import { backoffMs, laneBackoff, problemOf, remedyOf } from '#runtime/backoff.ts'
import { mapAtMost } from '#runtime/mapAtMost.ts'
import type { Runtime } from '#runtime/runtime.ts'
import type { Logger } from '#telemetry.ts'
import type { BlockRange } from '../range.ts'
import type { Batch, Chunk, HistorySink } from '../sink.ts'
import { type ChunkEvent, ChunkQueue } from './ChunkQueue.ts'
import { type AheadOptions, fetchAhead } from './fetchAhead.ts'
import type { Fetcher } from './fetchVerified.ts'
import { assertContinuous, findContradiction, findForkPoint, ReorgError } from './reorg.ts'

export interface HistoryLane<B extends Batch> extends Fetcher<B> {
  readonly sink: HistorySink<B>
}

export interface HistoryOptions {
  readonly runtime: Runtime
  readonly log: Logger
  /** For each chunk in flight; the budget is shared by all of them. */
  readonly ahead: AheadOptions
  /** Chunks loaded at the same time. */
  readonly chunksMax: number
  /** The blocks to fill by now; looked at when nothing is left but chunks that failed. */
  readonly replan?: () => Promise<BlockRange | null>
  /** Told after every batch and attachment. Must not throw. */
  readonly observe?: (event: HistoryEvent) => void
}

export type HistoryEvent =
  | ChunkEvent
  | { readonly type: 'appended'; readonly range: BlockRange; readonly foreignReceipts: number }

/**
 * Fills `target` in ascending chunks, several in flight: each is fetched and decoded ahead,
 * appended in order, and attached as soon as it is complete, in any order. A chunk that fails waits
 * while others go on: one block that no endpoint serves does not stop the rest of history. Nothing
 * is kept here that the sink does not hold, so that starting again after a crash goes on from the
 * chunks' tips.
 * @throws the first error whose remedy is `stop`, when all other chunks are complete; the signal's
 * reason when aborted.
 */
export async function fillHistory<B extends Batch>(
  lane: HistoryLane<B>,
  target: BlockRange,
  options: HistoryOptions,
  signal: AbortSignal,
): Promise<void> {
  const chunks = await untilDone(target, options, signal, () => lane.sink.openChunks(target))
  const queue = new ChunkQueue(target, chunks, options)
  const workers = Array.from({ length: options.chunksMax }, (_, nth) => nth)
  await mapAtMost(
    workers.length,
    workers,
    (_, ended) => workOff({ lane, options, queue, signal: ended }),
    signal,
  )
  queue.throwIfFailed()
}

interface HistoryRun<B extends Batch> {
  readonly lane: HistoryLane<B>
  readonly options: HistoryOptions
  readonly queue: ChunkQueue
  readonly signal: AbortSignal
}

/** One chunk after another, until none is left that another worker does not have. */
async function workOff<B extends Batch>(run: HistoryRun<B>): Promise<void> {
  const { queue, options, signal } = run
  const { clock } = options.runtime
  for (;;) {
    const turn = queue.take()
    if (turn === null) return
    const pauseMs = 'waitMs' in turn ? turn.waitMs : await tryChunk(run, turn.range)
    if (pauseMs === 0) continue
    await clock.sleep(pauseMs, signal)
    if (queue.isHeld) await lookAgain(run)
  }
}

/** @returns how long the next try waits; 0 when the chunk is attached */
async function tryChunk<B extends Batch>(run: HistoryRun<B>, range: BlockRange): Promise<number> {
  const { queue, options, signal } = run
  try {
    await completeChunk(run, range)
    queue.attached(range)
    return 0
  } catch (error) {
    if (signal.aborted) throw error
    const waitMs = queue.failed(range, error)
    options.log.warn({ ...range, waitMs, ...problemOf(error) }, 'a chunk of history will be tried again')
    return waitMs
  }
}

/** While chunks were held, the head lane may have left more of history, which none of them keeps. */
async function lookAgain<B extends Batch>({ lane, options, queue }: HistoryRun<B>): Promise<void> {
  const target = (await options.replan?.().catch(() => null)) ?? null
  const open = target && (await lane.sink.openChunks(target).catch(() => null))
  if (target && open) queue.add(target, open)
}

/**
 * Loads and attaches one chunk, as it stands now: after a failure a lost answer may have been a
 * commit, and since the target was read the lane may have begun again below.
 */
async function completeChunk<B extends Batch>(run: HistoryRun<B>, { from }: BlockRange): Promise<void> {
  const { lane, queue } = run
  const open = await lane.sink.openChunks(queue.target)
  const chunk = open.find(({ range }) => range.from === from)
  if (!chunk) return
  const { loaded, conflict } = await loadChunk(run, chunk)
  await dropOrphans(run, loaded)
  if (conflict) {
    lane.source.reportRefuted(conflict.endpoint)
    throw conflict.error
  }
  await assertContinued(run, loaded)
  lane.failpoint('history.attach.before')
  await lane.sink.attachChunk(loaded)
  lane.failpoint('history.attach.after')
}

/** A chunk as far as it was loaded: to its end, or to a block whose parent is not its tip. */
interface Load {
  readonly loaded: Chunk
  readonly conflict: { readonly error: ReorgError; readonly endpoint: string } | null
}

async function loadChunk<B extends Batch>(
  { lane, options, queue, signal }: HistoryRun<B>,
  chunk: Chunk,
): Promise<Load> {
  let loaded = chunk
  queue.loaded(loaded)
  const rest = { from: chunk.tip + 1, to: chunk.range.to }
  for await (const { batch, endpoint } of fetchAhead(lane, rest, options.ahead, signal)) {
    const parent = loaded.tipHash === null ? null : { number: loaded.tip, hash: loaded.tipHash }
    try {
      assertContinuous(parent, batch.refs)
    } catch (error) {
      if (error instanceof ReorgError) return { loaded, conflict: { error, endpoint } }
      throw error
    }
    lane.failpoint('history.append.before')
    await lane.sink.appendToChunk(loaded, batch)
    lane.failpoint('history.append.after')
    options.observe?.({ type: 'appended', range: batch.range, foreignReceipts: batch.foreignReceipts ?? 0 })
    const last = batch.refs.at(-1)
    loaded = { range: chunk.range, tip: batch.range.to, tipHash: last?.hash ?? null }
    queue.loaded(loaded)
  }
  return { loaded, conflict: null }
}

/**
 * A cache in front of a node may have given the end of a branch that the chain has left, which
 * nothing continues.
 * @throws OrphanedChunkError when there were such blocks, and they were dropped
 */
async function dropOrphans<B extends Batch>({ lane, signal }: HistoryRun<B>, chunk: Chunk): Promise<void> {
  const { source, sink } = lane
  if (chunk.tipHash === null) return
  if ((await findContradiction({ number: chunk.tip, hash: chunk.tipHash }, { source, signal })) === null)
    return
  const held = {
    refAt: (number: number) => sink.refInChunk(chunk, number),
    finalized: async () => chunk.range.from - 1,
  }
  const { fork } = await findForkPoint({ number: chunk.tip }, { sink: held, source, signal })
  // It has changed its mind again.
  if (fork?.number === chunk.tip) return
  await sink.revertChunk(chunk, fork)
  throw new OrphanedChunkError(chunk, fork)
}

/**
 * A chunk's end is proved by none of its blocks, and a cache that gave an orphan gives it again
 * when asked for that height; the block above it, where there is one, has a parent.
 * @throws ReorgError when that is not the end of the chunk: which of the two was left, is asked for
 * at the next try
 */
async function assertContinued<B extends Batch>(
  { lane, signal }: HistoryRun<B>,
  chunk: Chunk,
): Promise<void> {
  const child = await lane.source.blockRef(chunk.tip + 1, signal)
  if (child && chunk.tipHash !== null) assertContinuous({ number: chunk.tip, hash: chunk.tipHash }, [child])
}

/** Tries `act` again after every failure that may pass. */
async function untilDone<T>(
  range: BlockRange,
  { runtime, log, observe }: HistoryOptions,
  signal: AbortSignal,
  act: () => Promise<T>,
): Promise<T> {
  for (let failures = 1; ; failures++) {
    signal.throwIfAborted()
    try {
      const result = await act()
      if (failures > 1) observe?.({ type: 'resumed', range })
      return result
    } catch (error) {
      if (signal.aborted || remedyOf(error) === 'stop') throw error
      const waitMs = backoffMs(failures, laneBackoff, runtime.random)
      observe?.({ type: 'waiting', range, problem: problemOf(error) })
      log.warn({ ...range, failures, waitMs, ...problemOf(error) }, 'a chunk of history will be tried again')
      await runtime.clock.sleep(waitMs, signal)
    }
  }
}

/**
 * The end of what was loaded of a chunk is of a branch the chain has left; it was dropped and is
 * loaded again.
 */
export class OrphanedChunkError extends failure('OrphanedChunkError', 'chunk_orphaned', 'retry') {
  readonly blockNumber: number

  constructor({ range, tip }: Chunk, fork: BlockRef | null) {
    const from = (fork?.number ?? range.from - 1) + 1
    super(
      `blocks ${from}..${tip} of the chunk ${range.from}..${range.to} are not on the node's chain; they are loaded again`,
    )
    this.blockNumber = tip
  }
}
