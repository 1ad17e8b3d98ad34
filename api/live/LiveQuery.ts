/**
 * One live query for everybody who asks it: it runs once per block, and its frames are encoded once. Who comes back with
 * an older place catches up alone and joins where the two meet.
 */
import { messageOf } from '#errors.ts'
import type { Clock } from '#runtime.ts'
import type { CommitBell } from '#store/commits.ts'
import type { Logger } from '#telemetry.ts'
import type { EventStream } from '../http/sse.ts'
import type { Feed, RunBlock } from './feed.ts'
import { finalizedFrame, laggedFrame, progressFrame, publicError, retryingFrame } from './frames.ts'

/** Frames kept for those who reconnect within seconds; few enough bytes to be sent at once to who does read. */
const recentFramesMax = 64
const recentBytesMax = 128 * 1024
/** Who catches up is given more when it has taken most of what it was given before. */
const unreadBytesMax = 64 * 1024
const unreadPollMs = 25
/** Who is further behind begins anew and is told what it missed: a query over the range answers that better. */
const catchUpBlocksMax = 1_000
/** A wake-up lost to another process costs this much. */
const pollMs = 1_000
const retryMs = 1_000

export interface LiveQueryOptions<Position> {
  readonly feed: Feed<Position>
  readonly run: RunBlock
  readonly bell: CommitBell
  readonly finalized: () => number
  readonly clock: Clock
  readonly log: Logger
}

interface RecentFrame {
  /** Ids of the places on both sides of the frame. */
  readonly before: string
  readonly after: string
  readonly bytes: Buffer | null
}

export class LiveQuery<Position> {
  readonly #options: LiveQueryOptions<Position>
  readonly #subscribers = new Set<EventStream>()
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

  /** Steps along the chain until aborted; whatever ends it ends its streams, so that their clients come back. */
  async run(signal: AbortSignal): Promise<void> {
    try {
      await this.#follow(signal)
    } finally {
      for (const stream of this.#subscribers) stream.close()
    }
  }

  async #follow(signal: AbortSignal): Promise<void> {
    const { feed, run } = this.#options
    while (!signal.aborted) {
      this.#tellFinalized()
      const step = await this.#retried(() => feed.next(this.#position, run), [...this.#subscribers], signal)
      if (step === null) await this.#idle(signal)
      else if (step === 'lost') this.#beginAnew()
      else this.#publish(step.position, step.bytes)
    }
  }

  /** Serves one client until it goes; resolves then. */
  async serve(stream: EventStream, lastEventId: string | undefined): Promise<void> {
    const { signal } = stream
    try {
      await this.#bringIn(stream, lastEventId)
      if (!signal.aborted)
        await new Promise<void>((resolve) =>
          signal.addEventListener('abort', () => resolve(), { once: true }),
        )
    } finally {
      this.#subscribers.delete(stream)
    }
  }

  /** Brings a stream to where the others are. */
  async #bringIn(stream: EventStream, lastEventId: string | undefined): Promise<void> {
    const { feed, run } = this.#options
    let at = lastEventId === undefined ? null : feed.parse(lastEventId)
    if (lastEventId !== undefined && at === null)
      stream.send(laggedFrame({ from: 0, to: -1 }, 'the place is not one of this stream'))
    while (at !== null && (await this.#hasRead(stream)) && !this.#join(stream, at)) {
      const missing = { from: feed.blockOf(at) + 1, to: feed.tip() }
      if (missing.to - missing.from >= catchUpBlocksMax) {
        stream.send(laggedFrame(missing, `more than ${catchUpBlocksMax} blocks behind`))
        break
      }
      const place: Position = at
      const step = await this.#retried(() => feed.next(place, run), [stream], stream.signal)
      if (step === 'lost') {
        stream.send(laggedFrame(missing, 'the place is not in the log'))
        break
      }
      if (step === null) await this.#idle(stream.signal)
      else {
        at = step.position
        if (step.bytes) stream.send(step.bytes)
      }
    }
    if (!stream.signal.aborted && !this.#subscribers.has(stream)) this.#joinHere(stream)
  }

  /** False when the stream ended instead; one that does not read is ended by its own watch. */
  async #hasRead(stream: EventStream): Promise<boolean> {
    while (!stream.signal.aborted && stream.unreadBytes > unreadBytesMax)
      await this.#options.clock.sleep(unreadPollMs, stream.signal).catch(() => {})
    return !stream.signal.aborted
  }

  #joinHere(stream: EventStream): void {
    const { feed } = this.#options
    const id = feed.format(this.#position)
    stream.send(progressFrame(id, feed.blockOf(this.#position), this.#finalized))
    this.#subscribers.add(stream)
  }

  /** Joins without a gap where the recent frames reach back to the place; false where they do not. */
  #join(stream: EventStream, at: Position): boolean {
    const id = this.#options.feed.format(at)
    if (id !== this.#options.feed.format(this.#position)) {
      const first = this.#recent.findIndex((frame) => frame.before === id)
      if (first < 0) return false
      for (const { bytes } of this.#recent.slice(first)) if (bytes) stream.send(bytes)
    }
    this.#subscribers.add(stream)
    return true
  }

  #publish(position: Position, bytes: Buffer | null): void {
    const { feed } = this.#options
    this.#remember({ before: feed.format(this.#position), after: feed.format(position), bytes })
    this.#position = position
    if (bytes) this.#broadcast(bytes)
  }

  #remember(frame: RecentFrame): void {
    this.#recent.push(frame)
    this.#recentBytes += frame.bytes?.length ?? 0
    while (this.#recent.length > recentFramesMax || this.#recentBytes > recentBytesMax)
      this.#recentBytes -= this.#recent.shift()?.bytes?.length ?? 0
  }

  /** The log no longer holds where we stand; every client hears what it missed. */
  #beginAnew(): void {
    const { feed } = this.#options
    const missed = { from: feed.blockOf(this.#position) + 1, to: feed.tip() }
    this.#position = feed.present()
    this.#recent.length = 0
    this.#recentBytes = 0
    this.#broadcast(laggedFrame(missed, 'the place is not in the log'))
    this.#broadcast(progressFrame(feed.format(this.#position), feed.blockOf(this.#position), this.#finalized))
  }

  #tellFinalized(): void {
    const finalized = this.#options.finalized()
    if (finalized <= this.#finalized) return
    this.#finalized = finalized
    this.#broadcast(finalizedFrame(finalized))
  }

  #broadcast(bytes: Buffer): void {
    for (const stream of this.#subscribers) if (!stream.send(bytes)) this.#subscribers.delete(stream)
  }

  /** Tries until it works; those who wait are told once what stands in the way. */
  async #retried<Result>(
    step: () => Promise<Result>,
    waiting: readonly EventStream[],
    signal: AbortSignal,
  ): Promise<Result | null> {
    const { clock, log } = this.#options
    for (let told = false; !signal.aborted; told = true) {
      try {
        return await step()
      } catch (error) {
        if (signal.aborted) return null
        log.warn({ error: messageOf(error) }, 'a live query waits for its store')
        if (!told) for (const stream of waiting) stream.send(retryingFrame(publicError(error)))
        await clock.sleep(retryMs, signal).catch(() => {})
      }
    }
    return null
  }

  #idle(signal: AbortSignal): Promise<void> {
    return this.#options.bell.wait(this.#options.clock, pollMs, signal)
  }
}
