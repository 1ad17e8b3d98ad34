import { failure } from '#errors.ts'
import { SourceError } from '../rpc/client/errors.ts'
import type { Batch } from '../sink.ts'
import type { ChainHead } from '../source.ts'
import { type Fetcher, fetchVerified } from './fetchVerified.ts'

/**
 * Fetches and verifies the block that finality was concluded from. A height alone may be that of
 * another chain; where the lane begins, and what becomes history, is decided by a block that was
 * seen.
 * @throws UnprovedFinalityError when another block stands there or the word counts no more, and whatever
 * fetching it throws
 */
export async function proveFinality<B extends Batch>(
  fetcher: Fetcher<B>,
  target: ChainHead,
  signal?: AbortSignal,
): Promise<void> {
  const { finalized, finalizedBy, toldBy, isProved } = target
  // Before the first block there is nothing to be sent past.
  if (finalized <= 0) return
  const { number, hash } = finalizedBy
  const [held] = await refsOf(fetcher, number, isProved ? undefined : toldBy?.finalized, signal)
  if (fetcher.source.grants?.(target) === false) throw new UnprovedFinalityError(number)
  if (held?.number === number && held.hash === hash) return
  if (isProved) {
    await fetcher.source.leaveOutOthers?.(finalizedBy, signal)
    throw new UnprovedFinalityError(number)
  }
  // A head that finality was counted from may be replaced meanwhile.
  if (number === finalized && toldBy) fetcher.source.reportRefuted(toldBy.finalized)
  throw new UnprovedFinalityError(number)
}

/**
 * The block as the node gives it. An endpoint that calls a block final and does not have it is
 * refuted: its word would be held for good, and no block would ever prove it.
 */
async function refsOf<B extends Batch>(
  fetcher: Fetcher<B>,
  number: number,
  toldBy: string | undefined,
  signal: AbortSignal | undefined,
): Promise<Batch['refs']> {
  try {
    const { batch } = await fetchVerified(fetcher, { from: number, to: number }, signal)
    return batch.refs
  } catch (error) {
    if (!(error instanceof SourceError) || error.failure !== 'block_missing') throw error
    if (toldBy) fetcher.source.reportRefuted(toldBy)
    throw new UnprovedFinalityError(number, { cause: error })
  }
}

/** The block that finality was concluded from is not the one that the node gives for its height. */
export class UnprovedFinalityError extends failure('UnprovedFinalityError', 'finality_unproved', 'retry') {
  readonly blockNumber: number

  constructor(blockNumber: number, options?: ErrorOptions) {
    super(
      `block ${blockNumber}, which finality was concluded from, is another one or none when it is fetched`,
      options,
    )
    this.blockNumber = blockNumber
  }
}
