import type { BlockRef } from '#primitives.ts'
import type { Clock } from '#runtime.ts'
import type { ChainHead } from '../source.ts'
import type { Admission } from './admission.ts'
import { afterHead, type BlockTime, pollIntervalMs } from './blockTime.ts'
import type { RpcCall, RpcClient } from './client.ts'
import type { Endpoint } from './endpoint.ts'
import type { EndpointSet } from './endpointSet.ts'
import { EndpointsDisagreeError, RpcError, SourceError } from './errors.ts'
import { parseBlockRef, quantity } from './parse.ts'

export interface HeadsOptions {
  readonly endpoints: EndpointSet
  readonly admission: Admission
  readonly clock: Clock
  /** Blocks behind the head that count as final where a node does not say. */
  readonly finalityDepth: number
  /** Heads are announced to us at the moment, so nobody has to poll. */
  readonly announced: () => boolean
}

interface HeadReading {
  readonly head: BlockRef
  /** What the node calls final, or null when it does not say this time. */
  readonly finalized: BlockRef | null
}

/** Every so many readings all endpoints are asked, so that one that is ahead of the preferred one is found. */
const ASK_ALL_EVERY = 8

/** The reading that ended a wait answers the question that follows it at once. */
const FRESH_MS = 20

/**
 * Tries of one reference while the block that both hold is searched. Without them a search starts over at each lost answer:
 * with one answer in six lost, it took a minute.
 */
const REF_ROUNDS_MAX = 3
const REF_PAUSE_MS = 50

/** Head and finality of the chain over all endpoints, and waiting for the next head. */
export class Heads {
  readonly #options: HeadsOptions
  readonly #wakers = new Set<() => void>()
  #blockTime: BlockTime | null = null
  #readings = 0
  /** Announcements so far, how many of them the latest reading could know of, and the height of the newest. */
  #announcements = 0
  #announcementsRead = 0
  #announcedNumber = -1
  #latest: { readonly answer: ChainHead; readonly atMs: number } | undefined
  /** Never decreases, whatever an endpoint says later (I5). */
  #finalized = -1
  /** What the newest finality was concluded from: the final block of a node's tag, or the head of one without. */
  #finalizedBy: BlockRef | null = null

  constructor(options: HeadsOptions) {
    this.#options = options
  }

  /** Newest finalized height seen, or -1. */
  get finalized(): number {
    return this.#finalized
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
    const head =
      this.#readings++ % ASK_ALL_EVERY === 0 ? await this.#askAll(signal) : await this.#askOne(signal)
    this.#announcementsRead = announcements
    this.#blockTime = afterHead(this.#blockTime, head.number, clock.monotonic())
    const finalized = Math.min(this.#finalized, head.number)
    const answer = { head, finalized, finalizedBy: this.#finalizedBy ?? head }
    this.#latest = { answer, atMs: clock.monotonic() }
    return answer
  }

  /** An announcement came in: waiting callers look again. */
  announce(number: number): void {
    this.#announcements++
    this.#announcedNumber = number
    if (this.#latest) this.#latest = { ...this.#latest, atMs: Number.NEGATIVE_INFINITY }
    for (const wake of [...this.#wakers]) wake()
  }

  /** Resolves when the head is newer than `after` or was replaced, when announced, or after the time. */
  async waitForHead(after: number, timeoutMs: number, signal?: AbortSignal): Promise<void> {
    const { clock, announced } = this.#options
    const before = this.#latest?.answer.head
    if (before && before.number > after) return
    // Announced after the latest reading had been asked for: look again at once.
    if (this.#announcements > this.#announcementsRead) return
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
  }

  /**
   * The reference of one height. Below finality it must come from an endpoint that has reached it as final: one that
   * is behind looks like a violated finality, and several that are not must agree.
   * @throws SourceError when no endpoint answers, also when asked again
   * @returns null when there is no such block, or no endpoint that could know.
   */
  async blockRef(number: number, signal?: AbortSignal): Promise<BlockRef | null> {
    // A final block as its node gave it: immutable, so it answers questions about its height.
    if (number === this.#finalized && this.#finalizedBy?.number === number) return this.#finalizedBy
    const ask = (endpoint: Endpoint) =>
      this.#options.admission.ask(endpoint, async (client) =>
        parseBlockRef(await client.call('eth_getBlockByNumber', [quantity(number), false], signal), client),
      )
    for (let round = 1; ; round++) {
      try {
        if (number > this.#finalized) return await this.#firstAnswer(`block ${number}`, ask, signal)
        return await this.#agreed(number, ask, signal)
      } catch (error) {
        if (!(error instanceof SourceError) || round >= REF_ROUNDS_MAX) throw error
        await this.#options.clock.sleep(REF_PAUSE_MS, signal)
      }
    }
  }

  /** One call of the node's, answered by the best endpoint that answers. @throws SourceError when none does */
  async call(method: string, params: readonly unknown[], signal?: AbortSignal): Promise<unknown> {
    const ask = (endpoint: Endpoint) =>
      this.#options.admission.ask(endpoint, (client) => client.call(method, params, signal))
    return await this.#firstAnswer(method, ask, signal)
  }

  /**
   * Several calls, answered by one endpoint. An item is null where the node refused the call itself, as it does when a
   * contract reverts. @throws SourceError when no endpoint answers all of them, for example because none has the block
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

  async #agreed(number: number, ask: (endpoint: Endpoint) => Promise<BlockRef | null>, signal?: AbortSignal) {
    const reached = this.#ranked().filter(({ finalized }) => finalized >= number)
    const trusted = reached.filter(({ quarantined }) => !quarantined)
    const qualified = trusted.length > 0 ? trusted : reached
    const answers = await Promise.allSettled(qualified.map(ask))
    signal?.throwIfAborted()
    const refs = answers.flatMap(({ status, ...rest }) =>
      status === 'fulfilled' && 'value' in rest && rest.value ? [rest.value] : [],
    )
    const failed = answers.find(({ status }) => status === 'rejected')
    if (refs.length === 0 && failed?.status === 'rejected')
      throw new SourceError(`block ${number}`, answers.length, failed.reason)
    const [first = null] = refs
    if (refs.some(({ hash }) => hash !== first?.hash))
      throw new EndpointsDisagreeError(
        number,
        qualified.map(({ name }) => name),
      )
    return first
  }

  /** The preferred endpoint, and the others only when it fails. */
  #askOne(signal?: AbortSignal): Promise<BlockRef> {
    return this.#firstAnswer('the head', (endpoint) => this.#readFrom(endpoint, signal), signal)
  }

  async #askAll(signal?: AbortSignal): Promise<BlockRef> {
    const asked = this.#ranked().filter(({ quarantined }) => !quarantined)
    const answers = await Promise.allSettled(asked.map((endpoint) => this.#readFrom(endpoint, signal)))
    signal?.throwIfAborted()
    let best: BlockRef | undefined
    for (const answer of answers) {
      // A wrong chain is for a person to mend, however many other endpoints are right.
      if (answer.status === 'rejected' && !(answer.reason instanceof RpcError)) throw answer.reason
      if (answer.status === 'fulfilled' && answer.value.number > (best?.number ?? -1)) best = answer.value
    }
    return best ?? (await this.#askOne(signal))
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
    const usable = (e: Endpoint) => (e.quarantined || e.pausedUntilMs > nowMs ? 1 : 0)
    return this.#options.endpoints.all.toSorted(
      (a, b) => usable(a) - usable(b) || (b.head ?? -1) - (a.head ?? -1),
    )
  }

  async #readFrom(endpoint: Endpoint, signal?: AbortSignal): Promise<BlockRef> {
    const { admission, finalityDepth } = this.#options
    const reading = await admission.ask(endpoint, (client) =>
      readHead(client, admission.hasFinalizedTag(endpoint), endpoint.batches, signal),
    )
    const { head, finalized } = reading
    endpoint.head = head.number
    // The first block of a chain is final whatever the depth; a tag that is not told for once has not moved.
    const byDepth = admission.hasFinalizedTag(endpoint)
      ? endpoint.finalized
      : Math.max(0, head.number - finalityDepth)
    endpoint.finalized = Math.min(finalized?.number ?? byDepth, head.number)
    if (endpoint.finalized < this.#finalized) return head
    const isNews = endpoint.finalized > this.#finalized
    this.#finalized = endpoint.finalized
    if (finalized && finalized.number <= head.number) this.#finalizedBy = finalized
    // A head can be replaced at its height; a final block that is told for once stays the better proof.
    else if (isNews || this.#finalizedBy?.number !== this.#finalized) this.#finalizedBy = head
    return head
  }
}

/** @throws RpcError when the node does not tell its head. */
async function readHead(
  client: RpcClient,
  finalizedTag: boolean,
  batches: boolean,
  signal?: AbortSignal,
): Promise<HeadReading> {
  const tags = finalizedTag ? ['latest', 'finalized'] : ['latest']
  const calls = tags.map((tag) => ({ method: 'eth_getBlockByNumber', params: [tag, false] }))
  const [latest, final] = await client.callAll(calls, batches, signal)
  if (!latest?.ok) throw latest?.error ?? client.error('malformed', 'no answer')
  const head = parseBlockRef(latest.result, client)
  if (!head) throw client.error('block_missing', 'null in place of the head')
  return { head, finalized: final?.ok ? parseBlockRef(final.result, client) : null }
}
