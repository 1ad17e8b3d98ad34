/** eth_getLogs: a range that nobody has in full is an error, never a shorter list. */
import { sliceItems, textOf } from '#ingest/read/jsonSlices.ts'
import { quantity } from '#ingest/rpc/parse.ts'
import { isRecord } from '#primitives.ts'
import type { RpcOutcome } from './answer.ts'
import { ask, type RpcContext } from './context.ts'
import { RpcFailureError } from './failure.ts'
import { type LogPlace, readLogFilter, readLogPlace } from './logFilter.ts'
import type { RpcCall } from './message.ts'

/** A block that is not there yet is waited for this long. */
const NEWER_BLOCK_MS = 2_000
const NEWER_PAUSE_MS = 100

export async function askLogs(call: RpcCall, context: RpcContext): Promise<RpcOutcome> {
  const [first] = sliceItems(call.params) ?? []
  const value: unknown = first ? JSON.parse(textOf(call.params, first)) : undefined
  const filter = readLogFilter(value)
  const place = await readLogPlace(value, filter, context.heights)
  await waitFor(place, context)
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

const beyondHead = (head: number): RpcFailureError =>
  new RpcFailureError({
    code: -32000,
    message: `block range extends beyond current head block ${head}`,
  })

const placed = (place: LogPlace): object =>
  place.by === 'hash' ? {} : { fromBlock: quantity(place.from), toBlock: quantity(place.to) }
