/** eth_getLogs: a range that nobody has in full is an error, never a shorter list. */
import { sliceItems, sliceText } from '#ingest/read/json/jsonSlices.ts'
import { rpcQuantity } from '#ingest/rpc/client/parse.ts'
import { isRecord } from '#primitives.ts'
import type { Clock } from '#runtime/runtime.ts'
import type { ChainState } from '#store/ledger/ChainState.ts'
import { LOGS_MAX, readChainLogs } from '#store/read/rpc/logs.ts'
import type { RpcOutcome } from './answer.ts'
import { atHeight, byHash } from './blocks.ts'
import { ask, heightIn, type RpcContext } from './context.ts'
import { RpcFailureError } from './failure.ts'
import { type LogFilter, type LogPlace, readLogFilter, readLogPlace, tooMuch } from './logFilter.ts'
import type { JsonRpcRequest } from './message.ts'
import { orNode } from './stored.ts'

/** A block that is not there yet is waited for this long. */
const NEWER_BLOCK_MS = 2_000
const NEWER_PAUSE_MS = 100
/** Blocks above our tip that will be here in a moment; for later ones a node is asked at once. */
const NEARLY_HELD_BLOCKS = 8

export async function askLogs(call: JsonRpcRequest, context: RpcContext): Promise<RpcOutcome> {
  const [first] = sliceItems(call.params) ?? []
  const value: unknown = first ? JSON.parse(sliceText(call.params, first)) : undefined
  const filter = readLogFilter(value)
  const place = await readLogPlace(value, filter, context.heights)
  await waitFor(place, context)
  const found = await logsFromStore(call, filter, place, context)
  if (found) return found
  const params = JSON.stringify([{ ...(isRecord(value) ? value : {}), ...placed(place) }])
  const wish =
    place.by === 'range'
      ? { ...atHeight(place.to), newest: place.isNewest }
      : atHeight(await heightOfHash(place.hash, context))
  return await ask({ ...call, params }, wish, context)
}

/** Some nodes have no logs of a block that they do not know. @throws RpcFailureError */
async function heightOfHash(hash: string, context: RpcContext): Promise<number> {
  const call = { method: 'eth_getBlockByHash', params: JSON.stringify([hash, false]) }
  const height = heightIn(await ask(call, byHash, context), 'number')
  if (height === null) throw new RpcFailureError({ code: -32000, message: 'unknown block' })
  return height
}

/** @throws RpcFailureError where the range ends above the chain's head */
async function waitFor(place: LogPlace, { relay, clock, signal }: RpcContext): Promise<void> {
  if (place.by === 'hash' || place.isNewest) return
  const untilMs = clock.monotonic() + NEWER_BLOCK_MS
  while (place.to > relay.view.shown) {
    if (place.to <= (await relay.head())) return
    if (clock.monotonic() >= untilMs) throw beyondHead(relay.view.shown)
    await clock.sleep(NEWER_PAUSE_MS, signal)
  }
}

/** Resolves when the block is held, or has had its time to come. */
export async function untilHeld(
  state: ChainState,
  block: number,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  if (state.tip >= block || state.tip < block - NEARLY_HELD_BLOCKS) return
  const late = new AbortController()
  const ended = AbortSignal.any([signal, late.signal])
  const end = () => late.abort()
  clock.sleep(NEWER_BLOCK_MS, ended).then(end, end)
  await state.waitForBlock(block, clock, ended).catch(() => {})
  late.abort()
}

/** All that the stores hold of the range, or null where they do not hold all of it. */
async function logsFromStore(
  { method }: JsonRpcRequest,
  filter: LogFilter,
  place: LogPlace,
  context: RpcContext,
): Promise<RpcOutcome | null> {
  const { stored, clock, signal } = context
  if (!stored) return null
  if (place.by === 'range') await untilHeld(stored.state, place.to, clock, signal)
  const params = JSON.stringify([filter, place])
  return orNode({ method, params }, context, async ({ state, postgres, logsMax = LOGS_MAX }, together) => {
    const found = await readChainLogs(postgres, state, filter, place, together, logsMax)
    if (found.kind === 'uncovered') return null
    if (found.kind === 'tooMany') throw tooMuch(found.from, found.to, logsMax, `more than ${logsMax} logs`)
    return `[${found.logs.map(({ text }) => text).join(',')}]`
  })
}

const beyondHead = (head: number): RpcFailureError =>
  new RpcFailureError({
    code: -32000,
    message: `block range extends beyond current head block ${head}`,
  })

const placed = (place: LogPlace): object =>
  place.by === 'hash' ? {} : { fromBlock: rpcQuantity(place.from), toBlock: rpcQuantity(place.to) }
