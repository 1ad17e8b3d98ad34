import { failure } from '#errors.ts'
import type { BlockRef, Hash } from '#primitives.ts'
import type { HeadSink } from '../sink.ts'
import type { Source } from '../source.ts'
import { FinalityViolationError } from './reorg.ts'

interface CertifiedSearch {
  readonly sink: Pick<HeadSink<never>, 'refAt'>
  readonly source: Pick<Source, 'certified' | 'certifiedBlocks'>
  /** Up to here our blocks are final. */
  readonly final: number
  readonly signal?: AbortSignal | undefined
}

export interface CertifiedFork {
  /** The newest block of ours that the certificate covers; null when nothing of the lane is left. */
  readonly fork: BlockRef | null
  /** Its child on the certified branch; null where the fork is the certified block itself. */
  readonly next: BlockRef | null
}

/** Headers that one search asks for at most: an epoch of Tempo. */
export const CERTIFIED_WALK_MAX = 21_600

/**
 * The fork of our blocks from the branch of a certificate. Each header on the way down is the one that its
 * child names by hash, so no endpoint has a say in it.
 * @throws FinalityViolationError where a block that was final here is on another branch;
 * FinalityEquivocatedError where a certificate proves ours, too; CertifiedBranchMissingError where no
 * endpoint has a header of the branch
 */
export async function findCertifiedFork(
  tip: Pick<BlockRef, 'number'>,
  certified: BlockRef,
  search: CertifiedSearch,
): Promise<CertifiedFork> {
  const { sink, final } = search
  let ref = certified
  let next: BlockRef | null = null
  for (let steps = 0; steps <= CERTIFIED_WALK_MAX; steps++) {
    if (ref.number <= tip.number) {
      const ours = await sink.refAt(ref.number)
      if (ours?.hash === ref.hash) return { fork: ours, next }
      if (ours && ref.number <= final) {
        await assertNotCertified(certified, ref, search)
        throw new FinalityViolationError(ours, ref.hash)
      }
      if (!ours || ref.number === 0) return { fork: null, next: ref }
    }
    next = ref
    ref = await headerOf(ref.parentHash, search)
  }
  throw new CertifiedBranchMissingError(ref.hash)
}

/**
 * A certificate of a final block of ours that is no ancestor of this one contradicts this one's: then the
 * chain's signers are to blame, and not who told us what is final.
 * @param theirs ancestor of the certified block at a height at which we hold another one
 */
async function assertNotCertified(
  certified: BlockRef,
  theirs: BlockRef,
  search: CertifiedSearch,
): Promise<void> {
  const ours = await certifiedOfOurs(search)
  if (!ours) return
  let ref = theirs
  for (let steps = 0; ref.number > ours.number; steps++) {
    if (steps > CERTIFIED_WALK_MAX) throw new CertifiedBranchMissingError(ref.hash)
    ref = await headerOf(ref.parentHash, search)
  }
  if (ref.hash === ours.hash) return
  search.source.certifiedBlocks?.part(ours, certified)
  throw new FinalityEquivocatedError(ours, certified)
}

/** The newest final block that we hold and a certificate proves. */
async function certifiedOfOurs({ sink, source, final }: CertifiedSearch): Promise<BlockRef | null> {
  const blocks = (source.certifiedBlocks?.blocks ?? []).filter(({ number }) => number <= final)
  for (const { number, hash } of blocks.toSorted((a, b) => b.number - a.number)) {
    const ours = await sink.refAt(number)
    if (ours?.hash === hash) return ours
  }
  return null
}

async function headerOf(
  hash: Hash,
  { source, signal }: Pick<CertifiedSearch, 'source' | 'signal'>,
): Promise<BlockRef> {
  const header = await source.certified?.(hash, signal)
  if (!header) throw new CertifiedBranchMissingError(hash)
  return header
}

/** No endpoint has an ancestor of a block that a certificate proves, or it is too far away. */
export class CertifiedBranchMissingError extends failure(
  'CertifiedBranchMissingError',
  'certified_branch_missing',
  'retry',
) {
  constructor(hash: Hash) {
    super(`block ${hash} of the branch that a certificate proves is not served`)
  }
}

/** Certificates prove two blocks of which neither descends from the other. Finality ends below both. */
export class FinalityEquivocatedError extends failure(
  'FinalityEquivocatedError',
  'finality_equivocated',
  'retry',
) {
  constructor(ours: BlockRef, theirs: BlockRef) {
    super(
      `certificates prove block ${ours.number} ${ours.hash}, and block ${theirs.number} ${theirs.hash} that does not descend from it`,
    )
  }
}
