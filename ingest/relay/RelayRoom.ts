/**
 * Places at the endpoints for calls of clients: a call waits its turn where none is free, and not
 * for long.
 */
import { MillraceError } from '#errors.ts'
import type { Clock } from '#runtime/runtime.ts'

/** An endpoint with places. */
export interface Roomy {
  inFlight: number
  readonly hasRoom: boolean
  /** Monotonic milliseconds at which it takes calls again. */
  readonly pausedUntilMs: number
}

/** Calls that wait for room at once; more are told at once to come back. */
const WAITING_MAX = 512
/** A call waits this long for room, or for the end of a pause. */
const ROOM_MS = 5_000

export class RelayRoom<Endpoint extends Roomy> {
  readonly #clock: Clock
  readonly #waiting = new Set<Waiting<Endpoint>>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** A place at the best endpoint that is not tried yet; undefined when all are. */
  async take(
    able: readonly Endpoint[],
    tried: ReadonlySet<Endpoint>,
    signal: AbortSignal,
  ): Promise<Endpoint | undefined> {
    const untilMs = this.#clock.monotonic() + ROOM_MS
    for (;;) {
      const left = able.filter((endpoint) => !tried.has(endpoint))
      if (left.length === 0) return undefined
      const free = this.free(left)
      if (free) return free
      const nowMs = this.#clock.monotonic()
      const pauses = left.map(({ pausedUntilMs }) => pausedUntilMs)
      if (nowMs >= untilMs || Math.min(...pauses) > untilMs) return undefined
      if (this.#waiting.size >= WAITING_MAX) throw new RelayBusyError()
      const nextMs = Math.min(untilMs, ...pauses.filter((endMs) => endMs > nowMs))
      await this.#wait(left, Math.max(1, nextMs - nowMs), signal)
    }
  }

  /** The first of these with a place that is free now, which is taken. */
  free(endpoints: readonly Endpoint[]): Endpoint | undefined {
    const nowMs = this.#clock.monotonic()
    const free = endpoints.find(({ hasRoom, pausedUntilMs }) => hasRoom && pausedUntilMs <= nowMs)
    if (free) free.inFlight++
    return free
  }

  /** Gives a place back, to the call that has waited longest for one there. */
  release(endpoint: Endpoint): void {
    endpoint.inFlight--
    for (const waiting of this.#waiting) {
      if (!waiting.left.includes(endpoint)) continue
      this.#waiting.delete(waiting)
      waiting.woken.abort()
      return
    }
  }

  async #wait(left: readonly Endpoint[], ms: number, signal: AbortSignal): Promise<void> {
    const waiting = { left, woken: new AbortController() }
    this.#waiting.add(waiting)
    try {
      await this.#clock.sleep(ms, AbortSignal.any([signal, waiting.woken.signal])).catch(() => {})
    } finally {
      this.#waiting.delete(waiting)
    }
    signal.throwIfAborted()
  }
}

interface Waiting<Endpoint> {
  /** Endpoints that it may still go to. */
  readonly left: readonly Endpoint[]
  readonly woken: AbortController
}

/** As many calls wait as may. */
export class RelayBusyError extends MillraceError {
  override readonly name = 'RelayBusyError'
  readonly code = 'overloaded'
  readonly remedy = 'retry'

  constructor() {
    super('Too many calls wait for a node. Retry shortly.')
  }
}
