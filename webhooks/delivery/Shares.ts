/**
 * How much may be under way to an endpoint, for an owner, and in all, so that those who answer slowly
 * hold up themselves alone. Of one process.
 */
import type { Clock } from '#runtime.ts'

export interface Receiver {
  readonly endpoint: string
  readonly owner: string
  /** Consecutive failures of the subscription. */
  readonly failureCount: number
}

/** First attempts of live events, further attempts, and first attempts of replays. */
export type Lane = 'first' | 'again' | 'replay'

const ENDPOINT_MAX = 4
const OWNER_MAX = 32
const ALL_MAX = 256
/** Shares of each other lane: together they never take the last place from live events. */
const ENDPOINT_LANE_MAX = 1
const OWNER_LANE_MAX = 8
const ALL_LANE_MAX = 64
/** Failures in a row after which an endpoint is tried with one request at a time. */
const FAILING_FROM = 5
/** Requests of an owner to endpoints that fail. */
const OWNER_FAILING_MAX = 16
/** After a start the number of requests grows from a tenth to all of it: a backlog is no herd. */
const RAMP_MS = 60_000
const RAMP_START = 0.1

export class Shares {
  readonly #clock: Clock
  readonly #startedMs: number
  readonly #counts = new Map<string, number>()

  constructor(clock: Clock) {
    this.#clock = clock
    this.#startedMs = clock.monotonic()
  }

  /** Requests to a receiver that may be begun now. */
  room(receiver: Receiver, lane: Lane): number {
    const isFailing = receiver.failureCount >= FAILING_FROM
    const rooms = [
      (isFailing ? 1 : ENDPOINT_MAX) - this.#count(`endpoint ${receiver.endpoint}`),
      OWNER_MAX - this.#count(`owner ${receiver.owner}`),
      Math.ceil(ALL_MAX * this.#ramp()) - this.#count('all'),
    ]
    if (isFailing) rooms.push(OWNER_FAILING_MAX - this.#count(`failing ${receiver.owner}`))
    if (lane !== 'first')
      rooms.push(
        ENDPOINT_LANE_MAX - this.#count(`${lane} endpoint ${receiver.endpoint}`),
        OWNER_LANE_MAX - this.#count(`${lane} owner ${receiver.owner}`),
        ALL_LANE_MAX - this.#count(`${lane} all`),
      )
    return Math.max(0, Math.min(...rooms))
  }

  take(receiver: Receiver, lane: Lane): void {
    for (const name of namesOf(receiver, lane)) this.#counts.set(name, this.#count(name) + 1)
  }

  give(receiver: Receiver, lane: Lane): void {
    for (const name of namesOf(receiver, lane)) {
      const left = this.#count(name) - 1
      if (left > 0) this.#counts.set(name, left)
      else this.#counts.delete(name)
    }
  }

  get underWay(): number {
    return this.#count('all')
  }

  #count(name: string): number {
    return this.#counts.get(name) ?? 0
  }

  #ramp(): number {
    const passed = (this.#clock.monotonic() - this.#startedMs) / RAMP_MS
    return Math.min(1, RAMP_START + (1 - RAMP_START) * passed)
  }
}

const namesOf = ({ endpoint, owner, failureCount }: Receiver, lane: Lane): readonly string[] => [
  `endpoint ${endpoint}`,
  `owner ${owner}`,
  'all',
  ...(failureCount >= FAILING_FROM ? [`failing ${owner}`] : []),
  ...(lane === 'first' ? [] : [`${lane} endpoint ${endpoint}`, `${lane} owner ${owner}`, `${lane} all`]),
]
