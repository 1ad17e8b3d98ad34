import { failure } from '#errors.ts'
import type { BlockRef, Hash } from '#primitives.ts'
import type { HeadSink } from '../sink.ts'
import type { Source } from '../source.ts'
import { FinalityViolationError } from './reorg.ts'

interface CertifiedSearch {
  readonly sink: Pick<HeadSink<never>, 'refAt'>
  readonly source: Pick<Source, 'certified'>
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
 * CertifiedBranchMissingError where no endpoint has a header of the branch
 */
export async function findCertifiedFork(
  tip: Pick<BlockRef, 'number'>,
  certified: BlockRef,
  { sink, source, final, signal }: CertifiedSearch,
): Promise<CertifiedFork> {
  let ref = certified
  let next: BlockRef | null = null
  for (let steps = 0; steps <= CERTIFIED_WALK_MAX; steps++) {
    if (ref.number <= tip.number) {
      const ours = await sink.refAt(ref.number)
      if (ours?.hash === ref.hash) return { fork: ours, next }
      if (ours && ref.number <= final) throw new FinalityViolationError(ours, ref.hash)
      if (!ours || ref.number === 0) return { fork: null, next: ref }
    }
    next = ref
    ref = await headerOf(ref.parentHash, { source, signal })
  }
  throw new CertifiedBranchMissingError(ref.hash)
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
