/** What every way of answering a call is given, and the way of most: ask the pool. */
import { sliceMembers, textOf } from '#ingest/read/jsonSlices.ts'
import type { Relay, RelayWish } from '#ingest/rpc/relay.ts'
import type { Clock } from '#runtime.ts'
import type { Caller } from '../http/access.ts'
import type { RpcOutcome } from './answer.ts'
import { type Heights, numberOf } from './blocks.ts'
import type { RpcCall } from './message.ts'

export interface RpcContext {
  readonly relay: Relay
  readonly heights: Heights
  readonly caller: Caller
  readonly clock: Clock
  readonly signal: AbortSignal
}

export async function ask(
  { method, params }: Pick<RpcCall, 'method' | 'params'>,
  wish: RelayWish,
  { relay, signal }: RpcContext,
): Promise<RpcOutcome> {
  const { ok, text } = await relay.ask({ method, params }, wish, signal)
  return { kind: ok ? 'result' : 'error', text, source: 'node' }
}

/** The height that a result names in a member. */
export function heightIn({ kind, text }: RpcOutcome, member: string): number | null {
  const slice = kind === 'result' ? sliceMembers(text)?.get(member) : undefined
  return slice ? numberOf(textOf(text, slice).slice(1, -1)) : null
}
