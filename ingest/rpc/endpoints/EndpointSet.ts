import type { Clock } from '#runtime/runtime.ts'
import type { Endpoint } from './Endpoint.ts'

/** A request's demands of an endpoint, and how much they matter. */
export interface EndpointWish {
  /** Height the endpoint should have reached. */
  readonly height: number
  /** Asked last: their answers for this request were refuted or failed. */
  readonly not: ReadonlySet<string>
  /** Never asked: the other half of a hedge. */
  readonly except?: Endpoint | undefined
  /** At the head: does not queue behind history, and may exceed an endpoint's room. */
  readonly urgent: boolean
}

interface Waiter {
  readonly wish: EndpointWish
  readonly grant: (endpoint: Endpoint) => void
}

/** Chooses the next endpoint to ask, and lets callers wait for room. */
export class EndpointSet {
  readonly all: readonly Endpoint[]
  readonly #clock: Clock
  readonly #waiting: Waiter[] = []
  #timer: AbortController | undefined

  constructor(all: readonly Endpoint[], clock: Clock) {
    this.all = all
    this.#clock = clock
  }

  /**
   * Best first: not excluded, not quarantined, not paused, high enough, least loaded; then in the
   * order of RPC_URL.
   */
  ranked(wish: EndpointWish, nowMs = this.#clock.monotonic()): readonly Endpoint[] {
    const rank = (endpoint: Endpoint) =>
      (wish.not.has(endpoint.name) ? 8 : 0) +
      (endpoint.quarantined ? 4 : 0) +
      (endpoint.pausedUntilMs > nowMs ? 2 : 0) +
      (endpoint.head !== null && endpoint.head < wish.height ? 1 : 0)
    return this.all
      .filter((endpoint) => endpoint !== wish.except)
      .toSorted((a, b) => rank(a) - rank(b) || a.load - b.load)
  }

  /**
   * Takes a place at the best endpoint, waiting for room or for the end of a pause. A quarantined
   * or excluded endpoint is used when it is the only one: a chain with one endpoint must not stop
   * because it failed. Give the place back with `release`.
   */
  take(wish: EndpointWish, signal?: AbortSignal): Promise<Endpoint> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason)
      const leave = () => {
        const at = this.#waiting.indexOf(waiter)
        if (at >= 0) this.#waiting.splice(at, 1)
        reject(signal?.reason)
      }
      const grant = (endpoint: Endpoint) => {
        signal?.removeEventListener('abort', leave)
        resolve(endpoint)
      }
      const waiter: Waiter = { wish, grant }
      signal?.addEventListener('abort', leave, { once: true })
      if (wish.urgent) this.#waiting.unshift(waiter)
      else this.#waiting.push(waiter)
      this.#admit()
    })
  }

  /** A place at another endpoint than `wish.except`, or undefined when none is free right now. */
  takeNow(wish: EndpointWish): Endpoint | undefined {
    const free = this.#free(wish, this.#clock.monotonic())
    if (!free || wish.not.has(free.name) || free.quarantined) return undefined
    free.inFlight++
    return free
  }

  release(endpoint: Endpoint): void {
    endpoint.inFlight--
    this.#admit()
  }

  close(): void {
    this.#timer?.abort()
  }

  #free(wish: EndpointWish, nowMs: number): Endpoint | undefined {
    const candidates = this.ranked(wish, nowMs).filter(({ pausedUntilMs }) => pausedUntilMs <= nowMs)
    // Excluded ones are only asked when nobody else could be, not because the others are busy.
    const wanted = candidates.filter(({ name, quarantined }) => !wish.not.has(name) && !quarantined)
    const eligible = wanted.length > 0 ? wanted : candidates
    return eligible.find(({ hasRoom }) => hasRoom || wish.urgent)
  }

  #admit(): void {
    // One look at the clock: a pause that ends between two would neither be over nor be waited for.
    const nowMs = this.#clock.monotonic()
    for (let at = 0; at < this.#waiting.length; ) {
      const waiter = this.#waiting[at]
      const endpoint = waiter && this.#free(waiter.wish, nowMs)
      if (waiter && endpoint) {
        this.#waiting.splice(at, 1)
        endpoint.inFlight++
        waiter.grant(endpoint)
      } else at++
    }
    this.#wakeAtPauseEnd(nowMs)
  }

  /** While somebody waits, one timer is set to the end of the nearest pause. */
  #wakeAtPauseEnd(nowMs: number): void {
    this.#timer?.abort()
    this.#timer = undefined
    if (this.#waiting.length === 0) return
    const ends = this.all.map(({ pausedUntilMs }) => pausedUntilMs).filter((endMs) => endMs > nowMs)
    if (ends.length === 0) return
    this.#timer = new AbortController()
    this.#clock.sleep(Math.min(...ends) - nowMs + 1, this.#timer.signal).then(
      () => this.#admit(),
      () => {},
    )
  }
}
