/** Blocks that are refused again and again, and by whom they were told. */
import type { BlockRange } from '#ingest/range.ts'
import type { RpcSource } from '#ingest/rpc/rpcSource.ts'
import { BoundedMap } from '#runtime/BoundedMap.ts'
import type { Clock } from '#runtime/runtime.ts'
import { witnessesOf } from './chainRules.ts'

/** Refusals of one endpoint count once in this time, so that a hiccup is none. */
const ROUND_MS = 5_000
/** Rounds after which a refusal of everybody's answer is no hiccup. */
const ROUNDS = 4
/** A refusal that did not come again for this long has passed. */
const FORGET_MS = 600_000
/** Pieces in flight, of all lanes, are fewer; the oldest go first. */
const BLOCKS_MAX = 64

interface Refusal {
  readonly rounds: number
  readonly reason: string
  readonly atMs: number
}

export interface RefusedAnswer {
  readonly blockNumber: number
  readonly endpoint: string
  /** The reason in words, alike for answers that are alike. */
  readonly reason: string
}

export class Refusals {
  readonly #source: Pick<RpcSource, 'answering' | 'endpoints'>
  readonly #clock: Clock
  /** By block, then by endpoint. */
  readonly #blocks = new BoundedMap<number, Map<string, Refusal>>({ max: BLOCKS_MAX })

  constructor(source: Pick<RpcSource, 'answering' | 'endpoints'>, clock: Clock) {
    this.#source = source
    this.#clock = clock
  }

  add({ blockNumber, endpoint, reason }: RefusedAnswer): void {
    const atMs = this.#clock.monotonic()
    const block = this.#blocks.get(blockNumber) ?? new Map<string, Refusal>()
    const { rounds, atMs: lastMs } = block.get(endpoint) ?? { rounds: 0, atMs: Number.NEGATIVE_INFINITY }
    if (atMs < lastMs + ROUND_MS) return
    block.set(endpoint, { rounds: atMs > lastMs + FORGET_MS ? 1 : rounds + 1, reason, atMs })
    this.#blocks.set(blockNumber, block)
  }

  /** Somebody's answer was good. */
  taken({ from, to }: BlockRange): void {
    for (const [number] of this.#blocks) if (from <= number && number <= to) this.#blocks.delete(number)
  }

  /**
   * Whether everybody who answers and has the block told it wrongly for long, and enough of them
   * alike.
   */
  isEverybodys(blockNumber: number): boolean {
    const sinceMs = this.#clock.monotonic() - FORGET_MS
    const refusals = [...(this.#blocks.get(blockNumber)?.values() ?? [])]
    const lasting = refusals.filter(({ rounds, atMs }) => rounds >= ROUNDS && atMs >= sinceMs)
    const source = this.#source
    const having = source.endpoints().filter(({ head }) => head === null || head >= blockNumber)
    if (lasting.length < Math.min(source.answering ?? 1, having.length)) return false
    const alike = lasting.map(({ reason }) => lasting.filter((one) => one.reason === reason).length)
    return Math.max(0, ...alike) >= witnessesOf(source)
  }

  clear(): void {
    this.#blocks.clear()
  }
}
