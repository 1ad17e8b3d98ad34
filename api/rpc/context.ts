/** The context of every way of answering a call, and the way of most: ask the pool. */

import type { Caller } from '#http/request/access.ts'
import type { SharedReads } from '#http/SharedReads.ts'
import { sliceMembers, sliceText } from '#ingest/read/json/jsonSlices.ts'
import type { Relay, RelayWish } from '#ingest/relay/Relay.ts'
import type { RelayAnswer } from '#ingest/relay/relayAnswer.ts'
import type { AppDatabase } from '#rows/database.ts'
import type { Clock } from '#runtime/runtime.ts'
import type { ChainState } from '#store/ledger/ChainState.ts'
import type { Postgres } from '#store/postgres.ts'
import type { RpcOutcome } from './answer.ts'
import { type Heights, numberOf } from './blocks.ts'
import type { KeptAnswers } from './KeptAnswers.ts'
import type { JsonRpcRequest } from './message.ts'

/** The stores of a chain. */
export interface StoredChain {
  readonly postgres: Postgres
  readonly state: ChainState
  /** Logs of one answer, where it is not the usual bound. */
  readonly logsMax?: number
}

export interface RpcContext {
  readonly relay: Relay
  /** Null where nothing is stored. */
  readonly stored: StoredChain | null
  /** The database that keeps filters; null if none are kept. */
  readonly filters: AppDatabase | null
  readonly kept: KeptAnswers
  /** Equal reads under way are one. */
  readonly underWay: SharedReads<RpcOutcome>
  /** The same for the store; null where it does not hold what is asked for. */
  readonly storeReads: SharedReads<RpcOutcome | null>
  readonly heights: Heights
  readonly caller: Caller
  readonly clock: Clock
  readonly signal: AbortSignal
}

/**
 * @param names the member in which an answer names its block; one that names a block which no
 * endpoint is believed to have is asked elsewhere
 * @param above blocks that it may stand above the newest one
 */
export async function ask(
  { method, params }: Pick<JsonRpcRequest, 'method' | 'params'>,
  wish: RelayWish,
  { relay, signal, underWay }: RpcContext,
  names?: 'number' | 'blockNumber',
  above = 0,
): Promise<RpcOutcome> {
  const admits = async (answer: RelayAnswer) => {
    const height = names && answer.ok ? memberHeight(answer.text, names) : null
    return height === null || (await relay.admits(height - above))
  }
  // Not with a read that began before the newest block that its client was told of.
  const key = `${wish.newest ? relay.view.shown : wish.height} ${wish.asksAll} ${method} ${params}`
  return underWay.join(key, signal, async (together) => {
    const answer = await relay.ask({ method, params }, { ...wish, ...(names && { admits }) }, together)
    const { text } = answer
    return answer.ok
      ? { kind: 'result', text, source: 'node' }
      : { kind: 'error', text, source: 'node', failure: answer.failure }
  })
}

/** Whether the text of a result is a block of this hash, or null. */
export function isOfHash(text: string, hash: string): boolean {
  if (text === 'null') return true
  const slice = sliceMembers(text)?.get('hash')
  return slice !== undefined && sliceText(text, slice).slice(1, -1).toLowerCase() === hash
}

/** The height that a result names in a member. */
export function heightIn({ kind, text }: RpcOutcome, member: string): number | null {
  return kind === 'result' ? memberHeight(text, member) : null
}

function memberHeight(text: string, member: string): number | null {
  const slice = sliceMembers(text)?.get(member)
  return slice ? numberOf(sliceText(text, slice).slice(1, -1)) : null
}
