/**
 * Transactions that are in no block of ours, asked of a node. Anybody can make up hashes: so look-ups
 * are counted. Nothing is remembered: a hash that is unknown now may be mined the next moment.
 */

import type { Allowance } from '#http/request/access.ts'
import { SharedReads } from '#http/SharedReads.ts'
import type { Hash } from '#primitives.ts'
import type { Clock } from '#runtime/runtime.ts'
import { NodeCalls } from './NodeCalls.ts'

/** A node's own payload. */
export type Payload = Readonly<Record<string, unknown>>

/** Look-ups of one chain in a second: wallets that wait for a transaction ask once in that time. */
export const LOOK_UPS_MAX = 50
/** A fifth of them, so that others are served beside a caller that makes up hashes. */
export const LOOK_UPS_PER_CALLER_MAX = 10

export interface NodeLookUpsOptions {
  /** Null where the node knows none. */
  readonly ask: (hash: Hash, signal: AbortSignal) => Promise<Payload | null>
  readonly clock: Pick<Clock, 'monotonic'>
  /** A caller's limit in a minute, over all processes. */
  readonly allowance: Allowance
}

export class NodeLookUps {
  readonly #ask: NodeLookUpsOptions['ask']
  readonly #calls: NodeCalls
  readonly #underWay = new SharedReads<Payload | null>()

  constructor({ ask, clock, allowance }: NodeLookUpsOptions) {
    this.#ask = ask
    const perCaller = LOOK_UPS_PER_CALLER_MAX
    const limits = { all: LOOK_UPS_MAX, perCaller, allowance, what: 'unknown transactions' }
    this.#calls = new NodeCalls(limits, clock)
  }

  /** @throws ApiError as `NodeCalls.take` */
  ask(hash: Hash, party: string, signal: AbortSignal): Promise<Payload | null> {
    return this.#underWay.join(hash, signal, async (together) => {
      await this.#calls.take(party)
      return this.#ask(hash, together)
    })
  }
}
