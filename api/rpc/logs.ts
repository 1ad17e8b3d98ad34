/** eth_getLogs: a range that nobody has in full is an error, never a shorter list. */

import { MillraceError } from '#errors.ts'
import { sliceItems, textOf } from '#ingest/read/jsonSlices.ts'
import { quantity } from '#ingest/rpc/parse.ts'
import { isRecord } from '#primitives.ts'
import type { Clock } from '#runtime.ts'
import type { ChainState } from '#store/ledger/chainState.ts'
import { LOGS_MAX, readChainLogs } from '#store/read/rpc/logs.ts'
import { answered, type RpcOutcome } from './answer.ts'
import { ask, type RpcContext } from './context.ts'
import { RpcFailureError } from './failure.ts'
import { type LogFilter, type LogPlace, readLogFilter, readLogPlace, tooMuch } from './logFilter.ts'
import type { RpcCall } from './message.ts'

/** A block that is not there yet is waited for this long. */
const NEWER_BLOCK_MS = 2_000
const NEWER_PAUSE_MS = 100
/** Blocks above our tip that will be here in a moment; for later ones a node is asked at once. */
const NEARLY_HELD_BLOCKS = 8

export async function askLogs(call: RpcCall, context: RpcContext): Promise<RpcOutcome> {
  const [first] = sliceItems(call.params) ?? []
  const value: unknown = first ? JSON.parse(textOf(call.params, first)) : undefined
  const filter = readLogFilter(value)
  const place = await readLogPlace(value, filter, context.heights)
  await waitFor(place, context)
  const found = await logsFromStore(filter, place, context)
  if (found) return found
  const params = JSON.stringify([{ ...(isRecord(value) ? value : {}), ...placed(place) }])
  const height = place.by === 'range' ? place.to : -1
  const wish = { height, newest: place.by === 'hash' || place.isNewest, asksAll: false }
  return await ask({ ...call, params }, wish, context)
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
  filter: LogFilter,
  place: LogPlace,
  { stored, signal, clock }: RpcContext,
): Promise<RpcOutcome | null> {
  if (!stored) return null
  const { state, postgres, logsMax = LOGS_MAX } = stored
  try {
    if (place.by === 'range') await untilHeld(state, place.to, clock, signal)
    const found = await readChainLogs(postgres, state, filter, place, signal, logsMax)
    if (found.kind === 'uncovered') return null
    if (found.kind === 'tooMany') throw tooMuch(found.from, found.to, logsMax, `more than ${logsMax} logs`)
    return answered(JSON.stringify(found.logs.map(({ fields }) => fields)), 'store')
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof RpcFailureError) throw error
    if (error instanceof MillraceError) return null
    throw error
  }
}

const beyondHead = (head: number): RpcFailureError =>
  new RpcFailureError({
    code: -32000,
    message: `block range extends beyond current head block ${head}`,
  })

const placed = (place: LogPlace): object =>
  place.by === 'hash' ? {} : { fromBlock: quantity(place.from), toBlock: quantity(place.to) }
