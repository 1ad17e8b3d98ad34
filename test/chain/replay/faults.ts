/** The troubles of a replayed node. They are the same for the same sequence of requests. */
import { Random } from '../random.ts'
import type { Fault, ReplayFlags } from './flags.ts'
import { RpcError } from './rpcError.ts'

export class Faults {
  /** How often each has struck, reorgs included. */
  readonly counts: Partial<Record<Fault | 'reorg', number>> = {}
  readonly #flags: ReplayFlags
  readonly #random: Random
  #second = 0
  #inSecond = 0

  constructor(flags: ReplayFlags) {
    this.#flags = flags
    this.#random = new Random(flags.seed)
  }

  /** Whether a fault strikes now. One that is off takes nothing from the seed's sequence. */
  strikes(fault: Fault): boolean {
    const probability = this.#flags[fault]
    if (!probability || !this.#random.chance(probability)) return false
    this.count(fault)
    return true
  }

  count(fault: Fault | 'reorg'): void {
    this.counts[fault] = (this.counts[fault] ?? 0) + 1
  }

  /** Milliseconds before the next answer. */
  delayMs(): number {
    const { latency, jitter } = this.#flags
    return latency || jitter ? latency + this.#random.below(jitter + 1) : 0
  }

  /** Counts a request, and tells whether it is above the rate. */
  isOverRate(): boolean {
    const now = Math.floor(Date.now() / 1000)
    if (now !== this.#second) [this.#second, this.#inSecond] = [now, 0]
    if (this.#flags.rate <= 0) return false
    this.#inSecond++
    return this.#inSecond > this.#flags.rate
  }

  /** Blocks by which the node's answer for its head is too old. */
  blocksBehind(): number {
    return this.strikes('behind') ? this.#random.between(1, this.#flags.near) : 0
  }

  /** One of the errors that stands in place of an answer; undefined for a good answer. */
  error(): RpcError | undefined {
    if (!this.strikes('rpc-error')) return undefined
    return this.#random.pick([
      new RpcError(-32005, 'limit exceeded'),
      new RpcError(-32000, 'header not found'),
      new RpcError(-32603, 'internal error'),
    ])
  }
}
