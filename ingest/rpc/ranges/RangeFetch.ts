import { type BackoffLimits, backoffMs } from '#runtime/backoff.ts'
import type { Runtime } from '#runtime/runtime.ts'
import type { Logger } from '#telemetry.ts'
import { type BlockRange, blockCount } from '../../range.ts'
import type { FetchOptions, RawRange } from '../../source.ts'
import { RpcError, SourceError } from '../client/errors.ts'
import type { Admission } from '../endpoints/Admission.ts'
import type { Endpoint } from '../endpoints/Endpoint.ts'
import type { EndpointSet, EndpointWish } from '../endpoints/EndpointSet.ts'
import type { Heads } from '../heads/Heads.ts'
import { requestEncoded } from './encodedBlocks.ts'
import { HeldBlocks } from './HeldBlocks.ts'
import { requestRange } from './rangeRequest.ts'
import { hasNoSingles, learnFromLists } from './receiptLists.ts'

export interface RangeFetchOptions {
  readonly endpoints: EndpointSet
  readonly admission: Admission
  readonly heads: Heads
  readonly runtime: Runtime
  readonly log: Logger
  /** Never more blocks in one request, however small they are. */
  readonly batchBlocksMax: number
  /** Answers are sized to be about this long. */
  readonly batchBytesTarget: number
}

/** Failed requests for one range before its caller has to wait and start over. */
const FAILURES_MAX = 6
const retry: BackoffLimits = { baseMs: 50, maxMs: 2_000 }
/**
 * However politely endpoints ask us to wait, after this the lane is told, so that /status can say
 * why nothing moves.
 */
const FETCH_MS_MAX = 90_000
/** Blocks asked for before anything is known of their size. */
const START_BLOCKS = 4
/**
 * A request may have so many times the blocks of the largest answer yet. One small block near the
 * head says little of hundreds of others: a recording with blocks of 5 KB there was asked for 250
 * at a time and answered 45 MB, six of which were in flight.
 */
const BLOCKS_GROWTH_MAX = 16
/** A hedge never fires sooner: on loopback a pause of the collector would set it off. */
const HEDGE_MS_MIN = 50
/** Hedges are for stragglers, not a second load: at most one request in this many is doubled. */
const REQUESTS_PER_HEDGE = 10
/**
 * Within this distance of the head a missing block is a node catching up; farther down it may be
 * pruned.
 */
const PRUNED_DEPTH_MIN = 128

/** A fetch under way: what has been learned about this range. */
interface Attempt {
  readonly asked: BlockRange
  readonly not: ReadonlySet<string>
  readonly receiptsSingly: boolean
  readonly encoded: boolean
  readonly startedAtMs: number
  /** Endpoints that failed it in this round. */
  readonly tried: Set<string>
  readonly prunedAt: Set<string>
  /** Endpoints that told the first block of what was asked last, but not its receipts. */
  readonly listless: Set<string>
  /** The last range asked. */
  last: BlockRange
  blocksMax: number
  failures: number
}

/**
 * Fetches ranges: sizes them, chooses and changes endpoints, splits, hedges, and gives up within
 * bounds.
 */
export class RangeFetch {
  readonly #options: RangeFetchOptions
  readonly #held: HeldBlocks
  #bytesPerBlock: number | null = null
  /** The most blocks one answer held. */
  #blocksAnswered = 0
  #requests = 0
  #hedges = 0

  constructor(options: RangeFetchOptions) {
    this.#options = options
    const { endpoints, admission, heads, runtime } = options
    this.#held = new HeldBlocks({ endpoints: endpoints.all, admission, heads, clock: runtime.clock })
  }

  /** Blocks that are expected to answer in about the byte target. */
  get batchBlocks(): number {
    const { batchBlocksMax, batchBytesTarget, endpoints } = this.#options
    const bySize = this.#bytesPerBlock === null ? START_BLOCKS : batchBytesTarget / this.#bytesPerBlock
    const accepted = Math.max(...endpoints.all.map(({ blocksMax }) => blocksMax))
    const seen = Math.max(START_BLOCKS, BLOCKS_GROWTH_MAX * this.#blocksAnswered)
    return Math.max(1, Math.floor(Math.min(bySize, seen, accepted, batchBlocksMax)))
  }

  /** A prefix of the range. @throws SourceError, HistoryPrunedError, WrongChainError */
  async fetch(
    asked: BlockRange,
    { signal, not = new Set(), receiptsSingly = false, encoded = false }: FetchOptions = {},
  ): Promise<RawRange> {
    const { clock, random } = this.#options.runtime
    const attempt: Attempt = {
      asked,
      not,
      receiptsSingly,
      encoded,
      startedAtMs: clock.monotonic(),
      tried: new Set(),
      prunedAt: new Set(),
      listless: new Set(),
      last: asked,
      blocksMax: blockCount(asked),
      failures: 0,
    }
    for (;;) {
      try {
        return await this.#tryOnce(attempt, signal)
      } catch (error) {
        signal?.throwIfAborted()
        if (!(error instanceof RpcError)) throw error
        const reaction = this.#react(attempt, error)
        const late = clock.monotonic() - attempt.startedAtMs > FETCH_MS_MAX
        if (reaction === 'at_once' && !late) continue
        if (attempt.failures >= FAILURES_MAX || late) throw await this.#giveUp(attempt, error, signal)
        if (this.#untried(attempt)) continue
        attempt.tried.clear()
        await clock.sleep(backoffMs(Math.max(attempt.failures, 1), retry, random), signal)
      }
    }
  }

  async #tryOnce(attempt: Attempt, signal?: AbortSignal): Promise<RawRange> {
    const { endpoints, heads } = this.#options
    const wish: EndpointWish = {
      height: attempt.asked.from,
      not: new Set([...attempt.not, ...attempt.tried, ...this.#silentOnBytes(attempt)]),
      urgent: attempt.asked.to >= heads.number,
    }
    const endpoint = await endpoints.take(wish, signal)
    const blocks = Math.max(1, Math.floor(Math.min(attempt.blocksMax, endpoint.blocksMax, this.batchBlocks)))
    const range = {
      from: attempt.asked.from,
      to: Math.min(attempt.asked.to, attempt.asked.from + blocks - 1),
    }
    const ask = (of: Endpoint, until: AbortSignal) => this.#request(of, range, attempt, until)
    return await this.#hedged(endpoint, wish, ask, signal)
  }

  /**
   * After the time in which nineteen of twenty answers came, a second endpoint is asked too; the
   * first answer wins.
   */
  async #hedged(
    endpoint: Endpoint,
    wish: EndpointWish,
    ask: (of: Endpoint, until: AbortSignal) => Promise<RawRange>,
    signal?: AbortSignal,
  ): Promise<RawRange> {
    const { endpoints, runtime } = this.#options
    const stop = new AbortController()
    const either = signal ? AbortSignal.any([signal, stop.signal]) : stop.signal
    const first = ask(endpoint, either)
    try {
      const p95 = endpoint.latencyP95Ms
      if (p95 === undefined || endpoints.all.length < 2) return await first
      const waited = runtime.clock.sleep(Math.max(p95, HEDGE_MS_MIN), either).then(() => 'slow' as const)
      waited.catch(() => {})
      if ((await Promise.race([first, waited])) !== 'slow') return await first
      const second = this.#hedgeAt(endpoint, wish, (other) => ask(other, either))
      if (!second) return await first
      return await Promise.any([first, second])
    } catch (error) {
      throw error instanceof AggregateError ? error.errors[0] : error
    } finally {
      stop.abort()
      first.catch(() => {})
    }
  }

  #hedgeAt(
    slow: Endpoint,
    wish: EndpointWish,
    ask: (other: Endpoint) => Promise<RawRange>,
  ): Promise<RawRange> | undefined {
    if (this.#hedges * REQUESTS_PER_HEDGE >= this.#requests) return undefined
    const other = this.#options.endpoints.takeNow({ ...wish, except: slow, urgent: false })
    if (!other) return undefined
    this.#hedges++
    const request = ask(other)
    request.catch(() => {})
    return request
  }

  /** One request; gives the endpoint's place back. */
  async #request(
    endpoint: Endpoint,
    asked: BlockRange,
    attempt: Attempt,
    signal: AbortSignal,
  ): Promise<RawRange> {
    const { admission, endpoints, heads, runtime } = this.#options
    const { receiptsSingly, encoded } = attempt
    const { range, singly } = receiptsSingly ? { range: asked, singly: true } : endpoint.lacking.cut(asked)
    const form = {
      batches: endpoint.batches,
      blockReceipts: endpoint.blockReceipts && !singly,
      // Near the head a node may not have them yet.
      mayLackReceipts: receiptsSingly && range.to + PRUNED_DEPTH_MIN <= heads.number,
    }
    attempt.last = range
    this.#requests++
    try {
      const startedAtMs = runtime.clock.monotonic()
      const bytes = await admission.ask(endpoint, (client) => requestRange(client, range, form, signal))
      endpoint.succeeded(runtime.clock.monotonic() - startedAtMs)
      if (form.blockReceipts) endpoint.toldBlockReceipts()
      this.#learnSize(bytes.length, blockCount(range))
      this.#held.answered(range)
      const own = encoded && endpoint.tellsEncoded ? await this.#encodedOf(endpoint, range, signal) : null
      return { range, bytes, endpoint: endpoint.name, ...(own && { encoded: own }) }
    } catch (error) {
      if (singly && error instanceof RpcError && hasNoSingles(error)) endpoint.lacking.forget(range)
      throw error
    } finally {
      endpoints.release(endpoint)
    }
  }

  /** Endpoints that are not asked for blocks' own bytes now, where another one can be. */
  #silentOnBytes({ encoded, not, tried }: Attempt): readonly string[] {
    if (!encoded) return []
    const { all } = this.#options.endpoints
    const isOpen = ({ name, quarantined }: Endpoint) => !not.has(name) && !tried.has(name) && !quarantined
    const silent = all.filter(({ tellsEncoded }) => !tellsEncoded)
    return all.some((one) => one.tellsEncoded && isOpen(one)) ? silent.map(({ name }) => name) : []
  }

  /** Once, and whatever it comes to: the answer is as good without. */
  async #encodedOf(endpoint: Endpoint, range: BlockRange, signal: AbortSignal) {
    const told = await requestEncoded(endpoint.client, range, endpoint.batches, signal).catch((error) => {
      if (error instanceof RpcError) return null
      throw error
    })
    if (told === null) endpoint.encodedInVain()
    return told
  }

  #learnSize(bytes: number, blocks: number): void {
    this.#blocksAnswered = Math.max(this.#blocksAnswered, blocks)
    const [known, bytesPerBlock] = [this.#bytesPerBlock, bytes / blocks]
    // Growing blocks count at once, because too long an answer costs more than too short a one.
    this.#bytesPerBlock =
      known === null ? bytesPerBlock : Math.max(known * 0.7 + bytesPerBlock * 0.3, bytesPerBlock / 2)
  }

  /**
   * A failure's lesson. `at_once`: the same range again, asked differently; `elsewhere`: another endpoint
   * first.
   */
  #react(attempt: Attempt, error: RpcError): 'at_once' | 'elsewhere' {
    const endpoint = this.#options.endpoints.all.find(({ name }) => name === error.endpoint)
    const blocks = Math.min(attempt.blocksMax, endpoint?.blocksMax ?? 1, this.batchBlocks)
    const list = { from: attempt.asked.from, listless: attempt.listless }
    if (endpoint && learnFromLists(list, endpoint, error, this.#options.admission)) return 'at_once'
    switch (error.failure) {
      case 'too_large':
      case 'batch_refused':
        if (endpoint && blocks > 1) {
          endpoint.blocksMax = Math.max(1, Math.floor(blocks / 2))
          return 'at_once'
        }
        if (error.failure === 'batch_refused' && endpoint?.batches) {
          endpoint.batches = false
          this.#options.admission.note(
            `${endpoint.name} takes no JSON-RPC batches: calls are sent one by one`,
          )
          return 'at_once'
        }
        break
      case 'rate_limited':
        // The endpoint is paused and will not be chosen; waiting for it is not a failure of the
        // range. A quota that counts calls may be smaller than the request, and would refuse it for
        // ever.
        attempt.blocksMax = Math.max(1, Math.floor(blocks / 2))
        return 'at_once'
      case 'pruned':
        attempt.prunedAt.add(error.endpoint)
        break
      case 'block_missing':
        // Near the head the first blocks of a range may be there while its last is not.
        attempt.blocksMax = Math.max(1, Math.floor(attempt.blocksMax / 2))
        break
      default:
        break
    }
    // The blocks before the one that fails are of use by themselves.
    const before = (error.failed?.first ?? attempt.asked.from) - attempt.asked.from
    if (before > 0) attempt.blocksMax = Math.min(attempt.blocksMax, before)
    attempt.tried.add(error.endpoint)
    attempt.failures++
    return 'elsewhere'
  }

  #untried({ tried }: Attempt): boolean {
    return this.#options.endpoints.all.some(({ name, quarantined }) => !quarantined && !tried.has(name))
  }

  /** Says that history is pruned only when a search finds where it begins. */
  async #giveUp(attempt: Attempt, error: RpcError, signal?: AbortSignal): Promise<Error> {
    const { heads } = this.#options
    const { from } = attempt.asked
    const asked = `blocks ${from}..${attempt.last.to}`
    // A head that was none may be the reason why these blocks were asked for.
    await heads.read(signal).catch(() => {})
    const deep = from + PRUNED_DEPTH_MIN < heads.number && from <= heads.finalized
    const suspected = attempt.prunedAt.size > 0 || (error.failure === 'block_missing' && deep)
    if (suspected) {
      try {
        const pruned = await this.#held.whatIsGone(attempt.asked, signal)
        if (pruned) return pruned
      } catch (searchError) {
        signal?.throwIfAborted()
        this.#options.log.warn({ from, error: String(searchError) }, 'could not find where history begins')
      }
    }
    return new SourceError(asked, attempt.failures, error)
  }
}
