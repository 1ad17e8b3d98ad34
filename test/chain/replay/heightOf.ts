/** Blocks as callers name them. */
import { isRecord } from '#primitives.ts'
import type { ReplayedNode } from './replayedNode.ts'
import { RpcError } from './rpcError.ts'

/**
 * The height of a tag, number or hash, or of `{"blockNumber"}` or `{"blockHash"}`; undefined where
 * the node has no such block. @throws RpcError for what names no block.
 */
export function heightOf(node: ReplayedNode, block: unknown): number | undefined {
  const { recording, head } = node
  if (block === undefined || block === 'latest' || block === 'pending') return head
  if (block === 'safe' || block === 'finalized') return node.finalized
  if (block === 'earliest') return recording.first
  const { blockHash, blockNumber = block } = isRecord(block) ? block : {}
  const hash = blockHash ?? (isHash(block) ? block : undefined)
  if (hash !== undefined) return recording.heightOf(String(hash).toLowerCase(), head)
  const height = typeof blockNumber === 'object' ? Number.NaN : Number(blockNumber)
  if (!Number.isSafeInteger(height) || height < 0)
    throw new RpcError(-32602, `invalid block ${JSON.stringify(block)}`)
  return height >= recording.first && height <= head ? height : undefined
}

const isHash = (block: unknown) => typeof block === 'string' && block.length === 66
