/**
 * Which chunk of history is loaded next: the lowest that has not failed. One that failed is tried
 * again after a pause of its own, but before others only once for each that was attached: any number
 * that nobody serves leave the others half of the work at least.
 */
import { backoffMs, laneBackoff, type Problem, problemOf, remedyOf } from '#runtime/backoff.ts'
import type { Runtime } from '#runtime/runtime.ts'
import { type BlockRange, blockCount } from '../range.ts'
import { HistoryPrunedError } from '../rpc/client/errors.ts'
import type { Chunk } from '../sink.ts'
import {
  addSample,
  type HistoryProgress,
  historyProgress,
  type RateSample,
  remainingBlocks,
} from './progress.ts'

export type ChunkEvent =
  | { readonly type: 'progress'; readonly progress: HistoryProgress }
  | { readonly type: 'attached'; readonly range: BlockRange }
  /** A chunk is held by a problem, until it has moved on. */
  | { readonly type: 'waiting'; readonly range: BlockRange; readonly problem: Problem }
  | { readonly type: 'resumed'; readonly range: BlockRange }

export interface ChunkQueueOptions {
  readonly runtime: Runtime
  /** Must not throw. */
  readonly observe?: (event: ChunkEvent) => void
}

/** A chunk as far as this process saw it. */
interface Queued {
  chunk: Chunk
  isTaken: boolean
  /** Failures since it moved on last. */
  failures: number
  dueMs: number
  /** For good: it is not tried again before somebody has acted, or the lane begins anew. */
  stoppedBy: unknown
}

export class ChunkQueue {
  readonly #options: ChunkQueueOptions
  #target: BlockRange
  readonly #open = new Map<number, Queued>()
  /** Failures since any chunk moved on: where nothing does, all of them wait. */
  #failures = 0
  /** A chunk was attached since one that had failed had its turn. */
  #attachedLately = false
  #window: readonly RateSample[] = []

  constructor(target: BlockRange, chunks: readonly Chunk[], options: ChunkQueueOptions) {
    this.#options = options
    this.#target = target
    this.add(target, chunks)
  }

  get target(): BlockRange {
    return this.#target
  }

  /** Chunks that are not known yet. */
  add(target: BlockRange, chunks: readonly Chunk[]): void {
    this.#target = target
    for (const chunk of chunks)
      if (!this.#open.has(chunk.range.from))
        this.#open.set(chunk.range.from, {
          ...{ chunk, isTaken: false, failures: 0, dueMs: Number.NEGATIVE_INFINITY, stoppedBy: null },
        })
    this.#tell()
  }

  /** The next chunk, how long until one is due, or null where none is left for another worker. */
  take(): { readonly range: BlockRange } | { readonly waitMs: number } | null {
    const nowMs = this.#options.runtime.clock.monotonic()
    const free = [...this.#open.values()].filter(({ isTaken, stoppedBy }) => !isTaken && stoppedBy === null)
    if (free.length === 0) return null
    const failed = free.filter(({ failures }) => failures > 0).toSorted((a, b) => a.dueMs - b.dueMs)
    const fresh = free.filter(({ failures }) => failures === 0).toSorted(byPlace)[0]
    const due = failed[0] && failed[0].dueMs <= nowMs ? failed[0] : undefined
    const next = due && (this.#attachedLately || !fresh) ? due : fresh
    if (!next) return { waitMs: Math.max(1, (failed[0]?.dueMs ?? nowMs) - nowMs) }
    if (next === due) this.#attachedLately = false
    next.isTaken = true
    return { range: next.chunk.range }
  }

  /** The chunks that are left have failed, or a worker has them. */
  get isHeld(): boolean {
    return [...this.#open.values()].every(({ isTaken, failures }) => isTaken || failures > 0)
  }

  loaded(chunk: Chunk): void {
    const queued = this.#open.get(chunk.range.from)
    if (queued && chunk.tip !== queued.chunk.tip) this.#moved(queued)
    if (queued) queued.chunk = chunk
    this.#tell()
  }

  attached(range: BlockRange): void {
    const queued = this.#open.get(range.from)
    if (queued) this.#moved(queued)
    this.#open.delete(range.from)
    this.#attachedLately = true
    this.#options.observe?.({ type: 'attached', range })
    this.#tell()
  }

  /**
   * @returns how long its worker waits
   * @throws the error where it is of all of history
   */
  failed(range: BlockRange, error: unknown): number {
    const { runtime, observe } = this.#options
    const queued = this.#open.get(range.from)
    if (!queued || isOfAll(error)) throw error
    queued.isTaken = false
    queued.failures++
    queued.dueMs = runtime.clock.monotonic() + backoffMs(queued.failures, laneBackoff, runtime.random)
    if (remedyOf(error) === 'stop') this.#stop(queued, error)
    observe?.({ type: 'waiting', range, problem: problemOf(error) })
    return backoffMs(++this.#failures, laneBackoff, runtime.random)
  }

  /** @throws the first error for which somebody has to act */
  throwIfFailed(): void {
    const stopped = [...this.#open.values()].find(({ stoppedBy }) => stoppedBy !== null)
    if (stopped) throw stopped.stoppedBy
  }

  /** Stops a chunk; if history is pruned there, all below stop too. */
  #stop(queued: Queued, error: unknown): void {
    queued.stoppedBy = error
    const earliest = error instanceof HistoryPrunedError ? (error.earliest ?? 0) : 0
    for (const other of this.#open.values())
      if (!other.isTaken && other.chunk.range.from < earliest) other.stoppedBy ??= error
  }

  #moved(queued: Queued): void {
    this.#failures = 0
    if (queued.failures === 0) return
    queued.failures = 0
    this.#options.observe?.({ type: 'resumed', range: queued.chunk.range })
  }

  #tell(): void {
    const { runtime, observe } = this.#options
    const atMs = runtime.clock.monotonic()
    const open = [...this.#open.values()].map(({ chunk }) => chunk)
    const blocksDone = blockCount(this.#target) - remainingBlocks(open)
    this.#window = addSample(this.#window, { atMs, blocksDone })
    observe?.({ type: 'progress', progress: historyProgress(this.#target, open, this.#window, atMs) })
  }
}

const byPlace = ({ chunk: one }: Queued, { chunk: other }: Queued) => one.range.from - other.range.from

/** Errors that a person has to act on, but only for the blocks of one chunk. */
const ofBlocks: ReadonlySet<string> = new Set(['value_not_storable', 'history_pruned'])

export const isOfBlocks = (error: unknown): boolean => ofBlocks.has(problemOf(error).code)

/** Others are of the store, the lease or the node: no chunk could be loaded. */
const isOfAll = (error: unknown): boolean =>
  remedyOf(error) === 'stop' &&
  (!isOfBlocks(error) || (error instanceof HistoryPrunedError && error.earliest === null))
