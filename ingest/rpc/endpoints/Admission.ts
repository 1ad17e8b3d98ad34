import type { Hash } from '#primitives.ts'
import type { Clock } from '#runtime/runtime.ts'
import type { Logger } from '#telemetry.ts'
import type { CallEachBounds, RpcClient } from '../client/client.ts'
import { RpcError, WrongChainError } from '../client/errors.ts'
import type { Endpoint } from './Endpoint.ts'
import { assertSameChain, type Probed, probeEndpoint } from './probe.ts'

interface BesideBounds extends CallEachBounds {
  /** Told the size of an answer within the bound. */
  readonly spend?: (bytes: number) => void
}

/**
 * Lets an endpoint be asked only after it has shown that it serves our chain, when first met and
 * whenever it returns: behind one address another node may answer by now.
 */
export class Admission {
  readonly #clock: Clock
  readonly #log: Logger
  readonly #chainId: number
  #genesisHash: Hash | null
  readonly #pending = new Map<Endpoint, Promise<void>>()
  /** Endpoints that may stand in for each other: those of ingest, and those of clients' calls. */
  readonly #groups: (readonly Endpoint[])[] = []
  /** Those whose last probe told another chain. */
  readonly #wrong = new Set<Endpoint>()
  readonly #notes = new Set<string>()
  readonly #finalizedTag = new Map<Endpoint, boolean>()

  constructor(options: { clock: Clock; log: Logger; chainId: number; genesisHash: Hash | null }) {
    this.#clock = options.clock
    this.#log = options.log
    this.#chainId = options.chainId
    this.#genesisHash = options.genesisHash
  }

  /** Notes on the endpoints for a reader of /status, a sentence each. */
  get notes(): readonly string[] {
    return [...this.#notes]
  }

  /** Endpoints of which one is left out while another may be right. */
  join(group: readonly Endpoint[]): void {
    this.#groups.push(group)
  }

  hasFinalizedTag(endpoint: Endpoint): boolean {
    return this.#finalizedTag.get(endpoint) ?? true
  }

  /** Told once in the log, and for good in the notes. */
  note(text: string): void {
    if (this.#notes.has(text)) return
    this.#notes.add(text)
    this.#log.warn({ chainId: this.#chainId }, text)
  }

  /**
   * Asks an endpoint through its client, counting how it went.
   * @throws WrongChainError when it serves another chain, as all others do; RpcError for everything
   * else.
   */
  async ask<T>(endpoint: Endpoint, act: (client: RpcClient) => Promise<T>): Promise<T> {
    await this.admit(endpoint)
    const startedAtMs = this.#clock.monotonic()
    try {
      const answer = await act(endpoint.client)
      endpoint.answered(this.#clock.monotonic() - startedAtMs)
      return answer
    } catch (error) {
      if (error instanceof RpcError) endpoint.failed(error, this.#clock.monotonic() - startedAtMs)
      throw error
    }
  }

  /** One call beside ingest: how it goes moves nothing. @throws as `ask` */
  async askBeside(
    endpoint: Endpoint,
    method: string,
    params: readonly unknown[],
    { bytesMax, signal, spend = () => {} }: BesideBounds,
  ): Promise<unknown> {
    await this.admit(endpoint)
    return await endpoint.client.call(method, params, signal, { bytesMax, spend })
  }

  /** Probes an endpoint that has not shown yet whose chain it serves. @throws as `ask` */
  async admit(endpoint: Endpoint): Promise<void> {
    if (!endpoint.probed) await this.#admit(endpoint)
  }

  /**
   * One probe at a time for each endpoint; it ends by its own deadline, not by the signal of
   * whoever came first.
   */
  #admit(endpoint: Endpoint): Promise<void> {
    const pending = this.#pending.get(endpoint)
    if (pending) return pending
    const probing = this.#probe(endpoint).finally(() => this.#pending.delete(endpoint))
    this.#pending.set(endpoint, probing)
    return probing
  }

  async #probe(endpoint: Endpoint): Promise<void> {
    const startedAtMs = this.#clock.monotonic()
    try {
      const probed = await probeEndpoint(endpoint.client)
      const pinned = { chainId: this.#chainId, genesisHash: this.#genesisHash }
      assertSameChain(endpoint.name, probed, pinned)
      this.#genesisHash ??= probed.genesisHash
      this.#learn(endpoint, probed)
      this.#wrong.delete(endpoint)
      endpoint.probed = true
    } catch (error) {
      if (error instanceof RpcError) endpoint.failed(error, this.#clock.monotonic() - startedAtMs)
      if (!(error instanceof WrongChainError)) throw error
      this.#wrong.add(endpoint)
      throw this.#isReplaceable(endpoint) ? this.#turnedAway(endpoint, error) : error
    }
  }

  #learn(endpoint: Endpoint, probed: Probed): void {
    endpoint.batches = probed.batches
    if (!probed.blockReceipts) endpoint.deniedBlockReceipts()
    this.#finalizedTag.set(endpoint, probed.finalizedTag)
    if (!probed.batches) this.note(`${endpoint.name} takes no JSON-RPC batches: calls are sent one by one`)
    if (!probed.blockReceipts)
      this.note(
        `${endpoint.name} has no eth_getBlockReceipts: receipts are fetched one by one, which is slower`,
      )
    if (!probed.finalizedTag)
      this.note(`${endpoint.name} has no finalized tag: a block counts as final at the configured depth`)
  }

  /** Only where all serve another chain is there nothing to go on with. */
  #isReplaceable(endpoint: Endpoint): boolean {
    return this.#groups.some(
      (group) => group.includes(endpoint) && group.some((one) => !this.#wrong.has(one)),
    )
  }

  #turnedAway(endpoint: Endpoint, error: WrongChainError): RpcError {
    this.note(error.message)
    const refusal = endpoint.client.error('unauthorized', error.message, { cause: error })
    endpoint.failed(refusal, 0)
    return refusal
  }
}
