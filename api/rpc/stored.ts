/**
 * Answers from our stores: blocks, transactions and receipts that are final and held, and logs of
 * all that is held. They were proved against their headers, and their fields are the node's own.
 */
import { MillraceError } from '#errors.ts'
import { rpcQuantity } from '#ingest/rpc/client/parse.ts'
import { findBlock } from '#store/read/blocks.ts'
import { readBlockTxs } from '#store/read/rpc/blockTxs.ts'
import { readTxByHash } from '#store/read/rpc/txByHash.ts'
import { answered, type RpcOutcome } from './answer.ts'
import { numberOf } from './blocks.ts'
import type { RpcContext, StoredChain } from './context.ts'
import type { JsonRpcRequest } from './message.ts'

/** A final block that is held, or null: then a node is asked. */
export function blockFromStore(
  method: string,
  params: string,
  height: number | null,
  context: RpcContext,
): Promise<RpcOutcome | null> {
  return orNode({ method, params }, context, async (chain, signal) => {
    const { state, postgres } = chain
    const [hash, second]: unknown[] = JSON.parse(params)
    if (height !== null && !isHeld(chain, height)) return null
    const selector =
      height === null
        ? typeof hash === 'string' &&
          /^0x[0-9a-f]{64}$/i.test(hash) && { by: 'hash' as const, hash: hash.toLowerCase() }
        : { by: 'number' as const, number: height }
    if (!selector) return null
    const found = await findBlock(postgres, state, selector, signal)
    if (!found?.final) return null
    const number = Number(found.row.num)
    const hashes = Array.isArray(found.rpc['transactions']) ? found.rpc['transactions'] : []
    const txs = (indexes: readonly number[]) => readBlockTxs(postgres, state, number, indexes, signal)
    switch (method) {
      case 'eth_getBlockByNumber':
      case 'eth_getBlockByHash': {
        if (second !== undefined && typeof second !== 'boolean') return null
        if (second !== true) return JSON.stringify(found.rpc)
        const full = await txs(hashes.map((_hash, index) => index))
        return JSON.stringify({ ...found.rpc, transactions: full.map(({ transaction }) => transaction) })
      }
      case 'eth_getBlockReceipts':
        return `[${(await txs(hashes.map((_hash, index) => index))).map(({ receiptText }) => receiptText).join()}]`
      case 'eth_getBlockTransactionCountByHash':
      case 'eth_getBlockTransactionCountByNumber':
        return `"${rpcQuantity(hashes.length)}"`
      case 'eth_getTransactionByBlockHashAndIndex':
      case 'eth_getTransactionByBlockNumberAndIndex': {
        const index = numberOf(second)
        if (index === null || index >= hashes.length) return null
        return (await txs([index]))[0]?.transactionText ?? null
      }
      default:
        return null
    }
  })
}

/** A transaction, or its receipt, in a final block. */
export function transactionFromStore(
  call: Pick<JsonRpcRequest, 'method' | 'params'>,
  context: RpcContext,
): Promise<RpcOutcome | null> {
  return orNode(call, context, async ({ postgres, state }, signal) => {
    const [hash]: unknown[] = JSON.parse(call.params)
    if (typeof hash !== 'string' || !/^0x[0-9a-f]{64}$/i.test(hash)) return null
    const found = await readTxByHash(postgres, state, hash.toLowerCase(), signal)
    if (!found?.final) return null
    const { receiptText, transactionText } = found.archived
    return call.method === 'eth_getTransactionReceipt' ? receiptText : transactionText
  })
}

/** Whether a block is final and held. */
export const isHeld = ({ state }: StoredChain, height: number): boolean => state.final.has(height)

/**
 * Reads the JSON of an answer; equal reads of one state of the chain are one. A store that does not
 * answer is no reason for a call to fail.
 */
export async function orNode(
  { method, params }: Pick<JsonRpcRequest, 'method' | 'params'>,
  { stored, signal, storeReads }: RpcContext,
  read: (chain: StoredChain, signal: AbortSignal) => Promise<string | null>,
): Promise<RpcOutcome | null> {
  if (!stored) return null
  const { seq, tip, finalized } = stored.state
  try {
    return await storeReads.join(
      `${seq} ${tip} ${finalized} ${method} ${params}`,
      signal,
      async (together) => {
        const text = await read(stored, together)
        return text === null ? null : answered(text, 'store')
      },
    )
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof MillraceError) return null
    throw error
  }
}
