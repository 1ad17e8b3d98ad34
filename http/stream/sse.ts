/**
 * Server-sent events. A frame is encoded once and its buffer shared by all clients that get it:
 * measured, per-client strings cost 828 MB where shared buffers cost 26. A client that does not
 * read is dropped, by bytes or by time; it never slows the others or fills memory.
 */
import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import type { Clock } from '#runtime/runtime.ts'

export interface SseFrame {
  /** Default: the unnamed `message` event. */
  readonly event?: string
  /** The value that a client sends back as Last-Event-ID to go on from here. */
  readonly id?: string
  /** A JSON value, or text that already is JSON. */
  readonly data: unknown
}

/** Why a stream ended. */
export type StreamEnd = 'finished' | 'timeOver' | 'clientGone' | 'shutdown' | 'bufferFull' | 'stalled'

/** Those that are no doing of ours. */
const wholeEnds: ReadonlySet<StreamEnd> = new Set(['timeOver', 'clientGone', 'bufferFull', 'stalled'])
/** Unread bytes a client may leave with us, beyond what its kernel buffers. */
const UNREAD_BYTES_MAX = 256 * 1024
/** A client that takes nothing for this long is gone or stuck. */
const STALL_MS_MAX = 15_000
/** Below the 30 to 60 s after which proxies cut idle connections. */
const HEARTBEAT_MS = 15_000
/** A client's wait before it reconnects. */
const RETRY_MS = 2_000
/** Longer ids are not ours. */
const LAST_EVENT_ID_CHARACTERS_MAX = 1024
/** In place of an id that no stream of ours can have given: no stream has it. */
export const foreignEventId = '?'

const heartbeat = Buffer.from(': heartbeat\n\n')
const preamble = Buffer.from(`retry: ${RETRY_MS}\n\n`)
const goodbye = encodeFrame({ event: 'closing', data: { ok: true, reason: 'shutdown' } })

/**
 * The bytes of one frame, to be sent to any number of clients. @throws TypeError for a line break
 * in event or id.
 */
export function encodeFrame({ event, id, data }: SseFrame): Buffer {
  const text = typeof data === 'string' ? data : JSON.stringify(data)
  const lines = text.split(/\r\n|\r|\n/).map((line) => `data: ${line}\n`)
  return Buffer.from(`${field('event', event)}${field('id', id)}${lines.join('')}\n`)
}

/** The id of the last frame the client saw, when it says so; `foreignEventId` where it cannot be ours. */
export function readLastEventId(headers: IncomingHttpHeaders): string | undefined {
  const id = headers['last-event-id']
  if (id === undefined || id.length === 0) return undefined
  const isOurs = typeof id === 'string' && id.length <= LAST_EVENT_ID_CHARACTERS_MAX && !/\p{Cc}/u.test(id)
  return isOurs ? id : foreignEventId
}

/** One client's stream. */
export class EventStream {
  /** Aborted when the stream has ended, for whatever reason. */
  readonly signal: AbortSignal
  readonly #ended = new AbortController()
  readonly #response: ServerResponse
  readonly #clock: Clock
  #end: StreamEnd | null = null
  #bytesWritten = 0
  #bytesTaken = 0
  #watching = false

  /**
   * Takes over the response and sends its head. `gone` is aborted when the client leaves,
   * `shutdown` when the program begins to stop.
   */
  constructor(
    response: ServerResponse,
    headers: Readonly<Record<string, number | string | string[] | undefined>>,
    { clock, gone, shutdown }: { clock: Clock; gone: AbortSignal; shutdown: AbortSignal },
  ) {
    this.signal = this.#ended.signal
    this.#response = response
    this.#clock = clock
    // Writes to a socket that is closing fail here; `gone` reports the same.
    response.on('error', () => this.#finish('clientGone'))
    for (const [name, value] of Object.entries({ ...headers, ...streamHeaders })) {
      if (value !== undefined) response.setHeader(name, value)
    }
    response.writeHead(200)
    this.send(preamble)
    onAbort(gone, this.signal, () => this.#finish('clientGone'))
    onAbort(shutdown, this.signal, () => {
      this.send(goodbye)
      this.#finish('shutdown')
    })
    void this.#beat()
  }

  /** Why the stream ended; null while it runs. */
  get end(): StreamEnd | null {
    return this.#end
  }

  /** Whether it gave what it was for: all of its time, or as much of it as its client took. */
  get isWhole(): boolean {
    return this.#end !== null && wholeEnds.has(this.#end)
  }

  /** Bytes that wait for the client to read. */
  get unreadBytes(): number {
    return this.#response.writableLength
  }

  /**
   * Queues a frame. False when the stream has ended, or ends now because the client does not read.
   * What was unread before decides: a frame that is larger than the bound alone says nothing of its
   * reader.
   */
  send(frame: Buffer): boolean {
    if (this.#end !== null) return false
    if (this.unreadBytes > UNREAD_BYTES_MAX) {
      this.#finish('bufferFull')
      return false
    }
    this.#bytesWritten += frame.length
    this.#response.write(frame, () => {
      this.#bytesTaken += frame.length
    })
    if (!this.#watching) void this.#watch()
    return true
  }

  /** Ends the stream in good order. */
  close(end: 'finished' | 'timeOver' = 'finished'): void {
    this.#finish(end)
  }

  #finish(end: StreamEnd): void {
    if (this.#end !== null) return
    this.#end = end
    // A client that does not read would never take a polite end either.
    if (end === 'bufferFull' || end === 'stalled') this.#response.destroy()
    else this.#response.end()
    this.#ended.abort()
  }

  async #beat(): Promise<void> {
    // A reader with something to read needs no sign of life, and more to read may be too much.
    while (await this.#sleeps(HEARTBEAT_MS)) if (this.unreadBytes === 0) this.send(heartbeat)
  }

  /**
   * Runs while there is something unread; ends the stream when nothing of it was taken for too
   * long.
   */
  async #watch(): Promise<void> {
    this.#watching = true
    let takenBefore = this.#bytesTaken
    while (this.#bytesTaken < this.#bytesWritten && (await this.#sleeps(STALL_MS_MAX))) {
      if (this.#bytesTaken === takenBefore && this.#bytesTaken < this.#bytesWritten) this.#finish('stalled')
      takenBefore = this.#bytesTaken
    }
    this.#watching = false
  }

  /** True after `ms`, false as soon as the stream has ended. */
  #sleeps(ms: number): Promise<boolean> {
    return this.#clock.sleep(ms, this.signal).then(
      () => this.#end === null,
      () => false,
    )
  }
}

/** `no-transform` keeps proxies from compressing, X-Accel-Buffering keeps nginx from collecting. */
const streamHeaders = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store, no-transform',
  'x-accel-buffering': 'no',
} as const

function onAbort(signal: AbortSignal, until: AbortSignal, act: () => void): void {
  if (signal.aborted) act()
  else signal.addEventListener('abort', act, { once: true, signal: until })
}

function field(name: string, value: string | undefined): string {
  if (value === undefined) return ''
  if (/[\r\n\0]/.test(value)) throw new TypeError(`a line break in a frame's ${name}`)
  return `${name}: ${value}\n`
}
