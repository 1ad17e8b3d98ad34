/**
 * Transactions that are in no block of ours, asked of a node. Each costs a call that the operator
 * may pay for, and anybody can make up hashes: so there are only so many a second, and a caller has
 * a part of them. Nothing is remembered: a hash that is unknown now may be mined the next moment.
 */
import type { Hash } from '#primitives.ts'
import { everybody } from '#query/slots.ts'
import type { Clock } from '#runtime.ts'
import { ApiError } from './http/errors.ts'
import { SharedReads } from './http/sharedReads.ts'

/** A node's own payload. */
export type Payload = Readonly<Record<string, unknown>>

/** Look-ups of one chain in a second: wallets that wait for a transaction ask once in that time. */
export const LOOK_UPS_MAX = 50
/** A fifth of them, so that others are served beside a caller that makes up hashes. */
export const LOOK_UPS_PER_CALLER_MAX = 10
const SECOND_MS = 1_000

export interface NodeLookUpsOptions {
  /** Null where the node knows none. */
  readonly ask: (hash: Hash, signal: AbortSignal) => Promise<Payload | null>
  readonly clock: Pick<Clock, 'monotonic'>
}

export class NodeLookUps {
  readonly #options: NodeLookUpsOptions
  readonly #underWay = new SharedReads<Payload | null>()
  /** Look-ups of the second that began last, by caller. */
  readonly #taken = new Map<string, number>()
  #all = 0
  #secondMs = -Infinity

  constructor(options: NodeLookUpsOptions) {
    this.#options = options
  }

  /** @throws ApiError `overloaded` where too many were asked in this second */
  ask(hash: Hash, party: string, signal: AbortSignal): Promise<Payload | null> {
    return this.#underWay.join(hash, signal, async (together) => {
      this.#take(party)
      return this.#options.ask(hash, together)
    })
  }

  #take(party: string): void {
    const nowMs = this.#options.clock.monotonic()
    if (nowMs - this.#secondMs >= SECOND_MS) {
      this.#secondMs = nowMs
      this.#all = 0
      this.#taken.clear()
    }
    const taken = this.#taken.get(party) ?? 0
    if (this.#all >= LOOK_UPS_MAX) throw tooMany('Too many unknown transactions are asked for')
    if (party !== everybody && taken >= LOOK_UPS_PER_CALLER_MAX)
      throw tooMany('You ask for too many unknown transactions')
    this.#all++
    this.#taken.set(party, taken + 1)
  }
}

const tooMany = (message: string): ApiError =>
  new ApiError('overloaded', `${message}; retry shortly.`, { headers: { 'retry-after': '1' } })
