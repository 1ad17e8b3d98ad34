/**
 * Calls of clients, passed to nodes: bytes in, bytes out. Many endpoints answer like one honest
 * one: a call goes to endpoints that have the block it means, moves on where a provider fails, and
 * is asked twice where the first is slow. Ingest comes first: this has its own connections, room
 * and rests, and tells ingest nothing bad of an endpoint.
 */
import type { Clock } from '#runtime/runtime.ts'
import { RpcError } from '../rpc/client/errors.ts'
import type { RelayEndpoint, RelayEndpointStatus } from './RelayEndpoint.ts'
import { RelayHeads, ROUND_PAUSE_MS, ROUNDS_MAX } from './RelayHeads.ts'
import { RelayRoom } from './RelayRoom.ts'
import { type HeldChain, RelayTrust, type WeighedChain } from './RelayTrust.ts'
import type { RelayView } from './RelayView.ts'
import { isMethodMissing, mayDiffer, type RelayAnswer } from './relayAnswer.ts'
import { isPassing, RelayFailedError, wasNotSent } from './relayFailure.ts'

/** A call as its client wrote it: `params` is the JSON of a list. */
export interface RelayedCall {
  readonly method: string
  readonly params: string
}

/** A call's demands of the endpoint that answers it. */
export interface RelayWish {
  /** Newest block it names; -1 for none. */
  readonly height: number
  /** True where it means the newest block, so that what was told before must be in the answer. */
  readonly newest: boolean
  /** True where only some nodes may know: null of one is not believed before all were asked. */
  readonly asksAll: boolean
  /** False for an answer of blocks that nobody else knows of: then another endpoint is asked. */
  readonly admits?: (answer: RelayAnswer) => Promise<boolean>
}

/** An answer, and the name of the endpoint that gave it. */
export interface PlacedAnswer {
  readonly endpoint: string
  readonly answer: RelayAnswer
}

export interface RelayStatus {
  readonly endpoints: readonly RelayEndpointStatus[]
  /** False where the chain's own endpoints carry the calls of clients too. */
  readonly isApart: boolean
}

/** A call waits this long for an endpoint that has the block its client was told of. */
const REACH_MS = 10_000
const REACH_PAUSE_MS = 100
/** A transaction to send goes to whoever has all that its client was told of. */
const newestBlock: RelayWish = { height: -1, newest: true, asksAll: false }

export class Relay {
  readonly #endpoints: readonly RelayEndpoint[]
  readonly #clock: Clock
  readonly #isApart: boolean
  readonly #room: RelayRoom<RelayEndpoint>
  readonly #trust: RelayTrust
  readonly #heads: RelayHeads

  /** @param weighed what ingest makes of its endpoints */
  constructor(endpoints: readonly RelayEndpoint[], clock: Clock, isApart: boolean, weighed: WeighedChain) {
    this.#endpoints = endpoints
    this.#clock = clock
    this.#isApart = isApart
    this.#room = new RelayRoom(clock)
    this.#trust = new RelayTrust(endpoints, clock, weighed)
    this.#heads = new RelayHeads(endpoints, clock, this.#trust)
  }

  /** Takes ingest's part of the chain, against which heads are weighed from now on. */
  heed(held: HeldChain): void {
    this.#trust.heed(held)
  }

  status(): RelayStatus {
    return { endpoints: this.#endpoints.map((endpoint) => endpoint.status()), isApart: this.#isApart }
  }

  /** The chain as clients were told of it. */
  get view(): Pick<RelayView, 'shown' | 'shownHash'> {
    return this.#heads.view
  }

  /** Why clients get no answers or old ones, in words; null where that is not known. */
  get problem(): string | null {
    return this.#heads.problem
  }

  /** The newest block that may be told. @throws RelayFailedError */
  head(): Promise<number> {
    return this.#heads.read()
  }

  /** The height of a tag that may be told; null where no endpoint knows the tag. */
  tagged(tag: 'safe' | 'finalized'): Promise<number | null> {
    return this.#heads.tagged(tag)
  }

  /** Whether a block that an answer names may be told; from then on it is shown. */
  admits(height: number): Promise<boolean> {
    return this.#heads.admits(height)
  }

  /** Reads: failover, and a second endpoint where the first is slow. @throws RelayFailedError */
  async ask(call: RelayedCall, wish: RelayWish, signal: AbortSignal): Promise<RelayAnswer> {
    const ended = new AbortController()
    const leave = () => ended.abort(signal.reason)
    if (signal.aborted) leave()
    else signal.addEventListener('abort', leave, { once: true })
    const asking: Asking = {
      call,
      wish,
      signal: ended.signal,
      tried: new Set(),
      fallback: undefined,
      failure: undefined,
    }
    try {
      for (let round = 1; ; ) {
        const answer = await this.#ask(asking, await this.#able(asking))
        if (answer) return answer
        if (asking.fallback) return asking.fallback
        // Those that were behind may have caught up by the time the others have failed.
        if (asking.tried.size < this.#endpoints.length) continue
        if (round++ === ROUNDS_MAX || !isPassing(asking.failure))
          throw new RelayFailedError(call.method, asking.tried.size, asking.failure)
        asking.tried.clear()
        await this.#clock.sleep(ROUND_PAUSE_MS, signal)
      }
    } finally {
      signal.removeEventListener('abort', leave)
      ended.abort(answered)
    }
  }

  /**
   * One try at one endpoint, for what must not be done twice; one that lacks the method did
   * nothing. Null where nobody knows what became of it. @throws RelayFailedError where it was not
   * sent
   */
  async askOnce(call: RelayedCall, signal: AbortSignal): Promise<RelayAnswer | null> {
    const tried = new Set<RelayEndpoint>()
    let failure: RpcError | undefined
    let missing: RelayAnswer | undefined
    for (let round = 1; ; ) {
      const able = await this.#able({ wish: newestBlock, signal, tried: new Set() })
      const endpoint = await this.#room.take(able, tried, signal)
      if (!endpoint) {
        if (missing && !isPassing(failure)) return missing
        // Nothing was sent, so that it may go round again.
        if (round++ === ROUNDS_MAX || !isPassing(failure))
          throw new RelayFailedError(call.method, tried.size, failure)
        tried.clear()
        await this.#clock.sleep(ROUND_PAUSE_MS, signal)
        continue
      }
      tried.add(endpoint)
      let wasSent = false
      try {
        await endpoint.show()
        wasSent = true
        const answer = await endpoint.askOnce(call.method, call.params, signal)
        if (!isMethodMissing(answer)) return answer
        missing = answer
      } catch (error) {
        if (!(error instanceof RpcError)) throw error
        if (wasSent && !wasNotSent(error)) return null
        failure = error
      } finally {
        this.#room.release(endpoint)
      }
    }
  }

  /** Whether any endpoint answers a call with something else than null. */
  async isKnown(call: RelayedCall, signal: AbortSignal): Promise<boolean> {
    const asked = this.#endpoints.map(async (endpoint) => {
      endpoint.inFlight++
      const outcome = await this.#outcomeAt(endpoint, call, signal)
      if (!outcome.answer?.ok || isNull(outcome.answer))
        throw new RelayFailedError(call.method, 1, outcome.error)
      return true
    })
    return Promise.any(asked).catch(() => false)
  }

  /** An object that lives at one endpoint alone is made at the first that answers; null if none does. */
  async askAnywhere(call: RelayedCall, signal: AbortSignal): Promise<PlacedAnswer | null> {
    let refusal: PlacedAnswer | null = null
    for (const endpoint of this.#heads.ranked(this.#endpoints)) {
      const answer = await this.#answerAt(endpoint, call, signal)
      if (!answer) continue
      const placed = { endpoint: endpoint.name, answer }
      if (answer.ok) return placed
      refusal ??= placed
    }
    return refusal
  }

  /** The answer of the endpoint of this name, asked once; null where it fails or is gone. */
  async askAt(name: string, call: RelayedCall, signal: AbortSignal): Promise<RelayAnswer | null> {
    const endpoint = this.#endpoints.find((one) => one.name === name)
    return endpoint ? await this.#answerAt(endpoint, call, signal) : null
  }

  async close(): Promise<void> {
    await Promise.all(this.#endpoints.map((endpoint) => endpoint.close()))
  }

  async #answerAt(
    endpoint: RelayEndpoint,
    call: RelayedCall,
    signal: AbortSignal,
  ): Promise<RelayAnswer | null> {
    const placed = await this.#room.take([endpoint], new Set(), signal)
    return placed ? ((await this.#outcomeAt(placed, call, signal)).answer ?? null) : null
  }

  /** Undefined when none of these endpoints has an answer that is final. */
  async #ask(asking: Asking, able: readonly RelayEndpoint[]): Promise<RelayAnswer | undefined> {
    const { call, wish, signal, tried } = asking
    const running = new Map<RelayEndpoint, Promise<Outcome>>()
    let mayHedge = true
    const start = (endpoint: RelayEndpoint) => {
      tried.add(endpoint)
      running.set(endpoint, this.#outcomeAt(endpoint, call, signal))
    }
    for (;;) {
      if (running.size === 0) {
        const next = await this.#room.take(able, tried, signal)
        if (!next) break
        start(next)
      }
      const outcome = await this.#firstOf(running, mayHedge && tried.size < this.#endpoints.length)
      if (outcome === 'slow') {
        // Others may have reached its block meanwhile.
        const second = this.#room.free(this.#reached(asking))
        mayHedge = second === undefined
        if (second) start(second)
        else await this.#heads.keep()
        continue
      }
      running.delete(outcome.endpoint)
      const { answer, error } = outcome
      if (answer === undefined) asking.failure = error
      else if (mayDiffer(answer) || (wish.asksAll && isNull(answer))) asking.fallback = better(asking, answer)
      else if (!wish.admits || (await wish.admits(answer))) return answer
      else asking.fallback = better(asking, answer)
    }
    // Those that have no room, or ask us to wait for long, count as asked.
    for (const endpoint of able) tried.add(endpoint)
    return undefined
  }

  async #outcomeAt(
    endpoint: RelayEndpoint,
    { method, params }: RelayedCall,
    signal: AbortSignal,
  ): Promise<Outcome> {
    try {
      return { endpoint, answer: await endpoint.ask(method, params, signal), error: undefined }
    } catch (error) {
      signal.throwIfAborted()
      if (!(error instanceof RpcError)) throw error
      return { endpoint, answer: undefined, error }
    } finally {
      this.#room.release(endpoint)
    }
  }

  /** The first outcome; `slow` where the only endpoint asked takes longer than it mostly does. */
  async #firstOf(
    running: ReadonlyMap<RelayEndpoint, Promise<Outcome>>,
    mayHedge: boolean,
  ): Promise<Outcome | 'slow'> {
    const outcomes = [...running.values()]
    // Outcomes that nobody waits for in the end are no unhandled rejections.
    for (const outcome of outcomes) outcome.catch(() => {})
    const [only] = running.keys()
    if (!mayHedge || !only) return Promise.race(outcomes)
    // Outcomes end with the signal, and the wait with them.
    const waiting = new AbortController()
    const slow = this.#clock.sleep(only.hedgeMs, waiting.signal).then((): 'slow' => 'slow')
    slow.catch(() => {})
    try {
      return await Promise.race([...outcomes, slow])
    } finally {
      waiting.abort(answered)
    }
  }

  /** Endpoints that may answer, best first. @throws RelayFailedError where none has the block */
  async #able(asking: Sought): Promise<readonly RelayEndpoint[]> {
    await this.#heads.keep()
    const untilMs = this.#clock.monotonic() + REACH_MS
    if (asking.wish.height > this.view.shown) await this.#heads.refresh()
    for (;;) {
      const those = this.#reached(asking)
      if (those.length > 0) return those
      if (this.#clock.monotonic() >= untilMs)
        throw new RelayFailedError('a block told of', this.#endpoints.length, undefined)
      await this.#heads.refresh()
      if (this.#reached(asking).length > 0) continue
      await this.#clock.sleep(REACH_PAUSE_MS, asking.signal)
    }
  }

  /** Endpoints not tried yet that have what is wished for, best first. */
  #reached({ wish: { height, newest }, tried }: Sought): readonly RelayEndpoint[] {
    return this.#heads.reached(
      this.#endpoints.filter((endpoint) => !tried.has(endpoint)),
      height,
      newest,
    )
  }
}

/** One read on its way through the pool. */
interface Asking {
  readonly call: RelayedCall
  readonly wish: RelayWish
  readonly signal: AbortSignal
  readonly tried: Set<RelayEndpoint>
  /** An answer that another node might better. */
  fallback: RelayAnswer | undefined
  failure: RpcError | undefined
}

type Sought = Pick<Asking, 'wish' | 'signal' | 'tried'>

type Outcome =
  | { readonly endpoint: RelayEndpoint; readonly answer: RelayAnswer; readonly error: undefined }
  | { readonly endpoint: RelayEndpoint; readonly answer: undefined; readonly error: RpcError }

/** A node's own word on a call, such as null, is better than none. */
const better = ({ fallback }: Asking, answer: RelayAnswer): RelayAnswer => (fallback?.ok ? fallback : answer)

/** Ends what still waits; a reason made for each call would cost more than the rest of its end. */
const answered = new Error('the call has its answer')

const isNull = (answer: RelayAnswer): boolean => answer.ok && answer.text === 'null'
