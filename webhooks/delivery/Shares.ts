/**
 * How much may be under way to an endpoint for one owner, to it and for the owner, and in all, so
 * that those who answer slowly hold up themselves alone, and nobody who subscribes a stranger's
 * endpoint delays the stranger. Of one process.
 */
import { BoundedMap } from '#runtime/BoundedMap.ts'
import type { Clock } from '#runtime/runtime.ts'

export interface Receiver {
  readonly endpoint: string
  readonly owner: string
  /** Consecutive failures of the subscription. */
  readonly failureCount: number
}

/** First attempts of live events, further attempts, and first attempts of replays. */
export type Lane = 'first' | 'again' | 'replay'

/** For one owner; each has one, whatever others have there. */
const ENDPOINT_MAX = 4
/** For all owners together: an endpoint that many subscribe is no target. */
const ENDPOINT_ALL_MAX = 16
const OWNER_MAX = 32
const ALL_MAX = 256
/** Shares of each other lane: together they never take the last place from live events. */
const ENDPOINT_LANE_MAX = 1
const OWNER_LANE_MAX = 8
const ALL_LANE_MAX = 64
/** Failures in a row after which an endpoint is tried with one request at a time. */
const FAILING_FROM = 5
/** Requests of an owner to endpoints that fail, or that gave no answer to the last request. */
const OWNER_FAILING_MAX = 16
/** Endpoints that are known to answer; of more, those known longest are asked anew. */
const ANSWERING_MAX = 10_000
/** After a start the number of requests grows from a tenth to all of it: a backlog is no herd. */
export const RAMP_MS = 60_000
const RAMP_START = 0.1

export class Shares {
  readonly #clock: Clock
  readonly #startedMs: number
  readonly #counts: Map<string, number>
  readonly #answering: BoundedMap<string, true>

  /** `of`: what these begin with. */
  constructor(clock: Clock, of?: Shares) {
    this.#clock = clock
    this.#startedMs = of ? of.#startedMs : clock.monotonic()
    this.#counts = new Map(of ? of.#counts : [])
    this.#answering = of ? of.#answering : new BoundedMap({ max: ANSWERING_MAX })
  }

  /** The same shares, to find out what could be taken together. */
  trial(): Shares {
    return new Shares(this.#clock, this)
  }

  /** Requests that may be under way at a time, to all. */
  get capacity(): number {
    return Math.ceil(ALL_MAX * this.#ramp())
  }

  /** Whether more may be claimed than is sent at once: what hangs would hold it beyond its claim. */
  mayWait({ endpoint, failureCount }: Receiver): boolean {
    return failureCount === 0 && this.#answering.has(endpoint)
  }

  /** Requests to a receiver that may be begun now. */
  room(receiver: Receiver, lane: Lane): number {
    const isFailing = this.#isFailing(receiver)
    const own = this.#count(`place ${placeOf(receiver)}`)
    const shared = ENDPOINT_ALL_MAX - this.#count(`endpoint ${receiver.endpoint}`)
    const rooms = [
      Math.min((isFailing ? 1 : ENDPOINT_MAX) - own, Math.max(1 - own, shared)),
      OWNER_MAX - this.#count(`owner ${receiver.owner}`),
      this.capacity - this.#count('all'),
    ]
    if (isFailing) rooms.push(OWNER_FAILING_MAX - this.#count(`failing ${receiver.owner}`))
    if (lane !== 'first')
      rooms.push(
        ENDPOINT_LANE_MAX - this.#count(`${lane} place ${placeOf(receiver)}`),
        OWNER_LANE_MAX - this.#count(`${lane} owner ${receiver.owner}`),
        ALL_LANE_MAX - this.#count(`${lane} all`),
      )
    return Math.max(0, Math.min(...rooms))
  }

  /** The shares taken, to be given back. */
  take(receiver: Receiver, lane: Lane): readonly string[] {
    const names = namesOf(receiver, lane, this.#isFailing(receiver))
    for (const name of names) this.#counts.set(name, this.#count(name) + 1)
    return names
  }

  give(taken: readonly string[]): void {
    for (const name of taken) {
      const left = this.#count(name) - 1
      if (left > 0) this.#counts.set(name, left)
      else this.#counts.delete(name)
    }
  }

  /** Whether an endpoint answered a request, whatever it said. */
  answered(endpoint: string, did: boolean): void {
    if (did) this.#answering.set(endpoint, true)
    else this.#answering.delete(endpoint)
  }

  get underWay(): number {
    return this.#count('all')
  }

  /** Until it is known to answer an endpoint may be one that hangs: it is asked once at a time. */
  #isFailing({ endpoint, failureCount }: Receiver): boolean {
    return failureCount >= FAILING_FROM || !this.#answering.has(endpoint)
  }

  #count(name: string): number {
    return this.#counts.get(name) ?? 0
  }

  #ramp(): number {
    const passed = (this.#clock.monotonic() - this.#startedMs) / RAMP_MS
    return Math.min(1, RAMP_START + (1 - RAMP_START) * passed)
  }
}

/** The name of what an owner's subscriptions to one endpoint share. */
export const placeOf = ({ endpoint, owner }: Receiver): string => `${endpoint} ${owner}`

const namesOf = (receiver: Receiver, lane: Lane, isFailing: boolean): readonly string[] => [
  `place ${placeOf(receiver)}`,
  `endpoint ${receiver.endpoint}`,
  `owner ${receiver.owner}`,
  'all',
  ...(isFailing ? [`failing ${receiver.owner}`] : []),
  ...(lane === 'first'
    ? []
    : [`${lane} place ${placeOf(receiver)}`, `${lane} owner ${receiver.owner}`, `${lane} all`]),
]
