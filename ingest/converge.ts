import { MillraceError } from '../errors.ts'
import type { BlockRef } from '../primitives.ts'
import type { Fetched, Fetcher } from './fetchVerified.ts'
import { fetchVerified } from './fetchVerified.ts'
import { type BlockRange, blockCount } from './range.ts'
import { assertContinuous, findForkPoint, ReorgError } from './reorg.ts'
import type { Batch, HeadSink } from './sink.ts'
import type { ChainHead } from './source.ts'

/** The head lane of one chain: everything the step needs, and no state. */
export interface HeadLane<B extends Batch> extends Fetcher<B> {
  readonly sink: HeadSink<B>
  /** An empty lane begins at the first block that is not final, never below this one. */
  readonly startBlock: number
  readonly batchBlocksMax: number
  /** Further behind finality than this, the lane seals its segment and starts a new one at the head. */
  readonly sealGapBlocks: number
  /** Told after each change is committed. Must not throw. */
  readonly observe?: (event: LaneEvent) => void
}

/** What a step saw or did, for status and metrics; nothing in the lane depends on it. */
export type LaneEvent =
  | {
      readonly type: 'target'
      readonly head: BlockRef
      readonly finalized: number
      readonly tip: BlockRef | null
    }
  | { readonly type: 'appended'; readonly range: BlockRange; readonly tip: BlockRef }
  | { readonly type: 'finalized'; readonly number: number }
  | { readonly type: 'reverted'; readonly tip: BlockRef; readonly fork: BlockRef | null }
  | { readonly type: 'sealed'; readonly tip: BlockRef }

/** How the step gets its batches: consecutive, from `range.from` on, any number of them. */
export type ReadBatches<B extends Batch> = (
  lane: HeadLane<B>,
  range: BlockRange,
  signal?: AbortSignal,
) => AsyncIterable<Fetched<B>>

export type Outcome = 'advanced' | 'reverted' | 'sealed' | 'idle'

/**
 * Brings the sink closer to the node's chain, or back to the block both hold. It keeps nothing between calls: tip and
 * target are read again each time, so that repairing after a crash is calling it again, and a revert always refetches.
 * @param readBatches one batch by default; follow.ts passes a reader that works ahead.
 */
export async function converge<B extends Batch>(
  lane: HeadLane<B>,
  signal?: AbortSignal,
  readBatches: ReadBatches<B> = readOneBatch,
): Promise<Outcome> {
  const tip = await lane.sink.tip()
  lane.failpoint('head.tipRead')
  const target = await lane.source.head(signal)
  lane.observe?.({ type: 'target', ...target, tip })
  // Who gave the batch being appended; it is to blame if the node itself still agrees with us.
  let endpoint: string | undefined
  try {
    if (tip && target.head.number <= tip.number) return await settle(lane, tip, target, signal)
    if (tip && lane.sink.seal && target.finalized - tip.number > lane.sealGapBlocks)
      return await seal(lane, tip, target, signal)
    const from = tip ? tip.number + 1 : await firstBlock(lane, target)
    if (from > target.head.number) return 'idle'
    let parent = tip
    for await (const fetched of readBatches(lane, { from, to: target.head.number }, signal)) {
      endpoint = fetched.endpoint
      parent = await append(lane, parent, fetched.batch)
      endpoint = undefined
      await raiseFinalized(lane, parent, target.finalized, signal)
    }
    return 'advanced'
  } catch (error) {
    if (error instanceof ReorgError) return await revertToFork(lane, error, endpoint, signal)
    throw error
  }
}

/**
 * Decided once: where finality is instant, "the first block that is not final" would run away from an empty lane. And
 * an endpoint that is behind must not make us write blocks again that we hold as final.
 */
async function firstBlock<B extends Batch>(lane: HeadLane<B>, target: ChainHead): Promise<number> {
  const decided = await lane.sink.emptyFrom?.()
  if (decided !== undefined) return decided
  return Math.max(lane.startBlock, target.finalized + 1, (await lane.sink.finalized()) + 1)
}

async function* readOneBatch<B extends Batch>(lane: HeadLane<B>, range: BlockRange, signal?: AbortSignal) {
  const to = Math.min(range.to, range.from + lane.batchBlocksMax - 1)
  yield await fetchVerified(lane, { from: range.from, to }, signal)
}

async function append<B extends Batch>(
  lane: HeadLane<B>,
  parent: BlockRef | null,
  batch: B,
): Promise<BlockRef> {
  assertContinuous(parent, batch.refs)
  const last = batch.refs.at(-1)
  if (!last || batch.refs.length !== blockCount(batch.range))
    throw new RangeError(`a batch of ${batch.range.from}..${batch.range.to} has ${batch.refs.length} blocks`)
  lane.failpoint('head.append.before')
  await lane.sink.append(batch)
  lane.failpoint('head.append.after')
  lane.observe?.({ type: 'appended', range: batch.range, tip: last })
  return last
}

/**
 * The node has nothing newer. At its head's height it must hold our block: a head of the same height or below with
 * another hash is a reorg, a lower one that we hold is an endpoint lagging behind, and is waited for.
 */
async function settle<B extends Batch>(
  lane: HeadLane<B>,
  tip: BlockRef,
  { head, finalized }: ChainHead,
  signal?: AbortSignal,
): Promise<Outcome> {
  const ours = head.number === tip.number ? tip : await lane.sink.refAt(head.number)
  if (ours && ours.hash !== head.hash) throw new ReorgError(ours, head)
  await raiseFinalized(lane, tip, finalized, signal)
  return 'idle'
}

/**
 * Head and finality may come from different endpoints than the blocks did. A block becomes final here only if the node
 * that calls its height final holds the same block there; otherwise a lagging fork of ours would be frozen.
 */
async function raiseFinalized<B extends Batch>(
  lane: HeadLane<B>,
  tip: BlockRef,
  finalized: number,
  signal?: AbortSignal,
): Promise<void> {
  const number = Math.min(finalized, tip.number)
  if (number <= (await lane.sink.finalized())) return
  const ours = number === tip.number ? tip : await lane.sink.refAt(number)
  const theirs = ours && (await lane.source.blockRef(number, signal))
  if (!ours || !theirs) return
  if (theirs.hash !== ours.hash) throw new ReorgError(ours, theirs)
  lane.failpoint('head.finalize.before')
  await lane.sink.finalize(number)
  lane.failpoint('head.finalize.after')
  lane.observe?.({ type: 'finalized', number })
}

/** After a long downtime fresh data comes first: what lies between is history now. */
async function seal<B extends Batch>(
  lane: HeadLane<B>,
  tip: BlockRef,
  { finalized }: ChainHead,
  signal?: AbortSignal,
): Promise<Outcome> {
  await raiseFinalized(lane, tip, finalized, signal)
  // The node could not confirm our tip yet; sealing an orphan would put it into history for good.
  if ((await lane.sink.finalized()) < tip.number) return 'idle'
  lane.failpoint('head.seal.before')
  await lane.sink.seal?.(finalized + 1)
  lane.failpoint('head.seal.after')
  lane.observe?.({ type: 'sealed', tip })
  return 'sealed'
}

async function revertToFork<B extends Batch>(
  lane: HeadLane<B>,
  conflict: ReorgError,
  endpoint: string | undefined,
  signal?: AbortSignal,
): Promise<Outcome> {
  const tip = await lane.sink.tip()
  if (!tip) return 'reverted'
  const fork = await findForkPoint(tip, { sink: lane.sink, source: lane.source, signal })
  lane.failpoint('head.forkFound')
  if (fork?.hash === tip.hash) {
    if (endpoint !== undefined) lane.source.reportRefuted(endpoint)
    throw new StaleAnswerError(conflict)
  }
  await lane.sink.revert(fork)
  lane.failpoint('head.revert.after')
  lane.observe?.({ type: 'reverted', tip, fork })
  return 'reverted'
}

/** One answer contradicted our tip, but the node still holds it: an endpoint is behind, or on a branch it will leave. */
export class StaleAnswerError extends MillraceError {
  override readonly name = 'StaleAnswerError'
  readonly code = 'stale_answer'
  readonly remedy = 'retry'
  readonly blockNumber: number

  constructor(conflict: ReorgError) {
    super(`an answer for block ${conflict.theirs.number} is of a branch the node does not hold`, {
      cause: conflict,
    })
    this.blockNumber = conflict.theirs.number
  }
}
