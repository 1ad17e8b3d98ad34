import { MillraceError } from '#errors.ts'
import type { Batch } from '../sink.ts'
import type { ChainHead } from '../source.ts'
import { type Fetcher, fetchVerified } from './fetchVerified.ts'

/**
 * Fetches and verifies the block that finality was concluded from. A height alone may be that of
 * another chain; where the lane begins, and what becomes history, is decided by a block that was
 * seen.
 * @throws UnprovedFinalityError when another block stands there, and whatever fetching it throws
 */
export async function proveFinality<B extends Batch>(
  fetcher: Fetcher<B>,
  { finalized, finalizedBy, toldBy }: ChainHead,
  signal?: AbortSignal,
): Promise<void> {
  // Before the first block there is nothing to be sent past.
  if (finalized <= 0) return
  const { number, hash } = finalizedBy
  const { batch } = await fetchVerified(fetcher, { from: number, to: number }, signal)
  const [held] = batch.refs
  if (held?.number === number && held.hash === hash) return
  // A head that finality was counted from may be replaced meanwhile.
  if (number === finalized && toldBy) fetcher.source.reportRefuted(toldBy.finalized)
  throw new UnprovedFinalityError(number)
}

/** The block that finality was concluded from is not the one that the node gives for its height. */
export class UnprovedFinalityError extends MillraceError {
  override readonly name = 'UnprovedFinalityError'
  readonly code = 'finality_unproved'
  readonly remedy = 'retry'
  readonly blockNumber: number

  constructor(blockNumber: number) {
    super(`block ${blockNumber}, which finality was concluded from, is another one when it is fetched`)
    this.blockNumber = blockNumber
  }
}
