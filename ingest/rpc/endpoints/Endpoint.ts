import type { Clock } from '#runtime/runtime.ts'
import { metrics } from '#telemetry.ts'
import type { Claim } from '../../finality/rules/claim.ts'
import type { RpcClient, RpcCost } from '../client/client.ts'
import { afterRefusal, afterSuccess, type Concurrency, startConcurrency } from '../client/concurrency.ts'
import type { RpcError, RpcFailure } from '../client/errors.ts'
import { LatencyWindow } from '../client/LatencyWindow.ts'
import { LackingReceipts, RECEIPTS_AGAIN_MS } from './LackingReceipts.ts'

/** An endpoint as /status shows it. */
export interface EndpointStatus {
  readonly name: string
  readonly state: 'unknown' | 'healthy' | 'paused' | 'quarantined'
  readonly head: number | null
  readonly concurrency: number
  readonly inFlight: number
  readonly latencyP95Ms: number | null
  readonly cost: Readonly<RpcCost>
  readonly lastFailure: string | null
}

/** Failures in a row, or refuted answers, after which an endpoint is asked last for a while. */
const STRIKES_MAX = 3
const QUARANTINE_MS = 2_000
const QUARANTINE_MS_MAX = 120_000
/**
 * An endpoint without an answer for this long is gone, and the only other one is believed alone.
 * Longer than any quarantine: an honest endpoint that is merely away for one is heard first.
 */
export const GONE_MS = 180_000
/** A pause without a Retry-After. */
const RATE_PAUSE_MS = 500
/**
 * An endpoint whose blocks' own bytes are missing, or prove no more than JSON, is not asked for
 * them so long.
 */
const ENCODED_PAUSE_MS = 600_000
/** Answers without the method that are taken for those of another node behind the same address. */
const LISTLESS_MAX = 2
/** No gateway mends credentials faster than a person does. */
const UNAUTHORIZED_MS = 60_000

/** Failures that speak of the endpoint's load, not of what it was asked. */
const refusals: ReadonlySet<RpcFailure> = new Set(['rate_limited', 'overloaded', 'timed_out'])
/** Failures that speak of the request: the endpoint is fine. */
const harmless: ReadonlySet<RpcFailure> = new Set([
  'too_large',
  'batch_refused',
  'method_missing',
  'pruned',
  'block_missing',
])

/**
 * One endpoint as the source sees it: what it can do, how much it is given at a time, and whether
 * it is trusted at the moment. A quarantine ends by itself; whoever returns is probed again,
 * because another node may answer there now.
 */
export class Endpoint {
  readonly client: RpcClient
  readonly #clock: Clock
  readonly #chain: string
  /** Abilities, learned from refusals. */
  batches = true
  /** Blocks whose receipts it does not tell as a list. */
  readonly lacking: LackingReceipts
  #listsAgainMs = Number.NEGATIVE_INFINITY
  /** Answers in a row without a list of receipts for want of the method; below 0 where it had told some. */
  #listless = 0
  /**
   * Blocks per range request this endpoint accepts; halves when it says too large, recovers with
   * successes.
   */
  blocksMax = Number.POSITIVE_INFINITY
  /** Newest block it has named, and the newest it called final. */
  head: number | null = null
  finalized = -1
  /** Its last word on the chain's end, and when. */
  claim: Claim | null = null
  claimedAtMs = Number.NEGATIVE_INFINITY
  /** Probed since it was last away. */
  probed = false
  inFlight = 0
  readonly #latency = new LatencyWindow()
  #concurrency: Concurrency = startConcurrency
  #pausedUntilMs = 0
  #quarantinedUntilMs = 0
  #encodedAgainMs = 0
  #quarantines = 0
  #answeredAtMs: number
  #strikes = 0
  #refuted = 0
  #lastFailure: string | null = null
  #counted: Readonly<RpcCost> = { requests: 0, calls: 0, sentBytes: 0, receivedBytes: 0 }

  constructor(client: RpcClient, clock: Clock, chainId: number) {
    this.client = client
    this.#clock = clock
    this.#chain = String(chainId)
    this.lacking = new LackingReceipts(clock)
    // Not away until it had the time to answer: at a start no other one is believed alone.
    this.#answeredAtMs = clock.monotonic()
  }

  get name(): string {
    return this.client.name
  }

  /** When it accepts requests again; in the past when it does. */
  get pausedUntilMs(): number {
    return this.#pausedUntilMs
  }

  get quarantined(): boolean {
    return this.#quarantinedUntilMs > this.#clock.monotonic()
  }

  /** Its answer can be waited for, where something has to be told twice. */
  get answeredLately(): boolean {
    return this.#answeredAtMs > this.#clock.monotonic() - GONE_MS
  }

  /** Blocks' own bytes may be asked of it. */
  get tellsEncoded(): boolean {
    return this.#clock.monotonic() >= this.#encodedAgainMs && this.answeredLately
  }

  encodedInVain(): void {
    this.#encodedAgainMs = this.#clock.monotonic() + ENCODED_PAUSE_MS
  }

  /** It knows eth_getBlockReceipts, as far as was found. */
  get blockReceipts(): boolean {
    return this.#clock.monotonic() >= this.#listsAgainMs
  }

  /**
   * It says that it does not know the method, whichever block it is asked for. Behind one address
   * may stand several nodes: where the method was there before, once is not believed.
   * @returns whether it is taken to have none
   */
  deniedBlockReceipts(): boolean {
    if (++this.#listless <= 0) return false
    this.#listsAgainMs = this.#clock.monotonic() + RECEIPTS_AGAIN_MS
    return true
  }

  toldBlockReceipts(): void {
    this.#listless = -LISTLESS_MAX
    this.#listsAgainMs = Number.NEGATIVE_INFINITY
  }

  /** Room for one more request. */
  get hasRoom(): boolean {
    return this.inFlight < Math.floor(this.#concurrency.limit)
  }

  /** Requests it is given at a time, as far as found. */
  get limit(): number {
    return this.#concurrency.limit
  }

  /** Lower is better: the share of its room in use. */
  get load(): number {
    return this.inFlight / this.#concurrency.limit
  }

  get latencyP95Ms(): number | undefined {
    return this.#latency.p95()
  }

  /** A range answer arrived; `answered` has counted it. */
  succeeded(durationMs: number): void {
    this.#concurrency = afterSuccess(this.#concurrency, durationMs, this.#clock.monotonic())
    this.#latency.add(durationMs)
    this.blocksMax *= 1.05
  }

  /** Any answer arrived. */
  answered(durationMs: number): void {
    this.#answeredAtMs = this.#clock.monotonic()
    this.#strikes = 0
    if (!this.quarantined) this.#quarantines = 0
    this.#count('ok', durationMs)
  }

  failed(error: RpcError, durationMs: number): void {
    const nowMs = this.#clock.monotonic()
    this.#lastFailure = error.message
    this.#count(error.failure, durationMs)
    if (harmless.has(error.failure)) return
    if (refusals.has(error.failure)) this.#concurrency = afterRefusal(this.#concurrency, nowMs)
    if (error.failure === 'rate_limited' || error.retryAfterMs !== undefined)
      this.#pausedUntilMs = Math.max(this.#pausedUntilMs, nowMs + (error.retryAfterMs ?? RATE_PAUSE_MS))
    if (error.failure === 'rate_limited') return
    if (error.failure === 'unauthorized') this.#quarantine(UNAUTHORIZED_MS)
    else if (++this.#strikes >= STRIKES_MAX) this.#quarantine(0)
  }

  /** An answer of it did not hash into its header, or was of a branch the chain has left. */
  refuted(): void {
    metrics.blocksRefuted.inc({ chain: this.#chain })
    this.#lastFailure = `${this.name}: an answer was refuted`
    if (++this.#refuted < STRIKES_MAX) return
    this.#refuted = 0
    this.claim = null
    this.#quarantine(0)
  }

  /** It told another block than one that a certificate of the chain proves. */
  disproved(): void {
    metrics.blocksRefuted.inc({ chain: this.#chain })
    this.#lastFailure = `${this.name}: it tells another block than the one that is final by a certificate`
    this.#refuted = 0
    this.claim = null
    this.#quarantine(0)
  }

  status(): EndpointStatus {
    const state = this.quarantined ? 'quarantined' : this.probed ? 'healthy' : 'unknown'
    return {
      name: this.name,
      state: this.#pausedUntilMs > this.#clock.monotonic() ? 'paused' : state,
      head: this.head,
      concurrency: Math.floor(this.#concurrency.limit),
      inFlight: this.inFlight,
      latencyP95Ms: this.latencyP95Ms === undefined ? null : Math.round(this.latencyP95Ms),
      cost: { ...this.client.cost },
      lastFailure: this.#lastFailure,
    }
  }

  /** Twice as long each time in a row; `minMs` for what cannot pass sooner. */
  #quarantine(minMs: number): void {
    const lengthMs = Math.max(minMs, Math.min(QUARANTINE_MS * 2 ** this.#quarantines, QUARANTINE_MS_MAX))
    this.#quarantinedUntilMs = this.#clock.monotonic() + lengthMs
    this.#quarantines = Math.min(this.#quarantines + 1, 10)
    this.#strikes = 0
    this.probed = false
  }

  #count(outcome: RpcFailure | 'ok', durationMs: number): void {
    this.#countCost()
    metrics.rpcRequests.inc({ chain: this.#chain, endpoint: this.name, outcome })
    metrics.rpcSeconds.observe({ chain: this.#chain, endpoint: this.name }, durationMs / 1000)
  }

  /** Counts the spending since the last count. */
  #countCost(): void {
    const { cost } = this.client
    const labels = { chain: this.#chain, endpoint: this.name }
    metrics.rpcCalls.inc(labels, cost.calls - this.#counted.calls)
    metrics.rpcBytes.inc({ ...labels, direction: 'sent' }, cost.sentBytes - this.#counted.sentBytes)
    metrics.rpcBytes.inc(
      { ...labels, direction: 'received' },
      cost.receivedBytes - this.#counted.receivedBytes,
    )
    this.#counted = { ...cost }
  }
}
