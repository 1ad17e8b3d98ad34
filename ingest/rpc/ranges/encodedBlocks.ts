import { type BlockRange, blockCount } from '../../range.ts'
import type { EncodedBlock } from '../../verify/parts/encodedBlock.ts'
import type { CallAnswer, RpcClient } from '../client/client.ts'
import { rpcQuantity } from '../client/parse.ts'

/**
 * Blocks of a range as they were hashed; null where the node does not tell them, whatever its
 * reason, and where each call would be a request. @throws RpcError of the request as a whole
 */
export async function requestEncoded(
  client: RpcClient,
  range: BlockRange,
  batches: boolean,
  signal?: AbortSignal,
): Promise<readonly EncodedBlock[] | null> {
  if (!batches && blockCount(range) > 1) return null
  const numbers = Array.from({ length: blockCount(range) }, (_, k) => [rpcQuantity(range.from + k)])
  const calls = numbers.flatMap((params) => [
    { method: 'debug_getRawBlock', params },
    { method: 'debug_getRawReceipts', params },
  ])
  const answers = await client.callAll(calls, batches, signal)
  const blocks = numbers.map((_, k) => encodedBlock(answers[2 * k], answers[2 * k + 1]))
  return blocks.every((block) => block !== null) ? blocks : null
}

function encodedBlock(block: CallAnswer | undefined, receipts: CallAnswer | undefined): EncodedBlock | null {
  if (!block?.ok || !receipts?.ok || typeof block.result !== 'string') return null
  const list: unknown = receipts.result
  if (!Array.isArray(list) || !list.every((receipt) => typeof receipt === 'string')) return null
  return { block: block.result, receipts: list }
}
