import { SettingError } from '#errors.ts'
import type { BlockRef, Hash } from '#primitives.ts'
import { BoundedMap } from '#runtime/BoundedMap.ts'
import type { Runtime } from '#runtime/runtime.ts'
import type { Logger } from '#telemetry.ts'
import { AgreedFinality } from '../finality/rules/AgreedFinality.ts'
import { type FinalityRule, isGranted } from '../finality/rules/finalityRule.ts'
import type { BlockRange } from '../range.ts'
import type { CertifiedBlocks, ChainHead, FetchOptions, RawRange, Source } from '../source.ts'
import { type CallEachBounds, type OpenTransport, type RpcCall, RpcClient } from './client/client.ts'
import { LIMIT_MAX } from './client/concurrency.ts'
import { distinctUrls, type EndpointUrl } from './client/endpointUrl.ts'
import { Admission } from './endpoints/Admission.ts'
import { Endpoint, type EndpointStatus, GONE_MS } from './endpoints/Endpoint.ts'
import { EndpointSet } from './endpoints/EndpointSet.ts'
import { askCertifiedHeader, leaveOutOthers } from './finalizations.ts'
import { Heads } from './heads/Heads.ts'
import { NewHeads } from './heads/NewHeads.ts'
import { RangeFetch } from './ranges/RangeFetch.ts'

export interface RpcSourceOptions {
  /**
   * Pinned: an endpoint of another chain is left out, and a WrongChainError where all are of one.
   * `Identities` tell it for a new data directory.
   */
  readonly chainId: number
  /** Pinned when known, else taken from the first endpoint that answers. */
  readonly genesisHash?: Hash | null
  /** http, https, ws or wss; the order is the order of preference among equals. */
  readonly urls: readonly string[]
  /** Blocks behind the head that count as final where a node has no `finalized` tag. */
  readonly finalityDepth: number
  readonly runtime: Runtime
  readonly log: Logger
  /** Blocks in one request at most; 250 by default, which is 500 calls. */
  readonly batchBlocksMax?: number
  /** Length an answer is sized to; 6 MB by default. */
  readonly batchBytesTarget?: number
  /** HTTP over sockets by default. */
  readonly openTransport?: OpenTransport
  /** False: new heads are polled for, and no WebSocket is opened to hear of them. */
  readonly announcements?: boolean
  /** The decider of finality, unless it is the agreement of the endpoints. */
  readonly finality?: (agreed: FinalityRule) => FinalityRule
}

/** The endpoints of a source, for what asks them beside ingest and judges them alike. */
export interface EndpointPool {
  readonly urls: readonly EndpointUrl[]
  /** In the order of `urls`. */
  readonly endpoints: readonly Endpoint[]
  readonly admission: Admission
  readonly heads: Heads
}

/** The source with what /status shows of it. */
export interface RpcSource extends Source {
  /** Notes for a reader: missing methods, configured finality, endpoints left out. A sentence each. */
  readonly notes: readonly string[]
  /** Which endpoints have granted far different blocks to be final for long; null when none have. */
  readonly finalityHeld: string | null
  endpoints(): readonly EndpointStatus[]
  /**
   * A single read that is not part of ingest, such as a pending transaction. @throws SourceError
   */
  call(method: string, params: readonly unknown[], signal?: AbortSignal): Promise<unknown>
  /**
   * The same read of every endpoint, beside ingest: how it goes moves nothing. The results of those
   * that gave one, in any order.
   */
  callEach(method: string, params: readonly unknown[], bounds: CallEachBounds): Promise<readonly unknown[]>
  /**
   * Several such reads in one request; null for one that the node refused, such as a reverting
   * eth_call. @throws SourceError
   */
  callAll(calls: readonly RpcCall[], signal?: AbortSignal): Promise<readonly unknown[]>
}

/** A source over endpoints that others may use beside it. */
export interface PooledSource extends RpcSource {
  readonly pool: EndpointPool
}

/**
 * Between 4 and 8 MB a reply a node's overhead vanishes and a lost reply still costs little
 * (measured).
 */
const BATCH_BYTES_TARGET = 6_000_000
/**
 * Half of what nodes take in a batch by default (geth: 1,000 calls); one that takes less is asked
 * for less from then on.
 */
const BATCH_BLOCKS_MAX = 250

/** More than a walk of the lane asks for. */
const WALKED_MAX = 32_768

/**
 * One chain behind one or more JSON-RPC endpoints. Connects to nothing until asked.
 * @throws SettingError naming RPC_URL when an address is not one.
 */
export function createSource(options: RpcSourceOptions): PooledSource {
  if (options.urls.length === 0) throw new SettingError('RPC_URL', 'names no endpoint')
  return new JsonRpcSource(options, distinctUrls(options.urls))
}

class JsonRpcSource implements PooledSource {
  readonly chainId: number
  readonly pool: EndpointPool
  readonly #set: EndpointSet
  readonly #admission: Admission
  readonly #heads: Heads
  readonly #ranges: RangeFetch
  /** Headers by their hashes: a walk that is tried again asks for none of them twice. */
  readonly #walked = new BoundedMap<Hash, BlockRef>({ max: WALKED_MAX })
  readonly #sockets: NewHeads[] = []
  readonly #openSockets: () => void

  constructor(options: RpcSourceOptions, urls: readonly EndpointUrl[]) {
    const { chainId, runtime, log, genesisHash = null, finalityDepth } = options
    this.chainId = chainId
    const clock = runtime.clock
    const all = urls.map(
      (url) => new Endpoint(new RpcClient(url, clock, LIMIT_MAX, options.openTransport), clock, chainId),
    )
    this.#set = new EndpointSet(all, clock)
    this.#admission = new Admission({ clock, log, chainId, genesisHash })
    this.#admission.join(all)
    const announced = () => this.#sockets.some(({ live }) => live)
    const shared = { endpoints: this.#set, admission: this.#admission }
    const agreed = new AgreedFinality({ endpoints: all, clock, finalityDepth, goneMs: GONE_MS })
    const finality = options.finality?.(agreed) ?? agreed
    this.#heads = new Heads({ ...shared, clock, finalityDepth, announced, finality })
    this.#ranges = new RangeFetch({
      ...shared,
      heads: this.#heads,
      runtime,
      log,
      batchBlocksMax: options.batchBlocksMax ?? BATCH_BLOCKS_MAX,
      batchBytesTarget: options.batchBytesTarget ?? BATCH_BYTES_TARGET,
    })
    this.pool = { urls, endpoints: all, admission: this.#admission, heads: this.#heads }
    this.#openSockets = () => {
      if (options.announcements === false) return
      const onHead = (number: number) => this.#heads.announce(number)
      this.#sockets.push(...urls.map((url) => new NewHeads({ url, runtime, log, onHead })))
    }
  }

  get notes(): readonly string[] {
    return this.#admission.notes
  }

  get finalityHeld(): string | null {
    return this.#heads.finality.held
  }

  get answering(): number {
    return this.#set.all.filter(({ answeredLately }) => answeredLately).length
  }

  get batchBlocks(): number {
    return this.#ranges.batchBlocks
  }

  get tellsEncoded(): boolean {
    return this.#set.all.some((endpoint) => endpoint.tellsEncoded && !endpoint.quarantined)
  }

  reportEncodedInVain(endpoint: string): void {
    this.#set.all.find(({ name }) => name === endpoint)?.encodedInVain()
  }

  reportLacking(endpoint: string, block: number): void {
    this.#set.all.find(({ name }) => name === endpoint)?.lacking.note(block)
  }

  endpoints(): readonly EndpointStatus[] {
    return this.#set.all.map((endpoint) => endpoint.status())
  }

  call(method: string, params: readonly unknown[], signal?: AbortSignal): Promise<unknown> {
    return this.#heads.call(method, params, signal)
  }

  callAll(calls: readonly RpcCall[], signal?: AbortSignal): Promise<readonly unknown[]> {
    return this.#heads.callAll(calls, signal)
  }

  async callEach(
    method: string,
    params: readonly unknown[],
    bounds: CallEachBounds,
  ): Promise<readonly unknown[]> {
    const ask = (endpoint: Endpoint) => this.#admission.askBeside(endpoint, method, params, bounds)
    const answers = await Promise.allSettled(this.#set.all.map(ask))
    bounds.signal?.throwIfAborted()
    return answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []))
  }

  head(signal?: AbortSignal): Promise<ChainHead> {
    return this.#heads.read(signal)
  }

  blockRef(number: number, signal?: AbortSignal, held?: string): Promise<BlockRef | null> {
    return this.#heads.blockRef(number, signal, held)
  }

  fetch(range: BlockRange, options?: FetchOptions): Promise<RawRange> {
    return this.#ranges.fetch(range, options)
  }

  waitForHead(after: number, timeoutMs: number, signal?: AbortSignal): Promise<void> {
    // Only the head lane needs announcements; a verify or a backfill opens no socket.
    if (this.#sockets.length === 0) this.#openSockets()
    return this.#heads.waitForHead(after, timeoutMs, signal)
  }

  grants(told: ChainHead): boolean {
    return isGranted(this.#heads.finality, told)
  }

  get certifiedBlocks(): CertifiedBlocks | undefined {
    return this.#heads.finality.certified
  }

  async certified(hash: Hash, signal?: AbortSignal): Promise<BlockRef | null> {
    const walked = this.#walked.use(hash)
    if (walked) return walked
    const names = this.#set.all.map(({ name }) => name)
    const header = await askCertifiedHeader(this.pool, hash, names, signal)
    if (header) this.#walked.set(hash, { number: header.number, hash, parentHash: header.parentHash })
    return header
  }

  leaveOutOthers(certified: BlockRef, signal?: AbortSignal): Promise<void> {
    return leaveOutOthers(this.pool, certified, signal)
  }

  reportRefuted(endpoint: string): void {
    this.#set.all.find(({ name }) => name === endpoint)?.refuted()
    this.#heads.doubt(endpoint)
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.close()
    this.#set.close()
    await Promise.all(this.#set.all.map(({ client }) => client.close()))
  }
}
