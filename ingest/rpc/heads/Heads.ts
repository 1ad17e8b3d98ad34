import type { BlockRef } from '#primitives.ts'
import type { Clock } from '#runtime/runtime.ts'
import type { Claim } from '../../finality/rules/claim.ts'
import type { FinalityRule } from '../../finality/rules/finalityRule.ts'
import type { ChainHead } from '../../source.ts'
import type { RpcCall } from '../client/client.ts'
import { ContradictedAloneError, EndpointsDisagreeError, RpcError, SourceError } from '../client/errors.ts'
import { parseBlockRef, rpcQuantity } from '../client/parse.ts'
import type { Admission } from '../endpoints/Admission.ts'
import type { Endpoint } from '../endpoints/Endpoint.ts'
import type { EndpointSet } from '../endpoints/EndpointSet.ts'
import { afterHead, type BlockTime, POLL_MS_MIN, pollIntervalMs } from './blockTime.ts'
import { Claims, type Weighed } from './Claims.ts'
import { findWrong, mostTold, type Wrong } from './parentLinks.ts'

export interface HeadsOptions {
  readonly endpoints: EndpointSet
  readonly admission: Admission
  readonly clock: Clock
  /** Blocks behind the head that count as final where a node does not say. */
  readonly finalityDepth: number
  /** Heads are announced to us at the moment, so nobody has to poll. */
  readonly announced: () => boolean
  /** It is told whenever the endpoints were asked. */
  readonly finality: FinalityRule
}

/**
 * Every so many readings all endpoints are asked, so that one that is ahead of the preferred one is
 * found.
 */
const ASK_ALL_EVERY = 8
/**
 * All are asked after this time at the latest, and after the second one when the preferred one
 * grants more to be final.
 */
const ASK_ALL_MS = 10_000
const ASK_FINALITY_MS = 1_000
/**
 * At the first reading an endpoint that fails is asked again, or the others would decide without it
 * where to begin.
 */
const FIRST_ROUNDS_MAX = 3
const FIRST_PAUSE_MS = 300

/** The reading that ended a wait answers the question that follows it at once. */
const FRESH_MS = 20

/**
 * Tries of one reference while the block that both hold is searched. Without them a search starts
 * over at each lost answer: with one answer in six lost, it took a minute.
 */
const REF_ROUNDS_MAX = 3
const REF_PAUSE_MS = 50

/** Head and finality of the chain over all endpoints, and waiting for the next head. */
export class Heads {
  readonly #options: HeadsOptions
  readonly #claims: Claims
  readonly #wakers = new Set<() => void>()
  #blockTime: BlockTime | null = null
  #readings = 0
  /** So far, how many of them the latest reading could know of, and the height of the newest. */
  #announcements = 0
  #announcementsRead = 0
  #announcedNumber = -1
  #readAtMs = Number.NEGATIVE_INFINITY
  #latest: { readonly answer: ChainHead; readonly atMs: number } | undefined
  /** Endpoints that have no say in finality, since all were asked last. */
  #silent: ReadonlySet<string> = new Set()
  /** When all were asked last: the moments of the first question and of the last answer. */
  #askedAllSinceMs = Number.NEGATIVE_INFINITY
  #askedAllAtMs = Number.NEGATIVE_INFINITY

  constructor(options: HeadsOptions) {
    this.#options = options
    this.#claims = new Claims(options)
  }

  /** Newest finalized height seen, or -1. */
  get finalized(): number {
    return this.#options.finality.number
  }

  /** The rule that decides of finality. */
  get finality(): Pick<FinalityRule, 'name' | 'held' | 'granted' | 'certified'> {
    return this.#options.finality
  }

  /** Newest head seen, or -1. */
  get number(): number {
    return this.#latest?.answer.head.number ?? -1
  }

  /** @throws SourceError when no endpoint answers. */
  async read(signal?: AbortSignal): Promise<ChainHead> {
    const { clock } = this.#options
    if (this.#latest && clock.monotonic() - this.#latest.atMs <= FRESH_MS) return this.#latest.answer
    const announcements = this.#announcements
    const { head, endpoint } = await this.#newest(signal)
    this.#announcementsRead = announcements
    this.#blockTime = afterHead(this.#blockTime, head.number, clock.monotonic())
    const { granted: final, name } = this.#options.finality
    const finalized = Math.min(final?.finalized ?? -1, head.number)
    const answer = {
      head,
      finalized,
      finalizedBy: final?.finalizedBy ?? head,
      ...(name === 'proved' && final && { isProved: true }),
      toldBy: { head: endpoint, finalized: final?.endpoint ?? endpoint },
    }
    this.#readAtMs = clock.monotonic()
    this.#latest = { answer, atMs: this.#readAtMs }
    return answer
  }

  /** An announcement came in: waiting callers look again. */
  announce(number: number): void {
    this.#announcements++
    this.#announcedNumber = number
    if (this.#latest) this.#latest = { ...this.#latest, atMs: Number.NEGATIVE_INFINITY }
    for (const wake of [...this.#wakers]) wake()
  }

  /**
   * Resolves when the head is newer than `after` or was replaced, when announced, or after the
   * time.
   */
  async waitForHead(after: number, timeoutMs: number, signal?: AbortSignal): Promise<void> {
    const { clock, announced } = this.#options
    const before = this.#latest?.answer.head
    if (before && before.number > after) return
    // Announced after the latest reading had been asked for: look again.
    if (this.#announcements > this.#announcementsRead) return await this.#pace(signal)
    const endMs = clock.monotonic() + timeoutMs
    for (let leftMs = timeoutMs; leftMs > 0 && !signal?.aborted; leftMs = endMs - clock.monotonic()) {
      // An endpoint that has not got the announced block yet is polled until it has.
      if (announced() && this.#announcedNumber <= after) return await this.#announcement(leftMs, signal)
      await clock.sleep(Math.min(leftMs, pollIntervalMs(this.#blockTime)), signal).catch(() => {})
      if (signal?.aborted) return
      const head = await this.read(signal).then(
        (answer) => answer.head,
        () => undefined,
      )
      if (head && (head.number > after || (before && head.hash !== before.hash))) return
    }
  }

  async #announcement(leftMs: number, signal?: AbortSignal): Promise<void> {
    const woken = new AbortController()
    const wake = () => woken.abort()
    this.#wakers.add(wake)
    const either = signal ? AbortSignal.any([signal, woken.signal]) : woken.signal
    await this.#options.clock.sleep(leftMs, either).catch(() => {})
    this.#wakers.delete(wake)
    await this.#pace(signal)
  }

  /** An endpoint may announce without end, and each reading is a paid call of another one. */
  async #pace(signal?: AbortSignal): Promise<void> {
    const leftMs = this.#readAtMs + POLL_MS_MIN - this.#options.clock.monotonic()
    if (leftMs > 0) await this.#options.clock.sleep(leftMs, signal).catch(() => {})
  }

  /**
   * The reference of one height. Below finality it must come from an endpoint that has reached it
   * as final: one that is behind looks like a violated finality, and several that are not must
   * agree.
   * @param held what we hold there as final, whatever the endpoints grant since we started
   * @throws SourceError when no endpoint answers, also when asked again; ContradictedAloneError
   * @returns null when there is no such block, or no endpoint that could know.
   */
  async blockRef(number: number, signal?: AbortSignal, held?: string): Promise<BlockRef | null> {
    const ask = (endpoint: Endpoint) =>
      this.#options.admission.ask(endpoint, async (client) =>
        parseBlockRef(
          await client.call('eth_getBlockByNumber', [rpcQuantity(number), false], signal),
          client,
        ),
      )
    for (let round = 1; ; round++) {
      try {
        if (number > this.finalized && held === undefined)
          return await this.#firstAnswer(`block ${number}`, ask, signal)
        return await this.#agreed(number, ask, signal, held)
      } catch (error) {
        if (!(error instanceof SourceError) || round >= REF_ROUNDS_MAX) throw error
        await this.#options.clock.sleep(REF_PAUSE_MS, signal)
      }
    }
  }

  /**
   * One call of the node's, answered by the best endpoint that answers. @throws SourceError when
   * none does
   */
  async call(method: string, params: readonly unknown[], signal?: AbortSignal): Promise<unknown> {
    const ask = (endpoint: Endpoint) =>
      this.#options.admission.ask(endpoint, (client) => client.call(method, params, signal))
    return await this.#firstAnswer(method, ask, signal)
  }

  /**
   * Several calls, answered by one endpoint. An item is null where the node refused the call
   * itself, as it does when a contract reverts. @throws SourceError when no endpoint answers all of
   * them, for example because none has the block
   */
  async callAll(calls: readonly RpcCall[], signal?: AbortSignal): Promise<readonly unknown[]> {
    const ask = (endpoint: Endpoint) =>
      this.#options.admission.ask(endpoint, async (client) => {
        const answers = await client.callAll(calls, endpoint.batches, signal)
        return answers.map((answer) => {
          if (answer.ok) return answer.result
          if (answer.error.failure !== 'node_error') throw answer.error
          return null
        })
      })
    return await this.#firstAnswer(`${calls.length} calls`, ask, signal)
  }

  async #agreed(
    number: number,
    ask: (endpoint: Endpoint) => Promise<BlockRef | null>,
    signal?: AbortSignal,
    held?: string,
  ): Promise<BlockRef | null> {
    const qualified = this.#qualified(number, held)
    const answers = await Promise.allSettled(qualified.map(ask))
    signal?.throwIfAborted()
    const told = answers.flatMap((answer, index) => {
      const endpoint = qualified[index]
      return answer.status === 'fulfilled' && answer.value && endpoint
        ? [{ ref: answer.value, endpoint }]
        : []
    })
    const failed = answers.find(({ status }) => status === 'rejected')
    if (told.length === 0 && failed?.status === 'rejected')
      throw new SourceError(`block ${number}`, answers.length, failed.reason)
    const [first] = told
    if (!first) return null
    if (told.length === 1 && held !== undefined && first.ref.hash !== held && this.#isHeard(first.endpoint))
      throw new ContradictedAloneError(number, first.endpoint.name)
    if (told.every(({ ref }) => ref.hash === first.ref.hash)) return first.ref
    const most = mostTold(told) ?? (await this.#linked(number, told, signal))
    if (!most)
      throw new EndpointsDisagreeError(
        number,
        qualified.map(({ name }) => name),
      )
    for (const { ref, endpoint } of told) if (ref.hash !== most.hash) endpoint.refuted()
    return most
  }

  /** Endpoints that may be asked of a final height; all, where none grants it to be final again. */
  #qualified(number: number, held: string | undefined): readonly Endpoint[] {
    const reached = this.#ranked().filter(({ finalized }) => finalized >= number)
    const trusted = reached.filter(({ quarantined }) => !quarantined)
    if (trusted.length > 0) return trusted
    return reached.length === 0 && held !== undefined ? this.#ranked() : reached
  }

  /** Whether another endpoint than this one may be heard soon. */
  #isHeard(but: Endpoint): boolean {
    return this.#options.endpoints.all.some((endpoint) => endpoint !== but && endpoint.answeredLately)
  }

  /** The block that is left without the endpoints whose blocks are not linked; null if that is undecided. */
  async #linked(number: number, told: readonly ToldRef[], signal?: AbortSignal): Promise<BlockRef | null> {
    const [first, ...others] = told
    const other = others.find(({ ref }) => ref.hash !== first?.ref.hash)
    if (!first || !other) return first?.ref ?? null
    const wrong = await this.#wrongOf(number, first.endpoint, other.endpoint, signal)
    if (wrong === null) return null
    const left = told.filter((one) => one !== (wrong === 'first' ? first : other))
    return mostTold(left) ?? (await this.#linked(number, left, signal))
  }

  async #wrongOf(number: number, first: Endpoint, second: Endpoint, signal?: AbortSignal): Promise<Wrong> {
    const headerOf = (endpoint: Endpoint) => async (at: number) =>
      this.#options.admission.ask(endpoint, async (client) => {
        const header = await client.call('eth_getBlockByNumber', [rpcQuantity(at), false], signal)
        const ref = parseBlockRef(header, client)
        return ref && { ref, header }
      })
    const tops = [Math.min(first.finalized, second.finalized), Math.min(first.head ?? -1, second.head ?? -1)]
    try {
      return await findWrong(headerOf(first), headerOf(second), number, tops)
    } catch (error) {
      signal?.throwIfAborted()
      if (error instanceof RpcError) return null
      throw error
    }
  }

  /**
   * An answer of this endpoint was refuted: what was concluded from its word alone is concluded
   * again.
   */
  doubt(endpoint: string): void {
    this.#options.finality.doubt(endpoint)
  }

  /** The newest head that can be believed; finality is concluded on the way. */
  async #newest(signal?: AbortSignal): Promise<Claim> {
    if (this.#readings++ % ASK_ALL_EVERY !== 0) {
      const claim = await this.#askOne(signal)
      if (!this.#needsOthers(claim)) {
        this.#conclude()
        return claim
      }
    }
    const { newest, silent } = (await this.#askAll(signal)) ?? (await this.#oneOrNone(signal))
    this.#silent = silent
    this.#conclude()
    return newest
  }

  #needsOthers(claim: Claim): boolean {
    if (!this.#claims.isNear(claim)) return true
    if (this.#options.endpoints.all.length < 2) return false
    const sinceMs = this.#options.clock.monotonic() - this.#askedAllAtMs
    return sinceMs > ASK_ALL_MS || (claim.finalized > this.finalized && sinceMs > ASK_FINALITY_MS)
  }

  /** No endpoint answered all, or none could be believed: whoever answers now must be one that can be. */
  async #oneOrNone(signal?: AbortSignal): Promise<Weighed> {
    const claim = await this.#askOne(signal)
    const weighed = await this.#claims.weigh([claim], this.#options.endpoints.all, signal)
    if (!weighed) throw new SourceError('the head', this.#options.endpoints.all.length, notShown(claim))
    return weighed
  }

  #conclude(): void {
    this.#options.finality.conclude(this.#silent, this.#askedAllSinceMs)
  }

  /** The preferred endpoint, and the others only when it fails. */
  #askOne(signal?: AbortSignal): Promise<Claim> {
    return this.#firstAnswer('the head', (endpoint) => this.#claims.ask(endpoint, signal), signal)
  }

  async #askAll(signal?: AbortSignal): Promise<Weighed | null> {
    const { endpoints, clock } = this.#options
    const isFirst = this.#askedAllAtMs === Number.NEGATIVE_INFINITY
    this.#askedAllSinceMs = clock.monotonic()
    const claims: Claim[] = []
    let asked = this.#ranked().filter(({ quarantined }) => !quarantined)
    for (let round = 1; asked.length > 0; round++) {
      const answers = await Promise.allSettled(asked.map((endpoint) => this.#claims.ask(endpoint, signal)))
      signal?.throwIfAborted()
      // Where all endpoints serve another chain, a person has to mend the setting.
      for (const answer of answers)
        if (answer.status === 'rejected' && !(answer.reason instanceof RpcError)) throw answer.reason
      for (const answer of answers) if (answer.status === 'fulfilled') claims.push(answer.value)
      asked = asked.filter((_, index) => answers[index]?.status === 'rejected')
      if (!isFirst || asked.length === 0 || round >= FIRST_ROUNDS_MAX) break
      await clock.sleep(FIRST_PAUSE_MS, signal)
    }
    this.#askedAllAtMs = clock.monotonic()
    return await this.#claims.weigh(claims, endpoints.all, signal)
  }

  async #firstAnswer<T>(
    asked: string,
    ask: (endpoint: Endpoint) => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T> {
    let last: unknown
    const ranked = this.#ranked()
    for (const endpoint of ranked) {
      try {
        return await ask(endpoint)
      } catch (error) {
        signal?.throwIfAborted()
        if (!(error instanceof RpcError)) throw error
        last = error
      }
    }
    throw new SourceError(asked, ranked.length, last)
  }

  /** Usable ones first; among those the one that has seen most, then in the order of RPC_URL. */
  #ranked(): readonly Endpoint[] {
    const nowMs = this.#options.clock.monotonic()
    // A head that nobody believes makes no endpoint the preferred one.
    const seen = ({ head }: Endpoint) => Math.min(head ?? -1, this.number)
    const usable = (e: Endpoint) => (e.quarantined || e.pausedUntilMs > nowMs ? 1 : 0)
    return this.#options.endpoints.all.toSorted((a, b) => usable(a) - usable(b) || seen(b) - seen(a))
  }
}

interface ToldRef {
  readonly ref: BlockRef
  readonly endpoint: Endpoint
}

const notShown = ({ endpoint, head }: Claim): string =>
  `${endpoint}: names block ${head.number} as its head, and does not hold it`
