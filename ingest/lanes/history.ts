import { failure } from '#errors.ts'
import type { BlockRef } from '#primitives.ts'
import { backoffMs, laneBackoff, type Problem, problemOf, remedyOf } from '#runtime/backoff.ts'
import { mapAtMost } from '#runtime/mapAtMost.ts'
import type { Runtime } from '#runtime/runtime.ts'
import type { Logger } from '#telemetry.ts'
import { type BlockRange, blockCount } from '../range.ts'
import type { Batch, Chunk, HistorySink } from '../sink.ts'
import { type AheadOptions, fetchAhead } from './fetchAhead.ts'
import type { Fetcher } from './fetchVerified.ts'
import {
  addSample,
  type HistoryProgress,
  historyProgress,
  type RateSample,
  remainingBlocks,
} from './progress.ts'
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
  /** Told after every batch and attachment. Must not throw. */
  readonly observe?: (event: HistoryEvent) => void
}

export type HistoryEvent =
  | { readonly type: 'progress'; readonly progress: HistoryProgress }
  | { readonly type: 'attached'; readonly range: BlockRange }
  | { readonly type: 'waiting'; readonly range: BlockRange; readonly problem: Problem }

/**
 * Fills `target` in ascending chunks, several in flight: each is fetched and decoded ahead,
 * appended in order, and attached as soon as it is complete, in any order. Nothing is kept here
 * that the sink does not hold, so that starting again after a crash goes on from the chunks' tips.
 * @throws the first error whose remedy is `stop`, when all chunks have come to rest; the signal's
 * reason when aborted.
 */
export async function fillHistory<B extends Batch>(
  lane: HistoryLane<B>,
  target: BlockRange,
  options: HistoryOptions,
  signal: AbortSignal,
): Promise<void> {
  const chunks = await untilDone(target, options, signal, () => lane.sink.openChunks(target))
  const progress = new OpenChunks(target, chunks, options)
  await mapAtMost(
    options.chunksMax,
    chunks,
    (chunk, ended) => completeChunk({ lane, target, options, progress, signal: ended }, chunk),
    signal,
  )
}

interface ChunkRun<B extends Batch> {
  readonly lane: HistoryLane<B>
  readonly target: BlockRange
  readonly options: HistoryOptions
  readonly progress: OpenChunks
  readonly signal: AbortSignal
}

/**
 * Loads and attaches one chunk, as it stands now: after a failure a lost answer may have been a
 * commit, and since the target was read the lane may have begun again below.
 */
async function completeChunk<B extends Batch>(run: ChunkRun<B>, begun: Chunk): Promise<void> {
  const { lane, target, options, progress, signal } = run
  await untilDone(begun.range, options, signal, async () => {
    const open = await lane.sink.openChunks(target)
    const chunk = open.find(({ range }) => range.from === begun.range.from)
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
  })
  progress.attached(begun)
}

/** A chunk as far as it was loaded: to its end, or to a block whose parent is not its tip. */
interface Load {
  readonly loaded: Chunk
  readonly conflict: { readonly error: ReorgError; readonly endpoint: string } | null
}

async function loadChunk<B extends Batch>(
  { lane, options, progress, signal }: ChunkRun<B>,
  chunk: Chunk,
): Promise<Load> {
  let loaded = chunk
  progress.loaded(loaded)
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
    const last = batch.refs.at(-1)
    loaded = { range: chunk.range, tip: batch.range.to, tipHash: last?.hash ?? null }
    progress.loaded(loaded)
  }
  return { loaded, conflict: null }
}

/**
 * A cache in front of a node may have given the end of a branch that the chain has left, which
 * nothing continues.
 * @throws OrphanedChunkError when there were such blocks, and they were dropped
 */
async function dropOrphans<B extends Batch>({ lane, signal }: ChunkRun<B>, chunk: Chunk): Promise<void> {
  const { source, sink } = lane
  if (chunk.tipHash === null) return
  if ((await findContradiction({ number: chunk.tip, hash: chunk.tipHash }, { source, signal })) === null)
    return
  const held = {
    refAt: (number: number) => sink.refInChunk(chunk, number),
    finalized: async () => chunk.range.from - 1,
  }
  const fork = await findForkPoint({ number: chunk.tip }, { sink: held, source, signal })
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
async function assertContinued<B extends Batch>({ lane, signal }: ChunkRun<B>, chunk: Chunk): Promise<void> {
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
      return await act()
    } catch (error) {
      if (signal.aborted || remedyOf(error) === 'stop') throw error
      const waitMs = backoffMs(failures, laneBackoff, runtime.random)
      observe?.({ type: 'waiting', range, problem: problemOf(error) })
      log.warn({ ...range, failures, waitMs, ...problemOf(error) }, 'a chunk of history will be tried again')
      await runtime.clock.sleep(waitMs, signal)
    }
  }
}

/** The open chunks as far as this process saw them, and the rate at which they shrink. */
class OpenChunks {
  readonly #target: BlockRange
  readonly #options: HistoryOptions
  readonly #open: Map<number, Chunk>
  #window: readonly RateSample[] = []

  constructor(target: BlockRange, chunks: readonly Chunk[], options: HistoryOptions) {
    this.#target = target
    this.#options = options
    this.#open = new Map(chunks.map((chunk) => [chunk.range.from, chunk]))
    this.#tell()
  }

  loaded(chunk: Chunk): void {
    this.#open.set(chunk.range.from, chunk)
    this.#tell()
  }

  attached(chunk: Chunk): void {
    this.#open.delete(chunk.range.from)
    this.#options.observe?.({ type: 'attached', range: chunk.range })
    this.#tell()
  }

  #tell(): void {
    const { runtime, observe } = this.#options
    const atMs = runtime.clock.monotonic()
    const open = [...this.#open.values()]
    const blocksDone = blockCount(this.#target) - remainingBlocks(open)
    this.#window = addSample(this.#window, { atMs, blocksDone })
    observe?.({ type: 'progress', progress: historyProgress(this.#target, open, this.#window, atMs) })
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
