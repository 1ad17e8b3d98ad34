import { hash as digest } from 'node:crypto'
import type { Hash } from '#primitives.ts'

/** An event as its consumers know it: `evt_` and 64 hex digits. */
export type EventId = `evt_${string}`

/**
 * The id of an event: a pure function of the chain's content, so that a replay after a crash, a
 * second delivery and another installation give the same id, and a reorganized event another one.
 * No subscription is part of it.
 * @param type what happened, such as `token:transfer`; with a kind behind it where two events of a type
 * may have one index
 * @param indexInBlock the log's index in its block; for transactions theirs; 0 for the block itself
 */
export function eventId(chainId: number, blockHash: Hash, type: string, indexInBlock: number): EventId {
  return `evt_${digest('sha256', `${chainId}:${blockHash}:${type}:${indexInBlock}`, 'hex')}`
}
