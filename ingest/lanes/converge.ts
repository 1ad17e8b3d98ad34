import { failure } from '#errors.ts'
import type { BlockRef } from '#primitives.ts'
import { type BlockRange, blockCount } from '../range.ts'
import type { Batch, HeadSink } from '../sink.ts'
import { type ChainHead, HEADS_APART_MAX } from '../source.ts'
import { CERTIFIED_WALK_MAX, findCertifiedFork } from './certifiedFork.ts'
import type { Fetched, Fetcher } from './fetchVerified.ts'
import { fetchVerified } from './fetchVerified.ts'
import { proveFinality } from './proveFinality.ts'
import { assertContinuous, assertFinalHolds, findForkPoint, ReorgError } from './reorg.ts'

/** The head lane of one chain: everything the step needs, and no state. */
export interface HeadLane<B extends Batch> extends Fetcher<B> {
  readonly sink: HeadSink<B>
  /** An empty lane begins at the first block that is not final, never below this one. */
  readonly startBlock: number
  readonly batchBlocksMax: number
  /**
   * Further behind finality than this, the lane seals its segment and starts a new one at the head.
   */
  readonly sealGapBlocks: number
  /** Told after each change is committed. Must not throw. */
  readonly observe?: (event: LaneEvent) => void
}

/** A step's sight or deed, for status and metrics; nothing in the lane depends on it. */
export type LaneEvent =
  | {
      readonly type: 'target'
      readonly head: BlockRef
      readonly finalized: number
      readonly tip: BlockRef | null
    }
  | Appended
  | { readonly type: 'finalized'; readonly number: number }
  | { readonly type: 'reverted'; readonly tip: BlockRef; readonly fork: BlockRef | null }
  | { readonly type: 'sealed'; readonly next: number }

interface Appended {
  readonly type: 'appended'
  readonly range: BlockRange
  readonly tip: BlockRef
  readonly foreignReceipts: number
}

/** How the step gets its batches: consecutive, from `range.from` on, any number of them. */
export type ReadBatches<B extends Batch> = (
  lane: HeadLane<B>,
  range: BlockRange,
  signal?: AbortSignal,
) => AsyncIterable<Fetched<B>>

export type ConvergeOutcome = 'advanced' | 'reverted' | 'sealed' | 'idle'

/**
 * Brings the sink closer to the node's chain, or back to the block both hold. It keeps nothing
 * between calls: tip and target are read again each time, so that repairing after a crash is
 * calling it again, and a revert always refetches.
 * @param readBatches one batch by default; follow.ts passes a reader that works ahead.
 */
export async function converge<B extends Batch>(
  lane: HeadLane<B>,
  signal?: AbortSignal,
  readBatches: ReadBatches<B> = readOneBatch,
): Promise<ConvergeOutcome> {
  const tip = await lane.sink.tip()
  lane.failpoint('head.tipRead')
  const target = await lane.source.head(signal)
  lane.observe?.({ type: 'target', ...target, tip })
  // The endpoint whose word a conflict with our blocks is; it is to blame if the node itself still
  // agrees with us.
  let endpoint = target.toldBy?.head
  try {
    if (tip && target.head.number <= tip.number) {
      await assertHeadHeld(lane, tip, target)
      endpoint = target.toldBy?.finalized
      await raiseFinalized(lane, tip, target)
      return 'idle'
    }
    const from = tip ? tip.number + 1 : await firstBlock(lane, target)
    if (!tip && (await restart(lane, from, target, signal))) return 'sealed'
    if (lane.sink.seal && target.finalized - from >= lane.sealGapBlocks)
      return await seal(lane, tip, target, signal)
    if (!tip && lane.startBlock > target.head.number)
      throw new StartBlockAheadError(lane.startBlock, target.head.number)
    if (from > target.head.number) return 'idle'
    // An empty lane continues the history below it, where that is held.
    let parent = tip ?? (await lane.sink.refAt(from - 1))
    for await (const fetched of readBatches(lane, { from, to: target.head.number }, signal)) {
      endpoint = fetched.endpoint
      parent = await append(lane, parent, fetched.batch)
      endpoint = target.toldBy?.finalized
      await raiseFinalized(lane, parent, target)
    }
    return 'advanced'
  } catch (error) {
    if (error instanceof ReorgError) return await revert(lane, error, { endpoint, target, signal })
    throw error
  }
}

/**
 * Decided once: where finality is instant, "the first block that is not final" would run away from
 * an empty lane. And an endpoint that is behind must not make us write blocks again that we hold as
 * final.
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
  const { range, foreignReceipts = 0 } = batch
  lane.observe?.({ type: 'appended', range, tip: last, foreignReceipts })
  return last
}

/**
 * The node has nothing newer. At its head's height it must hold our block: a head of the same
 * height or below with another hash is a reorg, a lower one that we hold is an endpoint lagging
 * behind, and is waited for.
 */
async function assertHeadHeld<B extends Batch>(
  lane: HeadLane<B>,
  tip: BlockRef,
  { head }: ChainHead,
): Promise<void> {
  const ours = head.number === tip.number ? tip : await lane.sink.refAt(head.number)
  if (ours && ours.hash !== head.hash) throw new ReorgError(ours, head)
}

/**
 * Head and finality may come from different endpoints than the blocks did. Ours become final only
 * when we hold the block that proves it; until the tip has reached that block, an orphan of ours
 * would be frozen by one answer from a cache.
 */
async function raiseFinalized<B extends Batch>(
  lane: HeadLane<B>,
  tip: BlockRef,
  target: ChainHead,
): Promise<void> {
  const { finalized, finalizedBy, isProved = false } = target
  if (finalizedBy.number > tip.number || finalized <= (await lane.sink.finalized())) return
  const ours = finalizedBy.number === tip.number ? tip : await lane.sink.refAt(finalizedBy.number)
  // A pass takes long: what was told at its beginning may count no more.
  if (!ours || lane.source.grants?.(target) === false) return
  if (ours.hash !== finalizedBy.hash) {
    if (finalizedBy.number === finalized || isProved) throw new ReorgError(ours, finalizedBy)
    // A head that was replaced since: the next one tells.
    return
  }
  lane.failpoint('head.finalize.before')
  await lane.sink.finalize(finalized)
  lane.failpoint('head.finalize.after')
  lane.observe?.({ type: 'finalized', number: finalized })
}

/**
 * After a long downtime fresh data comes first: what lies between is history now, and so are our
 * blocks that are not final. Only the blocks that are being skipped could prove them, and an orphan
 * in history would stay for good.
 */
async function seal<B extends Batch>(
  lane: HeadLane<B>,
  tip: BlockRef | null,
  target: ChainHead,
  signal?: AbortSignal,
): Promise<ConvergeOutcome> {
  await proveFinality(lane, target, signal)
  const { finalized } = target
  const final = await lane.sink.finalized()
  if (tip && final < tip.number) await lane.sink.revert(await lane.sink.refAt(final))
  lane.failpoint('head.seal.before')
  await lane.sink.seal?.(finalized + 1)
  lane.failpoint('head.seal.after')
  lane.observe?.({ type: 'sealed', next: finalized + 1 })
  return 'sealed'
}

/**
 * An empty lane above the chain's head was sent there by a node that told a false one, and would
 * wait for ever: it begins again where finality is now. A lane that stands there for another reason
 * holds what proves it, and stays.
 */
async function restart<B extends Batch>(
  lane: HeadLane<B>,
  from: number,
  target: ChainHead,
  signal?: AbortSignal,
): Promise<boolean> {
  const { head, finalized, finalizedBy, isProved = false } = target
  // A certificate of a block up there shows that the head is what is false.
  if (isProved && finalizedBy.number >= from - 1) return false
  if (!lane.sink.restart || from <= head.number + HEADS_APART_MAX) return false
  await proveFinality(lane, target, signal)
  const next = Math.max(lane.startBlock, finalized + 1)
  if (!(await lane.sink.restart(next, head.number))) return false
  lane.observe?.({ type: 'sealed', next })
  return true
}

interface Contradicted {
  /** The one that told the conflict. */
  readonly endpoint: string | undefined
  readonly target: ChainHead
  readonly signal: AbortSignal | undefined
}

/**
 * A branch under a certificate wins over what endpoints show, however many show it. One of a block that
 * we hold, or below all that we hold, says nothing of what lies above it.
 */
async function revert<B extends Batch>(
  lane: HeadLane<B>,
  conflict: ReorgError,
  contradicted: Contradicted,
): Promise<ConvergeOutcome> {
  const { endpoint, signal, target } = contradicted
  const { finalizedBy: certified, isProved = false } = target
  const tip = await lane.sink.tip()
  const top = tip ?? conflict.ours
  if (!isProved || certified.number - top.number > CERTIFIED_WALK_MAX)
    return await revertToFork(lane, conflict, contradicted)
  if (certified.number <= top.number) {
    const ours = await lane.sink.refAt(certified.number)
    if (!ours || ours.hash === certified.hash) return await revertToFork(lane, conflict, contradicted, ours)
  }
  // History below an empty lane counts as final.
  const final = Math.max(await lane.sink.finalized(), tip ? -1 : top.number)
  const { fork, next } = await findCertifiedFork(top, certified, { ...lane, final, signal })
  lane.failpoint('head.forkFound')
  if (next) await lane.source.leaveOutOthers?.(next, signal)
  if (!tip || fork?.hash === tip.hash) {
    if (endpoint !== undefined) lane.source.reportRefuted(endpoint)
    throw new StaleAnswerError(conflict)
  }
  return await takeBack(lane, tip, fork)
}

async function revertToFork<B extends Batch>(
  lane: HeadLane<B>,
  conflict: ReorgError,
  { endpoint, target, signal }: Contradicted,
  certified: BlockRef | null = null,
): Promise<ConvergeOutcome> {
  const { isProved = false } = target
  const search = { sink: lane.sink, source: lane.source, signal, isProved }
  const tip = await lane.sink.tip()
  // Nothing of an empty lane can be taken back: the answer is wrong or the history below it, and
  // the node says which.
  const found = tip ? await findForkPoint(tip, search, certified) : null
  if (!tip) await assertFinalHolds(conflict.ours.number, search)
  lane.failpoint('head.forkFound')
  if (!tip || !found || found.differs > tip.number) {
    if (endpoint !== undefined) lane.source.reportRefuted(endpoint)
    throw new StaleAnswerError(conflict)
  }
  await assertReplaced(lane, conflict, found.differs, signal)
  return await takeBack(lane, tip, found.fork)
}

async function takeBack<B extends Batch>(
  lane: HeadLane<B>,
  tip: BlockRef,
  fork: BlockRef | null,
): Promise<ConvergeOutcome> {
  await lane.sink.revert(fork)
  lane.failpoint('head.revert.after')
  lane.observe?.({ type: 'reverted', tip, fork })
  return 'reverted'
}

/** Endpoints that have to give our block before another one's word against it is dropped. */
const WITNESSES = 2

/**
 * Blocks are taken back for another block, not for a word about one: it is fetched and proved
 * first. One endpoint that has it is enough, as one is enough for a block that is appended.
 * @param number height of the lowest one
 * @throws StaleAnswerError when what stands there is still ours
 */
async function assertReplaced<B extends Batch>(
  lane: HeadLane<B>,
  conflict: ReorgError,
  number: number,
  signal?: AbortSignal,
): Promise<void> {
  const range = { from: number, to: number }
  const ours = await lane.sink.refAt(number)
  const asked = new Set<string>()
  for (;;) {
    const { batch, endpoint } = await fetchVerified(lane, range, signal, asked)
    if (batch.refs[0]?.hash !== ours?.hash) return
    const saysBoth = asked.has(endpoint)
    // The only endpoint says both: its blocks come from a cache, and what it says of the chain is
    // newer. Where another one may be heard soon, that one is waited for.
    if (saysBoth && (lane.source.answering ?? 1) < WITNESSES) return
    asked.add(endpoint)
    if (saysBoth || asked.size >= WITNESSES) throw new StaleAnswerError(conflict)
  }
}

/**
 * One answer contradicted our tip, but the node still holds it: an endpoint is behind, or on a
 * branch it will leave.
 */
export class StaleAnswerError extends failure('StaleAnswerError', 'stale_answer', 'retry') {
  readonly blockNumber: number

  constructor(conflict: ReorgError) {
    super(`an answer for block ${conflict.theirs.number} is of a branch the node does not hold`, {
      cause: conflict,
    })
    this.blockNumber = conflict.theirs.number
  }
}

/** The chain has not come to the first block that is wanted of it. */
export class StartBlockAheadError extends failure('StartBlockAheadError', 'start_block_ahead', 'retry') {
  constructor(startBlock: number, head: number) {
    super(
      `START_BLOCK is ${startBlock}, but the newest block of the chain is ${head}: nothing is indexed before it is there`,
    )
  }
}
