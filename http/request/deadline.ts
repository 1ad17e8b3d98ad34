/**
 * The end of a request's time: its deadline, or the moment its client is gone. Either aborts the
 * work it started.
 */
import type { ServerResponse } from 'node:http'
import { failure } from '#errors.ts'
import type { Clock } from '#runtime/runtime.ts'
import { ApiError } from '../errors.ts'

/** Every operation answers within this time. */
export const DEADLINE_MS_DEFAULT = 60_000

/** The client closed its connection before it had its answer. Nobody is there to be told. */
export class ClientGoneError extends failure('ClientGoneError', 'client_gone', 'stop') {}

export interface Deadline {
  /** Aborted, with the reason, when the time is over. Work passes it on to the databases. */
  readonly signal: AbortSignal
  /**
   * The result of `work`, or the reason for which the time is over: work that ignores its signal is
   * not waited for.
   */
  bound<Result>(work: Promise<Result>): Promise<Result>
  /** Takes the time limit away: a live stream lasts as long as its client does. */
  lift(): void
}

/** How far past its limit a request may be noticed; 60.5 s is promised. */
const SWEEP_MS = 250

/**
 * The deadlines of all requests under way, watched by one timer: a timer and an abort signal per
 * request cost 52 us of CPU, this costs 3.
 */
export class Deadlines {
  readonly #clock: Clock
  readonly #timed = new Set<TimedRequest>()
  #sweeping = false

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /**
   * Starts a request's time. It ends by itself with the response, body included, so that a download
   * is bounded too. `deadlineMs` null means that only the client can end it.
   */
  start(response: ServerResponse, deadlineMs: number | null): Deadline {
    const working = new AbortController()
    const { promise: over, reject } = Promise.withResolvers<never>()
    over.catch(() => {})
    const end = (reason: Error) => {
      lift()
      working.abort(reason)
      reject(reason)
    }
    const request: TimedRequest = { expiresMs: this.#clock.monotonic() + (deadlineMs ?? 0), end }
    const lift = () => this.#timed.delete(request)
    const onClose = () => {
      if (response.writableFinished) lift()
      else end(new ClientGoneError('the client closed the connection'))
    }
    if (deadlineMs !== null) this.#watch(request)
    if (response.closed) onClose()
    else response.once('close', onClose)
    return { signal: working.signal, lift, bound: (work) => bound(work, over, working.signal) }
  }

  #watch(request: TimedRequest): void {
    this.#timed.add(request)
    if (!this.#sweeping) void this.#sweep()
  }

  /** Runs while requests are under way, so that an idle program has no timer. */
  async #sweep(): Promise<void> {
    this.#sweeping = true
    while (this.#timed.size > 0) {
      await this.#clock.sleep(SWEEP_MS)
      const nowMs = this.#clock.monotonic()
      for (const { expiresMs, end } of this.#timed)
        if (expiresMs <= nowMs) end(new ApiError('request_timeout'))
    }
    this.#sweeping = false
  }
}

interface TimedRequest {
  readonly expiresMs: number
  readonly end: (reason: Error) => void
}

async function bound<Result>(
  work: Promise<Result>,
  over: Promise<never>,
  signal: AbortSignal,
): Promise<Result> {
  try {
    return await Promise.race([work, over])
  } catch (error) {
    // Work that noticed the signal may fail in its own words before we do in ours.
    throw signal.aborted ? signal.reason : error
  }
}
