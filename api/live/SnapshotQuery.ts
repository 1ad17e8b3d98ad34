/**
 * A live query that no single block can answer (an aggregate, a ranking): the whole result again
 * whenever it changed. Every frame replaces the one before, so there is nothing to resume; changes
 * that come faster than the query runs are merged.
 */
import { hash } from 'node:crypto'
import { once } from 'node:events'
import { messageOf } from '#errors.ts'
import type { EventStream } from '#http/stream/sse.ts'
import { encodeFrame } from '#http/stream/sse.ts'
import type { QueryResult } from '#query/result.ts'
import { repeat } from '#runtime/repeat.ts'
import type { Clock } from '#runtime/runtime.ts'
import type { CommitBell } from '#store/ledger/commits.ts'
import type { Logger } from '#telemetry.ts'
import { publicError, retryingFrame } from './frames.ts'
import { presentResult } from './result.ts'

export interface SnapshotQueryOptions {
  /** The query over all that is visible. @throws UserQueryError */
  readonly run: () => Promise<QueryResult>
  /** Another value whenever what is visible has changed. */
  readonly version: () => string
  readonly bell: CommitBell
  readonly clock: Clock
  readonly log: Logger
}

/** A query may run a tenth of the time: what takes a second is asked every ten. */
const REST_PER_RUN = 9
const POLL_MS = 1_000

export class SnapshotQuery {
  readonly #options: SnapshotQueryOptions
  readonly #subscribers = new Set<EventStream>()
  #latest: { readonly id: string; readonly bytes: Buffer } | null = null

  constructor(options: SnapshotQueryOptions) {
    this.#options = options
  }

  /** Asks again with every change until aborted; whatever ends it ends its streams. */
  async run(signal: AbortSignal): Promise<void> {
    const { version, bell, clock } = this.#options
    let seen: string | null = null
    try {
      await repeat({ clock, signal }, async () => {
        const present = version()
        if (present === seen) {
          await bell.wait(clock, POLL_MS, signal)
          return 0
        }
        const startedMs = clock.monotonic()
        if (await this.#ask()) seen = present
        const restMs = Math.max(REST_PER_RUN * (clock.monotonic() - startedMs), 1)
        return seen === present ? restMs : Math.max(restMs, POLL_MS)
      })
    } finally {
      for (const stream of this.#subscribers) stream.close()
    }
  }

  /** Serves one client until it goes; one that has the present result hears of the next. */
  async serve(stream: EventStream, lastEventId: string | undefined): Promise<void> {
    const { signal } = stream
    if (this.#latest && this.#latest.id !== lastEventId) stream.send(this.#latest.bytes)
    this.#subscribers.add(stream)
    try {
      if (!signal.aborted) await once(signal, 'abort')
    } finally {
      this.#subscribers.delete(stream)
    }
  }

  /** False when the store did not answer. */
  async #ask(): Promise<boolean> {
    try {
      const result = await this.#options.run()
      const id = `s.${hash('sha256', JSON.stringify([result.columns, result.rows]), 'base64url').slice(0, 22)}`
      if (id === this.#latest?.id) return true
      const bytes = encodeFrame({ event: 'result', id, data: { ...presentResult(result), reset: true } })
      this.#latest = { id, bytes }
      this.#broadcast(bytes)
      return true
    } catch (error) {
      this.#options.log.warn({ error: messageOf(error) }, 'a live query waits for its store')
      this.#broadcast(retryingFrame(publicError(error)))
      return false
    }
  }

  #broadcast(bytes: Buffer): void {
    for (const stream of this.#subscribers) if (!stream.send(bytes)) this.#subscribers.delete(stream)
  }
}
