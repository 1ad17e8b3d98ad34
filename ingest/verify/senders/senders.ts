/** Proves who sent the transactions of a block, as far as a sample goes. */

import type { RpcBlock, RpcTransaction } from '../../read/block.ts'
import { writeTransaction } from '../parts/transaction.ts'
import { RlpWriter } from '../tries/rlp.ts'
import type { BlockProof } from '../verifyBlock.ts'
import { SenderRefutedError } from './SenderRefutedError.ts'
import { recoverSender, statedSender } from './sender.ts'
import { isSampled, type SenderSample } from './senderSample.ts'

/**
 * Compares each `from` with what the signature states, which costs little, and of those in the
 * sample with who made the signature. The block's transactions must have been verified: a signature
 * says something of bytes that are the block's. Senders that cannot be recovered are left as they
 * are told. @throws SenderRefutedError
 */
export function assertSenders(
  { number, transactions }: RpcBlock,
  { unprovableTxs }: Pick<BlockProof, 'unprovableTxs'>,
  sample: SenderSample,
): void {
  transactions.forEach((tx, index) => {
    if (unprovableTxs > 0 && !hasOwnHash(tx)) return
    const stated = statedSender(tx)
    if (stated !== null && stated !== tx.from)
      throw new SenderRefutedError(Number(number), index, tx.from, stated)
    if (!isSampled(sample, tx.hash)) return
    const sender = recoverSender(tx)
    if (sender !== tx.from && sender !== 'unprovable')
      throw new SenderRefutedError(Number(number), index, tx.from, sender === 'nobody' ? null : sender)
  })
}

/** Verified with all others, or, where some could not be, once more by itself. */
function hasOwnHash(tx: RpcTransaction): boolean {
  writer.rewind(0)
  return writeTransaction(writer, tx) === 'own'
}

const writer = new RlpWriter()
