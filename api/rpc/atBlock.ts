/** Calls about a block, its content, or the chain's state there. */
import { sliceItems, sliceText } from '#ingest/read/json/jsonSlices.ts'
import type { RelayWish } from '#ingest/relay/Relay.ts'
import type { RelayAnswer } from '#ingest/relay/relayAnswer.ts'
import { rpcQuantity } from '#ingest/rpc/client/parse.ts'
import { answered, type RpcOutcome } from './answer.ts'
import { byHash, newest, type PlacedCall, placeCall } from './blocks.ts'
import { ask, heightIn, isOfHash, type RpcContext } from './context.ts'
import { internalError, RpcFailureError } from './failure.ts'
import type { JsonRpcRequest } from './message.ts'
import type { RpcMethod } from './methods.ts'
import { blockFromStore, isHeld, transactionFromStore } from './stored.ts'

export async function askAtBlock(
  call: JsonRpcRequest,
  method: RpcMethod,
  context: RpcContext,
): Promise<RpcOutcome> {
  const isHeader = method.name === 'eth_getBlockByNumber'
  // A node's newest block tells its height itself; of what is in a block, not all answers do.
  const pins = method.class === 'block' && !isHeader
  const placed = await placeCall(call.params, method.block ?? 0, context.heights, pins)
  const { params, wish, height } = placed
  if (method.class === 'block') {
    const found = await blockFromStore(method.name, params, height, context)
    if (found) return found
  }
  if (method.keeps) return await unpinned(call, placed, await askKept(call, placed, context), context)
  const isNamedByHash = method.class === 'block' && height === null && !isHeader
  if (isHeader && height === null) return await askNewest(call, context)
  const hash = isHeader ? finalHash(height, context) : null
  if (hash !== null) return await askOfHash({ ...call, params }, wish, hash, context)
  const outcome = await ask({ ...call, params }, isNamedByHash ? byHash : wish, context)
  return await unpinned(call, placed, outcome, context)
}

/** Hash of the newest final block where that has this height, and certificates decide of it. */
const finalHash = (height: number | null, { stored }: RpcContext): string | null =>
  stored && height === stored.state.finalized ? stored.state.finalizedHash : null

/** The store did not answer: a node may, but with no other block than ours. */
async function askOfHash(
  call: Pick<JsonRpcRequest, 'method' | 'params'>,
  wish: RelayWish,
  hash: string,
  context: RpcContext,
): Promise<RpcOutcome> {
  const admits = async ({ ok, text }: RelayAnswer) => !ok || isOfHash(text, hash)
  const outcome = await ask(call, { ...wish, admits }, context)
  if (outcome.kind === 'result' && !isOfHash(outcome.text, hash)) throw new RpcFailureError(internalError())
  return outcome
}

/**
 * A node that keeps no state but the newest may have none of a block that was the newest a moment
 * ago. The client asked for the newest, so it gets that.
 */
async function unpinned(
  call: JsonRpcRequest,
  { height, wish }: PlacedCall,
  outcome: RpcOutcome,
  context: RpcContext,
): Promise<RpcOutcome> {
  const wasPinned = height !== null && wish.newest
  const isGone = outcome.failure === 'pruned' || outcome.failure === 'block_missing'
  return wasPinned && isGone ? await ask(call, newest, context) : outcome
}

/** The state of a final block is asked for once. */
async function askKept(
  call: JsonRpcRequest,
  { params, wish, height }: PlacedCall,
  context: RpcContext,
): Promise<RpcOutcome> {
  const { kept, stored } = context
  const isFinal = stored !== null && height !== null && isHeld(stored, height)
  if (!isFinal) return await ask({ ...call, params }, wish, context)
  const key = `${call.method} ${params}`
  const known = kept.get(key)
  if (known !== undefined) return answered(known, 'node')
  const outcome = await ask({ ...call, params }, wish, context)
  if (outcome.kind === 'result') kept.keep(key, outcome.text)
  return outcome
}

/**
 * The newest block, or the pending one above it. Behind one address several nodes may answer, of
 * which one is behind; another may stand on a block that nobody else knows of.
 */
async function askNewest(call: JsonRpcRequest, context: RpcContext): Promise<RpcOutcome> {
  const { view } = context.relay
  if (!isLatest(call.params)) return await ask(call, newest, context, 'number', 1)
  const outcome = await ask(call, newest, context, 'number')
  const told = heightIn(outcome, 'number')
  return told === null || told === view.shown
    ? outcome
    : await ask(atShown(call, view.shown), newest, context)
}

const isLatest = (params: string): boolean => /^\s*\[\s*("latest"|null|[,\]])/.test(params)

function atShown(call: JsonRpcRequest, height: number): JsonRpcRequest {
  const [, ...others] = (sliceItems(call.params) ?? []).map((item) => sliceText(call.params, item))
  return { ...call, params: `[${[`"${rpcQuantity(height)}"`, ...others].join(',')}]` }
}

/** A block that a client read of in a receipt is there for its next call. */
export async function askTransaction(call: JsonRpcRequest, context: RpcContext): Promise<RpcOutcome> {
  const found = await transactionFromStore(call, context)
  if (found) return found
  const wish = call.method === 'eth_getTransactionByHash' ? byHash : newest
  return await ask(call, wish, context, 'blockNumber')
}
