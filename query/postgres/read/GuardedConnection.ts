/**
 * Bounds on what one request may take from its connection: bytes, time, and the caller's patience.
 */

import type pg from 'pg'
import type { Clock } from '#runtime/runtime.ts'
import { answerBytesMax, GRACE_MS } from '../../limits.ts'
import type { QueryRequest } from '../../result.ts'
import { UserQueryError } from '../../UserQueryError.ts'

/**
 * Cuts the connection when the caller leaves, time is up or too many bytes come. `reason` says
 * which.
 */
export class GuardedConnection {
  reason: UserQueryError | undefined
  readonly #client: pg.PoolClient
  readonly #stop = new AbortController()
  readonly #signal: AbortSignal | undefined
  readonly #leave = () => this.#cut(new UserQueryError('sql_cancelled', 'the caller went away'))
  readonly #count = (chunk: Buffer) => this.#add(chunk.byteLength)
  // The driver reports a connection it lost while idle in our hands here; the query's own rejection
  // says the rest.
  readonly #ignore = () => {}
  readonly #bytesMax: number
  #bytes = 0

  constructor(client: pg.PoolClient, { timeoutMs, signal, limit }: QueryRequest, clock: Clock) {
    this.#client = client
    this.#bytesMax = answerBytesMax(limit)
    this.#signal = signal
    client.on('error', this.#ignore)
    // First in line: the driver would make a string of everything that came before it looks at the
    // next message.
    streamOf(client)?.prependListener('data', this.#count)
    signal?.addEventListener('abort', this.#leave, { once: true })
    if (signal?.aborted) this.#leave()
    const late = new UserQueryError('sql_timeout', `the query ran longer than ${timeoutMs} ms`)
    clock.sleep(timeoutMs + 2 * GRACE_MS, this.#stop.signal).then(
      () => this.#cut(late),
      () => {},
    )
  }

  #add(bytes: number): void {
    this.#bytes += bytes
    if (this.#bytes <= this.#bytesMax) return
    const hint = 'ask for fewer rows or columns'
    this.#cut(new UserQueryError('sql_failed', `the answer is larger than ${this.#bytesMax} bytes`, { hint }))
  }

  #cut(reason: UserQueryError): void {
    if (this.reason) return
    this.reason = reason
    streamOf(this.#client)?.destroy(reason)
  }

  release(): void {
    this.#stop.abort()
    this.#signal?.removeEventListener('abort', this.#leave)
    streamOf(this.#client)?.removeListener('data', this.#count)
    this.#client.off('error', this.#ignore)
  }
}

export interface ByteStream {
  on(event: 'data', listener: (chunk: Buffer) => void): unknown
  prependListener(event: 'data', listener: (chunk: Buffer) => void): unknown
  removeListener(event: 'data', listener: (chunk: Buffer) => void): unknown
  removeAllListeners(event: 'data'): unknown
  listeners(event: 'data'): ((chunk: Buffer) => void)[]
  cork(): void
  uncork(): void
  pause(): unknown
  resume(): unknown
  destroy(error: Error): unknown
}

/** The driver has the socket but its types do not say so. */
export function streamOf(client: object): ByteStream | undefined {
  const connection = 'connection' in client ? client.connection : undefined
  const stream =
    typeof connection === 'object' && connection && 'stream' in connection ? connection.stream : undefined
  return isByteStream(stream) ? stream : undefined
}

function isByteStream(value: unknown): value is ByteStream {
  return typeof value === 'object' && value !== null && 'prependListener' in value && 'destroy' in value
}
