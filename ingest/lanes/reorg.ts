import { failure } from '#errors.ts'
import type { BlockRef, Hash } from '#primitives.ts'
import type { HeadSink } from '../sink.ts'
import type { Source } from '../source.ts'

/** The block on which a chain may be continued. */
export interface Parent {
  readonly number: number
  readonly hash: string
}

/**
 * Asserts that `refs` continue `parent` (null: they may start anywhere) and each other.
 * @throws ReorgError when the first block has another parent than ours.
 * @throws BrokenRangeError when two neighbours inside the range do not link: the node changed its
 * mind between them.
 */
export function assertContinuous(parent: Parent | null, refs: readonly BlockRef[]): void {
  const [first] = refs
  if (parent && first) {
    if (first.number !== parent.number + 1) throw new BrokenRangeError(parent.number + 1, first.number)
    if (first.parentHash !== parent.hash) throw new ReorgError(parent, first)
  }
  for (const [index, ref] of refs.entries()) {
    const previous = refs[index - 1]
    if (!previous) continue
    if (ref.number !== previous.number + 1 || ref.parentHash !== previous.hash)
      throw new BrokenRangeError(previous.number + 1, ref.number)
  }
}

interface ForkSearch {
  readonly sink: Pick<HeadSink<never>, 'refAt' | 'finalized'>
  readonly source: Pick<Source, 'blockRef'>
  readonly signal?: AbortSignal | undefined
  /** The chain's certificates decide: no word of endpoints shows that a final block is another one. */
  readonly isProved?: boolean
}

export interface ForkPoint {
  /** The newest block that our lane and the node both hold; null when nothing of the lane is left. */
  readonly fork: BlockRef | null
  /** The lowest height of ours at which the node holds another block; above the tip for none. */
  readonly differs: number
}

/**
 * Where our lane and the node's chain part. The fork is `tip` itself when the node still has it. Two
 * chains that agree at a height agree below it, so the search gallops down in doubling steps and then
 * halves: a fork 128 deep costs some 14 questions instead of 128. A node that changes meanwhile can
 * only make the answer lower than necessary, never wrong, because the answer was compared by hash.
 * @param certified a block of ours that a certificate proves: whoever tells another one is wrong. One
 * below what is final says nothing of what lies between.
 * @throws FinalityViolationError when the node disagrees with a block we hold as final;
 * FinalContradictedError where certificates decide.
 * @throws NodeBehindError when the node has no block at our finalized height.
 */
export async function findForkPoint(
  tip: Pick<BlockRef, 'number'>,
  search: ForkSearch,
  certified: BlockRef | null = null,
): Promise<ForkPoint> {
  const final = Math.min(await search.sink.finalized(), tip.number)
  const floor = Math.max(final, certified?.number ?? -1)
  let common = certified?.number === floor ? certified : await assertFinalHolds(floor, search)
  let agreed = floor
  let differs = tip.number + 1
  let galloping = true
  for (let step = 1; differs > agreed + 1; step *= 2) {
    const number = galloping
      ? Math.max(agreed + 1, tip.number + 1 - step)
      : Math.floor((agreed + differs) / 2)
    const ours = await search.sink.refAt(number)
    if (ours && !(await nodeHolds(ours, search))) {
      differs = number
    } else {
      agreed = number
      common = ours
      galloping = false
    }
  }
  return { fork: common, differs }
}

/**
 * Stopping a chain is loud, and history is loaded again at a price; a stray answer of a balanced
 * endpoint, or two, must do neither.
 */
const CONTRADICTIONS_MAX = 3

/**
 * Asserts that the node still holds our final block at `number`, and answers it; null when we hold
 * none there, and so nothing that it could disagree with.
 * @throws FinalityViolationError when it disagrees each time it is asked, and not one of several
 * endpoints alone; FinalContradictedError instead where certificates decide.
 * @throws NodeBehindError when it has no block at that height.
 */
export async function assertFinalHolds(
  number: number,
  { sink, source, signal, isProved = false }: ForkSearch,
): Promise<BlockRef | null> {
  const ours = number < 0 ? null : await sink.refAt(number)
  if (!ours) return null
  const theirHash = await findContradiction(ours, { source, signal })
  if (theirHash !== null && isProved) throw new FinalContradictedError(ours, theirHash)
  if (theirHash !== null) throw new FinalityViolationError(ours, theirHash)
  return ours
}

/**
 * The node's other hash at the height of a block of ours, when it gives another each time it is
 * asked; null otherwise.
 * @throws NodeBehindError when it has no block at that height; ContradictedAloneError when one
 * endpoint alone holds another block there.
 */
export async function findContradiction(
  ours: Parent,
  { source, signal }: Pick<ForkSearch, 'source' | 'signal'>,
): Promise<Hash | null> {
  for (let contradictions = 1; ; contradictions++) {
    const theirs = await source.blockRef(ours.number, signal, ours.hash)
    if (!theirs) throw new NodeBehindError(ours.number)
    if (theirs.hash === ours.hash) return null
    if (contradictions >= CONTRADICTIONS_MAX) return theirs.hash
  }
}

async function nodeHolds(ours: BlockRef, { source, signal }: ForkSearch): Promise<boolean> {
  const theirs = await source.blockRef(ours.number, signal)
  return theirs?.hash === ours.hash
}

/** The node's chain no longer contains the block we hold at `ours.number`. */
export class ReorgError extends failure('ReorgError', 'reorg', 'revert') {
  /** The block of ours that the new chain disagrees with. */
  readonly ours: Parent
  /** The node's block at that height, or the one that should have been its child. */
  readonly theirs: BlockRef

  constructor(ours: Parent, theirs: BlockRef) {
    super(
      theirs.number === ours.number
        ? `the node holds ${theirs.hash} at block ${ours.number}, we hold ${ours.hash}`
        : `block ${theirs.number} has parent ${theirs.parentHash}, but we hold ${ours.hash}`,
    )
    this.ours = ours
    this.theirs = theirs
  }
}

/** Neighbouring blocks of one answer do not link. Asking again gives one branch or the other. */
export class BrokenRangeError extends failure('BrokenRangeError', 'broken_range', 'retry') {
  readonly blockNumber: number

  constructor(expected: number, received: number) {
    super(
      expected === received
        ? `block ${received} does not link to the block before it in the same answer`
        : `expected block ${expected}, received block ${received}`,
    )
    this.blockNumber = expected
  }
}

/**
 * The node has no block where it once had a final one: it is syncing, or another node answers now.
 */
export class NodeBehindError extends failure('NodeBehindError', 'node_behind', 'retry') {
  readonly blockNumber: number

  constructor(blockNumber: number) {
    super(`the node has no block ${blockNumber}, which was final`)
    this.blockNumber = blockNumber
  }
}

/**
 * The node replaced a block it had called final. Nothing is deleted; a person decides (`repair
 * --accept-reorg`).
 */
export class FinalityViolationError extends failure('FinalityViolationError', 'finality_violated', 'stop') {
  /** Our finalized block. */
  readonly ours: BlockRef
  readonly theirHash: Hash

  constructor(ours: BlockRef, theirHash: Hash) {
    super(`block ${ours.number} was final as ${ours.hash}, and the node now holds ${theirHash} there`)
    this.ours = ours
    this.theirHash = theirHash
  }
}

/**
 * Endpoints tell another block than a final one of ours, above the newest certificate of the chain. The
 * next certificate says who is right.
 */
export class FinalContradictedError extends failure('FinalContradictedError', 'final_contradicted', 'retry') {
  readonly blockNumber: number

  constructor({ number, hash }: BlockRef, theirHash: Hash) {
    super(
      `block ${number} is final as ${hash}, endpoints tell ${theirHash}, and no certificate is as new as it`,
    )
    this.blockNumber = number
  }
}
