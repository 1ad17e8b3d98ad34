/**
 * The chain's end as clients are told of it: which endpoints have reached it, and are asked first.
 * Heads are heard of while there are calls, and weighed before they are shown.
 */
import type { BlockRef } from '#primitives.ts'
import type { Clock } from '#runtime/runtime.ts'
import { RpcError } from '../rpc/client/errors.ts'
import type { RelayEndpoint } from './RelayEndpoint.ts'
import type { RelayTrust } from './RelayTrust.ts'
import { RelayView, type TagSeen } from './RelayView.ts'
import { isPassing, RelayFailedError } from './relayFailure.ts'

/** A head this young need not be asked for again. */
const HEAD_FRESH_MS = 50
/** An endpoint that does not tell its head in this time is not waited for. */
const REFRESH_MS = 1_000
/** While there are calls no endpoint's head is older than this: the one asked may have stopped. */
const HEADS_MS = 1_000
/** Ingest is ahead this long only where clients are shown an old view. */
const BEHIND_MS = 60_000

/** Times all endpoints are asked: nodes that fail in turns are never all away for long. */
export const ROUNDS_MAX = 3
export const ROUND_PAUSE_MS = 150

export class RelayHeads {
  readonly view: RelayView
  readonly #endpoints: readonly RelayEndpoint[]
  readonly #clock: Clock
  readonly #trust: RelayTrust
  #headAtMs = Number.NEGATIVE_INFINITY
  #allReadMs = Number.NEGATIVE_INFINITY
  #reading: Promise<number> | null = null
  #checking: Promise<unknown> | null = null
  /** Since when ingest has held newer blocks than clients are shown; null where it does not. */
  #behindSinceMs: number | null = null

  constructor(endpoints: readonly RelayEndpoint[], clock: Clock, trust: RelayTrust) {
    this.#endpoints = endpoints
    this.#clock = clock
    this.#trust = trust
    this.view = new RelayView(clock)
  }

  /** Why clients get no answers or old ones, in words; null where that is not known. */
  get problem(): string | null {
    const [first, ...others] = this.#endpoints.map(({ problem }) => problem)
    if (first && others.every((problem) => problem !== null))
      return `calls of clients: none of ${this.#endpoints.length} endpoints answers; ${first}`
    const nowMs = this.#clock.monotonic()
    const isAsked = nowMs - this.#allReadMs < BEHIND_MS
    if (!isAsked || this.#behindSinceMs === null || nowMs - this.#behindSinceMs < BEHIND_MS) return null
    return `calls of clients: block ${this.view.shown} is shown as the newest, and ${this.#trust.tip} is held`
  }

  /** The newest block that may be told. @throws RelayFailedError */
  read(): Promise<number> {
    if (this.#clock.monotonic() - this.#headAtMs <= HEAD_FRESH_MS) return Promise.resolve(this.view.shown)
    this.#reading ??= this.#read().finally(() => {
      this.#reading = null
    })
    return this.#reading
  }

  /** Hears of every endpoint now and then; the first call waits for all that answer. */
  async keep(): Promise<void> {
    const sinceMs = this.#clock.monotonic() - HEADS_MS
    if (this.#allReadMs > sinceMs) return
    this.#allReadMs = this.#clock.monotonic()
    const read = this.refresh(this.#endpoints.filter(({ headAtMs }) => headAtMs <= sinceMs))
    if (this.view.shown < 0) return await read
    // An endpoint's error is told to the call that goes there.
    read.catch(() => {})
  }

  /**
   * Asks endpoints for their heads; one that does not tell keeps its last.
   * @param until the rest is not waited for once this height is shown
   */
  async refresh(
    endpoints: readonly RelayEndpoint[] = this.#endpoints,
    until = Number.POSITIVE_INFINITY,
  ): Promise<void> {
    const reached = Promise.withResolvers<void>()
    const read = endpoints.map((endpoint) =>
      endpoint.readHead().then(
        async (ref) => {
          await this.#heard(endpoint, ref)
          if (this.view.shown >= until) reached.resolve()
        },
        (error: unknown) => {
          if (!(error instanceof RpcError)) throw error
        },
      ),
    )
    const all = Promise.all(read)
    // A rejection that nobody waits for any more is not unhandled.
    all.catch(() => {})
    await this.#inTime(Promise.race([all, reached.promise]))
  }

  /**
   * Whether a block that an answer names may be told: the heads of endpoints, as far as these are
   * believed, have reached it. It is shown from then on.
   */
  async admits(height: number): Promise<boolean> {
    const { view } = this
    if (height <= view.shown) return true
    // One address may stand for several nodes, so that its head may be another's.
    if (this.#trust.isOne && this.#trust.isNear(height, view.shown))
      view.settle({ height, aloneBy: null }, () => false)
    else await this.refresh(this.#endpoints, height)
    return height <= view.shown
  }

  /** The height of a tag that may be told; null where no endpoint knows the tag. */
  async tagged(tag: 'safe' | 'finalized'): Promise<number | null> {
    const height = this.view.settleTag(tag, await this.#granted(tag))
    if (height === null || height <= this.view.shown) return height
    await this.#settle()
    return Math.min(height, this.view.shown)
  }

  /** Those of these endpoints that have a block, best first. @param newest that is shown, not `height` */
  reached(endpoints: readonly RelayEndpoint[], height: number, newest: boolean): readonly RelayEndpoint[] {
    const { shown } = this.view
    const needed = newest ? shown : Math.min(height, shown)
    return this.ranked(endpoints.filter(({ head }) => needed < 0 || (head ?? -1) >= needed))
  }

  /**
   * Those that rest are last, and before them those whose heads are not believed; among the others
   * the one is first that has seen most of what is shown.
   */
  ranked(endpoints: readonly RelayEndpoint[]): readonly RelayEndpoint[] {
    const { shown } = this.view
    const seen = ({ head }: RelayEndpoint) => Math.min(head ?? -1, shown)
    const last = ({ rests, name }: RelayEndpoint) => Number(rests) * 2 + Number(this.#trust.doubts(name))
    return endpoints.toSorted((a, b) => last(a) - last(b) || seen(b) - seen(a) || a.inFlight - b.inFlight)
  }

  async #read(): Promise<number> {
    await this.keep()
    for (let round = 1; ; ) {
      let last: RpcError | undefined
      for (const endpoint of this.ranked(this.#endpoints)) {
        try {
          await this.#heard(endpoint, await endpoint.readHead())
          this.#headAtMs = this.#clock.monotonic()
          return this.view.shown
        } catch (error) {
          if (!(error instanceof RpcError)) throw error
          last = error
        }
      }
      if (round++ === ROUNDS_MAX || !isPassing(last))
        throw new RelayFailedError('the head', this.#endpoints.length, last)
      await this.#clock.sleep(ROUND_PAUSE_MS)
    }
  }

  async #heard(endpoint: RelayEndpoint, ref: BlockRef): Promise<void> {
    await this.#note(endpoint, ref)
    await this.#settle()
  }

  async #note(endpoint: RelayEndpoint, ref: BlockRef): Promise<void> {
    // A block that hangs nowhere has replaced none.
    if (this.#trust.isPlaced(endpoint, ref)) this.view.heard(ref)
    await this.#inTime(this.#trust.heard(endpoint, ref))
  }

  /** Heads of all that did not tell theirs a moment ago, of those that answer. */
  async #hearOthers(): Promise<void> {
    const sinceMs = this.#clock.monotonic() - HEAD_FRESH_MS
    const others = this.#endpoints.filter(({ rests, headAtMs }) => !rests && headAtMs <= sinceMs)
    const heard = others.map((endpoint) =>
      endpoint.readHead().then(
        (ref) => this.#note(endpoint, ref),
        (error: unknown) => {
          if (!(error instanceof RpcError)) throw error
        },
      ),
    )
    await this.#inTime(Promise.all(heard))
  }

  /**
   * Weighs what endpoints named as their heads. Before the view goes back by one endpoint's word all
   * others are heard: they may have reached the block since.
   */
  async #settle(): Promise<void> {
    const { view } = this
    let believed = await this.#trust.weigh(view.shown)
    if (believed.height < view.shown) {
      this.#checking ??= this.#hearOthers().finally(() => {
        this.#checking = null
      })
      await this.#checking
      believed = await this.#trust.weigh(view.shown)
    }
    if (believed.height >= 0) view.settle(believed, (name) => this.#trust.doubts(name))
    if (view.shown >= this.#trust.tip) this.#behindSinceMs = null
    else this.#behindSinceMs ??= this.#clock.monotonic()
  }

  /** A block that certificates made final is safe, too: no endpoint can invent that one. */
  async #granted(tag: 'safe' | 'finalized'): Promise<TagSeen> {
    const { finalized, isProved } = this.#trust
    // Its first block is final on every chain.
    if (isProved) return { height: Math.max(0, finalized), isAlone: false, said: finalized, isKnown: true }
    const words = await Promise.all(this.#endpoints.map((endpoint) => this.#wordOn(endpoint, tag)))
    return grantedTag(words, finalized, this.view.tagged(tag))
  }

  async #wordOn(endpoint: RelayEndpoint, tag: 'safe' | 'finalized'): Promise<TagWord> {
    const word = endpoint.readTag(tag).catch((error: unknown) => {
      if (error instanceof RpcError) return undefined
      throw error
    })
    return await this.#inTime(word)
  }

  /** Undefined where it takes too long. */
  async #inTime<T>(asked: Promise<T>): Promise<T | undefined> {
    const late = new AbortController()
    const tooLate = this.#clock.sleep(REFRESH_MS, late.signal).then(() => undefined)
    tooLate.catch(() => {})
    return await Promise.race([asked, tooLate]).finally(() => late.abort())
  }
}

/**
 * An endpoint's word on a tag: null if it does not know it, undefined if it does not answer, `beyond` if it
 * named what it cannot know.
 */
export type TagWord = Awaited<ReturnType<RelayEndpoint['readTag']>> | undefined

/**
 * The height that two endpoints grant, or that one does and ingest holds as final. One of several alone is
 * believed no further than that and what was told before, unless all others were caught.
 */
export function grantedTag(words: readonly TagWord[], finalized: number, before: number): TagSeen {
  const said = words.filter((word) => typeof word === 'number').toSorted((a, b) => b - a)
  const [highest = -1, second] = said
  const known = Math.min(highest, finalized)
  if (second !== undefined) return { height: Math.max(second, known), isAlone: false, said: highest }
  const isOnly = words.every((word) => word === 'beyond' || word === highest)
  const floor = Math.max(known, Math.min(highest, before))
  const height = isOnly || Math.max(finalized, before) < 0 ? highest : floor
  return { height, isAlone: words.length > 1 && height > floor, said: highest }
}
