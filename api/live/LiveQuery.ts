/**
 * One live query for all clients that ask it: it runs once per block, and its frames are encoded
 * once. A client that comes back with an older place, or reads more slowly than blocks come,
 * catches up alone and joins where the two meet.
 */
import { messageOf } from '#errors.ts'
import type { EventStream } from '#http/stream/sse.ts'
import { type Next, repeat } from '#runtime/repeat.ts'
import type { Clock } from '#runtime/runtime.ts'
import type { CommitBell } from '#store/ledger/commits.ts'
import type { Logger } from '#telemetry.ts'
import type { Feed, RunBlock } from './feed.ts'
import { finalizedFrame, laggedFrame, progressFrame, publicError, retryingFrame } from './frames.ts'

/**
 * Frames kept for clients that reconnect within seconds; few enough bytes to be sent in one piece.
 */
const RECENT_FRAMES_MAX = 64
const RECENT_BYTES_MAX = 128 * 1024
/** A client with more than this unread leaves the shared stream and catches up alone. */
const UNREAD_BYTES_MAX = 64 * 1024
const UNREAD_POLL_MS = 25
/**
 * A client further behind starts over and is told what it missed: a query over the range answers
 * that better.
 */
const CATCH_UP_BLOCKS_MAX = 1_000
/** A wake-up lost to another process costs this much. */
const POLL_MS = 1_000
const RETRY_MS = 1_000

const reasons = {
  behind: `more than ${CATCH_UP_BLOCKS_MAX} blocks behind`,
  lost: 'the place is not in the log',
  foreign: 'the Last-Event-ID is foreign: this stream never gave it',
} as const

export interface LiveQueryOptions<Position> {
  readonly feed: Feed<Position>
  readonly run: RunBlock
  /**
   * The same for one client that catches up; it waits its turn behind others who do, not in front
   * of `run`.
   */
  readonly catchUp: RunBlock
  readonly bell: CommitBell
  readonly finalized: () => number
  readonly clock: Clock
  readonly log: Logger
}

/** Resolves with the place where a stream left the others, null when it ended. */
type Left<Position> = Promise<Position | null>

interface RecentFrame {
  /** Ids of the places on both sides of the frame. */
  readonly before: string
  readonly after: string
  readonly bytes: Buffer | null
}

export class LiveQuery<Position> {
  readonly #options: LiveQueryOptions<Position>
  /**
   * All that are served; those with the others' frames in common are told apart by what lets them
   * go on alone.
   */
  readonly #streams = new Set<EventStream>()
  readonly #subscribers = new Map<EventStream, (left: Position | null) => void>()
  readonly #recent: RecentFrame[] = []
  #recentBytes = 0
  #position: Position
  #finalized: number

  constructor(options: LiveQueryOptions<Position>) {
    this.#options = options
    this.#position = options.feed.present()
    this.#finalized = options.finalized()
  }

  get subscribers(): number {
    return this.#subscribers.size
  }

  /**
   * Steps along the chain until aborted; whatever ends it ends its streams, so that their clients
   * come back.
   */
  async run(signal: AbortSignal): Promise<void> {
    try {
      await this.#follow(signal)
    } finally {
      for (const stream of this.#streams) stream.close()
    }
  }

  async #follow(signal: AbortSignal): Promise<void> {
    const { feed, run, clock } = this.#options
    await repeat({ clock, signal }, async () => {
      this.#tellFinalized()
      const step = await this.#retried(
        () => feed.next(this.#position, run),
        [...this.#subscribers.keys()],
        signal,
      )
      if (step === null) await this.#idle(signal)
      else if (step === 'lost' || step === 'foreign') await this.#restart(signal)
      else this.#publish(step.position, step.bytes)
      return 0
    })
  }

  /** Serves one client until it goes; resolves then. */
  async serve(stream: EventStream, lastEventId: string | undefined): Promise<void> {
    const { feed, clock } = this.#options
    this.#streams.add(stream)
    try {
      let place = lastEventId === undefined ? null : feed.parse(lastEventId)
      if (lastEventId !== undefined && place === null)
        stream.send(laggedFrame({ from: 0, to: feed.blockOf(this.#position) }, reasons.foreign, true))
      await repeat({ clock, signal: stream.signal }, async () => {
        place = await this.#accompany(stream, place)
        return 0
      })
    } finally {
      this.#streams.delete(stream)
    }
  }

  /**
   * Brings a stream to where the others are. Resolves with the place where it left them again, null
   * when it ended.
   */
  async #accompany(stream: EventStream, place: Position | null): Left<Position> {
    const { feed, catchUp } = this.#options
    let at = place
    while (at !== null && (await this.#hasRead(stream))) {
      const left = this.#join(stream, at)
      if (left) return left
      const before: Position = at
      const behind = feed.blockOf(feed.reached()) - feed.blockOf(before)
      const step =
        behind > CATCH_UP_BLOCKS_MAX
          ? 'behind'
          : await this.#retried(() => feed.next(before, catchUp), [stream], stream.signal)
      if (step === 'behind' || step === 'lost' || step === 'foreign') {
        const anew = await this.#beginAnew(before, step, stream.signal)
        stream.send(anew.bytes)
        at = anew.position
      } else if (step === null) await this.#idle(stream.signal)
      else {
        at = step.position
        if (step.bytes) stream.send(step.bytes)
      }
    }
    return this.#joinHere(stream)
  }

  /** False when the stream ended instead; one that does not read is ended by its own watch. */
  async #hasRead(stream: EventStream): Promise<boolean> {
    await repeat({ clock: this.#options.clock, signal: stream.signal }, () =>
      stream.unreadBytes > UNREAD_BYTES_MAX ? UNREAD_POLL_MS : 'ended',
    )
    return !stream.signal.aborted
  }

  #joinHere(stream: EventStream): Left<Position> {
    const { feed } = this.#options
    const id = feed.format(this.#position)
    stream.send(progressFrame(id, feed.blockOf(this.#position), this.#finalized))
    return this.#subscribe(stream)
  }

  /**
   * Joins without a gap where the recent frames reach back to the place; null where they do not.
   */
  #join(stream: EventStream, at: Position): Left<Position> | null {
    const id = this.#options.feed.format(at)
    if (id !== this.#options.feed.format(this.#position)) {
      const first = this.#recent.findIndex((frame) => frame.before === id)
      if (first < 0) return null
      for (const { bytes } of this.#recent.slice(first)) if (bytes) stream.send(bytes)
    }
    if (this.#finalized >= 0) stream.send(finalizedFrame(this.#finalized))
    return this.#subscribe(stream)
  }

  async #subscribe(stream: EventStream): Left<Position> {
    const { promise, resolve } = Promise.withResolvers<Position | null>()
    const gone = () => resolve(null)
    if (stream.signal.aborted) return null
    stream.signal.addEventListener('abort', gone, { once: true })
    this.#subscribers.set(stream, resolve)
    const place = await promise
    stream.signal.removeEventListener('abort', gone)
    this.#subscribers.delete(stream)
    return place
  }

  #publish(position: Position, bytes: Buffer | null): void {
    const { feed } = this.#options
    this.#remember({ before: feed.format(this.#position), after: feed.format(position), bytes })
    if (bytes) this.#broadcast(bytes)
    this.#position = position
  }

  #remember(frame: RecentFrame): void {
    this.#recent.push(frame)
    this.#recentBytes += frame.bytes?.length ?? 0
    while (this.#recent.length > RECENT_FRAMES_MAX || this.#recentBytes > RECENT_BYTES_MAX)
      this.#recentBytes -= this.#recent.shift()?.bytes?.length ?? 0
  }

  /** The log no longer holds where the query stands; every client hears what it missed. */
  async #restart(signal: AbortSignal): Promise<void> {
    const { position, bytes } = await this.#beginAnew(this.#position, 'lost', signal)
    this.#recent.length = 0
    this.#recentBytes = 0
    this.#broadcast(bytes)
    this.#position = position
  }

  /**
   * A place from which a stream goes on that cannot from where it is, and the frames that say so.
   * What the client is to ask again ends at that very place, chosen before it is looked up from
   * where the client is unsure: what changes meanwhile, and what readers of the engine do not see
   * yet, is told by the stream.
   */
  async #beginAnew(
    lost: Position,
    why: keyof typeof reasons,
    signal: AbortSignal,
  ): Promise<{ readonly position: Position; readonly bytes: Buffer }> {
    const { feed } = this.#options
    const position = feed.reached()
    const to = feed.blockOf(position)
    const isForeign = why === 'foreign'
    const from = isForeign ? 0 : await this.#retried(() => feed.unsureFrom(lost), [], signal)
    const lagged = laggedFrame({ from: from ?? 0, to }, reasons[why], isForeign)
    const progress = progressFrame(feed.format(position), to, this.#finalized)
    return { position, bytes: Buffer.concat([lagged, progress]) }
  }

  #tellFinalized(): void {
    const finalized = this.#options.finalized()
    if (finalized <= this.#finalized) return
    this.#finalized = finalized
    this.#broadcast(finalizedFrame(finalized))
  }

  /**
   * To all who have read what came before; the others go on alone from where this query stands now.
   */
  #broadcast(bytes: Buffer): void {
    for (const [stream, leave] of this.#subscribers) {
      const isBehind = stream.unreadBytes > UNREAD_BYTES_MAX
      if (!isBehind && stream.send(bytes)) continue
      this.#subscribers.delete(stream)
      leave(stream.signal.aborted ? null : this.#position)
    }
  }

  /** Tries until it works; those who wait are told once what stands in the way. */
  async #retried<Result>(
    step: () => Promise<Result>,
    waiting: readonly EventStream[],
    signal: AbortSignal,
  ): Promise<Result | null> {
    const { clock, log } = this.#options
    let result: Result | null = null
    const failed = (error: unknown, failures: number) => {
      log.warn({ error: messageOf(error) }, 'a live query waits for its store')
      if (failures === 1)
        for (const stream of waiting)
          if (stream.unreadBytes <= UNREAD_BYTES_MAX) stream.send(retryingFrame(publicError(error)))
      return RETRY_MS
    }
    await repeat({ clock, signal, failed }, async (): Promise<Next> => {
      result = await step()
      return 'ended'
    })
    return result
  }

  #idle(signal: AbortSignal): Promise<void> {
    return this.#options.bell.wait(this.#options.clock, POLL_MS, signal)
  }
}
