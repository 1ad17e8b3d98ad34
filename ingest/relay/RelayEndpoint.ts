/** One endpoint as calls of clients see it: room, rest and head of its own, beside ingest's. */

import type { BlockRef } from '#primitives.ts'
import type { Clock } from '#runtime/runtime.ts'
import { metrics } from '#telemetry.ts'
import type { RpcClient } from '../rpc/client/client.ts'
import {
  afterRefusal,
  afterSuccess,
  type Concurrency,
  LIMIT_MAX,
  startConcurrency,
} from '../rpc/client/concurrency.ts'
import { RpcError } from '../rpc/client/errors.ts'
import { LatencyWindow } from '../rpc/client/LatencyWindow.ts'
import { parseBlockRef, rpcQuantity } from '../rpc/client/parse.ts'
import type { Admission } from '../rpc/endpoints/Admission.ts'
import type { Endpoint } from '../rpc/endpoints/Endpoint.ts'
import { type RelayAnswer, readBody, readRelayed } from './relayAnswer.ts'

/** The cost of clients' calls at an endpoint. */
export interface RelayEndpointStatus {
  readonly name: string
  readonly head: number | null
  readonly inFlight: number
  readonly cost: {
    readonly requests: number
    readonly calls: number
    readonly sentBytes: number
    readonly receivedBytes: number
  }
}

/** Half of what an endpoint is given at most; the other half is ingest's. */
export const RELAY_LIMIT_MAX = LIMIT_MAX / 2
/** A call may take as long as the request that asks it, less the time to tell that it failed. */
export const RELAY_DEADLINE_MS = 55_000
/** Answers past this are refused: a client of ours gets no more in one piece. */
const RELAY_BYTES_MAX = 16 * 1024 * 1024
/** How long an endpoint is asked last after a failure; doubles while it fails. */
const REST_MS = 500
const REST_MS_MAX = 30_000
/** Pause after a 429 that names no time. */
const RATE_PAUSE_MS = 500
/**
 * An endpoint that answered so lately need not show that it is there. Longer ago says little: what
 * is sent to one that has gone since is lost, for it is not sent twice.
 */
const SHOWN_MS = 100
/** A failure longer ago says nothing of an endpoint that no client has asked since. */
const PROBLEM_MS = 300_000
/** Wait before the second endpoint is asked, while there are too few samples to know. */
const HEDGE_MS = 1_000
/** Answers faster than this are not worth a second request. */
const HEDGE_MS_MIN = 10

export class RelayEndpoint {
  readonly name: string
  readonly endpoint: Endpoint
  readonly #client: RpcClient
  readonly #admission: Admission
  readonly #clock: Clock
  readonly #chain: string
  readonly #sharesWithIngest: boolean
  readonly #latency = new LatencyWindow()
  #concurrency: Concurrency = startConcurrency
  #head: { readonly ref: BlockRef; readonly atMs: number } | null = null
  #reading: Promise<BlockRef> | null = null
  #restsUntilMs = 0
  #pausedUntilMs = 0
  #answeredMs = Number.NEGATIVE_INFINITY
  #failures = 0
  #problem: string | null = null
  #failedMs = Number.NEGATIVE_INFINITY
  #nextId = 1
  inFlight = 0

  constructor(
    endpoint: Endpoint,
    client: RpcClient,
    admission: Admission,
    clock: Clock,
    of: { readonly chainId: number; readonly sharesWithIngest: boolean },
  ) {
    this.name = endpoint.name
    this.endpoint = endpoint
    this.#client = client
    this.#admission = admission
    this.#clock = clock
    this.#chain = String(of.chainId)
    this.#sharesWithIngest = of.sharesWithIngest
  }

  /** The newest block it is known to have; null before the first word. */
  get head(): number | null {
    return this.#isOwnNewer ? (this.#head?.ref.number ?? null) : this.endpoint.head
  }

  /** The same as the block it named; null where only its number is known. */
  get told(): BlockRef | null {
    const ref = this.#isOwnNewer ? this.#head?.ref : this.endpoint.claim?.head
    return ref && ref.number === this.head ? ref : null
  }

  /** When it was heard of its newest block; before all times where it never was. */
  get headAtMs(): number {
    return Math.max(this.#head?.atMs ?? Number.NEGATIVE_INFINITY, this.endpoint.claimedAtMs)
  }

  /** At most half of what ingest found the endpoint to bear is for clients. */
  get hasRoom(): boolean {
    const share = this.#sharesWithIngest ? Math.max(1, this.endpoint.limit / 2) : RELAY_LIMIT_MAX
    return this.inFlight < Math.floor(Math.min(RELAY_LIMIT_MAX, this.#concurrency.limit, share))
  }

  /** When it takes calls again, where it asked us, or ingest, to wait. */
  get pausedUntilMs(): number {
    return Math.max(this.endpoint.pausedUntilMs, this.#pausedUntilMs)
  }

  /** Asked only where no other can be: it failed lately, for us or for ingest. */
  get rests(): boolean {
    return this.#restsUntilMs > this.#clock.monotonic() || this.endpoint.quarantined
  }

  /** Why it did not answer when asked last, of late; null where it did. */
  get problem(): string | null {
    const isOfLate = this.#clock.monotonic() - this.#failedMs < PROBLEM_MS
    return isOfLate ? this.#problem : null
  }

  /** After this time without an answer another endpoint is asked too. */
  get hedgeMs(): number {
    return Math.max(HEDGE_MS_MIN, this.#latency.p95() ?? HEDGE_MS)
  }

  status(): RelayEndpointStatus {
    const { name, head, inFlight } = this
    return { name, head, inFlight, cost: { ...this.#client.cost } }
  }

  /** @throws RpcError for trouble of the endpoint */
  async ask(method: string, params: string, signal: AbortSignal): Promise<RelayAnswer> {
    return this.#counted(method, signal, async () =>
      readRelayed(await this.#exchange(method, params, signal), this.#client),
    )
  }

  /**
   * Shows that it answers at all, where it did not a moment ago: what is sent once should not go to
   * one that is away. @throws RpcError
   */
  async show(): Promise<void> {
    if (this.#clock.monotonic() - this.#answeredMs > SHOWN_MS) await this.readHead()
  }

  /**
   * The endpoint's answer to the call, whatever it says; a gateway's refusal, under which nothing was
   * passed on, is thrown. @throws RpcError
   */
  async askOnce(method: string, params: string, signal: AbortSignal): Promise<RelayAnswer> {
    return this.#counted(method, signal, async () => {
      const answer = await this.#exchange(method, params, signal)
      const read = readBody(answer, this.#client)
      if (!read)
        throw answer.status === 200
          ? this.#client.error('malformed', 'no answer')
          : this.#client.statusError(answer)
      if (!read.ok && (read.failure === 'rate_limited' || read.failure === 'unauthorized'))
        throw this.#client.error(read.failure, read.error.message)
      return read
    })
  }

  /** The head as it is now; calls at the same time share one reading. @throws RpcError */
  readHead(): Promise<BlockRef> {
    this.#reading ??= this.#readHead().finally(() => {
      this.#reading = null
    })
    return this.#reading
  }

  close(): Promise<void> {
    return this.#client.close()
  }

  /**
   * The height of a tag; null where it names nothing, `beyond` where it names a block above its own
   * head, of which a node knows nothing. @throws RpcError
   */
  async readTag(tag: 'safe' | 'finalized'): Promise<number | 'beyond' | null> {
    const number = (await this.#readRef(tag))?.number ?? null
    if (number === null || number <= (this.head ?? -1)) return number
    return number <= (await this.readHead()).number ? number : 'beyond'
  }

  /** The block of a height; null where it has none. @throws RpcError */
  readBlock(number: number): Promise<BlockRef | null> {
    return this.#readRef(rpcQuantity(number))
  }

  get #isOwnNewer(): boolean {
    return this.#head !== null && this.#head.atMs >= this.endpoint.claimedAtMs
  }

  async #readHead(): Promise<BlockRef> {
    const head = await this.#readRef('latest')
    if (!head) throw this.#client.error('block_missing', 'null in place of the head')
    this.#head = { ref: head, atMs: this.#clock.monotonic() }
    this.#answeredMs = this.#clock.monotonic()
    this.#problem = null
    return head
  }

  /** Behind an address that was away another chain's node may answer by now: admission asks. */
  async #readRef(tag: string): Promise<BlockRef | null> {
    try {
      await this.#admission.admit(this.endpoint)
      return parseBlockRef(await this.#client.call('eth_getBlockByNumber', [tag, false]), this.#client)
    } catch (error) {
      if (error instanceof RpcError) this.#failed(error)
      throw error
    }
  }

  async #exchange(method: string, params: string, signal: AbortSignal) {
    await this.#admission.admit(this.endpoint)
    const body = `{"jsonrpc":"2.0","id":${this.#nextId++},"method":${JSON.stringify(method)},"params":${params}}`
    return this.#client.exchange(body, { bytesMax: RELAY_BYTES_MAX, deadlineMs: RELAY_DEADLINE_MS }, signal)
  }

  async #counted<T>(method: string, signal: AbortSignal, ask: () => Promise<T>): Promise<T> {
    const startedMs = this.#clock.monotonic()
    const count = (outcome: string) => {
      const seconds = (this.#clock.monotonic() - startedMs) / 1000
      metrics.relaySeconds.observe({ chain: this.#chain, method }, seconds)
      metrics.relayCalls.inc({ chain: this.#chain, endpoint: this.name, outcome })
    }
    try {
      const answer = await ask()
      this.#succeeded(this.#clock.monotonic() - startedMs)
      count('ok')
      return answer
    } catch (error) {
      if (!signal.aborted && error instanceof RpcError) {
        this.#failed(error)
        count(error.failure)
      }
      throw error
    }
  }

  #succeeded(durationMs: number): void {
    this.#answeredMs = this.#clock.monotonic()
    this.#problem = null
    this.#failures = 0
    this.#restsUntilMs = 0
    this.#latency.add(durationMs)
    this.#concurrency = afterSuccess(this.#concurrency, durationMs, this.#clock.monotonic())
  }

  /** A call that takes long says nothing of the endpoint, and ingest hears of none of this. */
  #failed(error: RpcError): void {
    const nowMs = this.#clock.monotonic()
    if (error.failure === 'timed_out' || error.failure === 'too_large') return
    this.#failedMs = nowMs
    this.#problem = error.message
    if (error.failure === 'rate_limited' || error.failure === 'overloaded')
      this.#concurrency = afterRefusal(this.#concurrency, nowMs)
    if (error.failure === 'rate_limited' || error.retryAfterMs !== undefined)
      this.#pausedUntilMs = nowMs + (error.retryAfterMs ?? RATE_PAUSE_MS)
    this.#restsUntilMs = nowMs + Math.min(REST_MS_MAX, REST_MS * 2 ** this.#failures)
    this.#failures = Math.min(this.#failures + 1, 10)
  }
}
