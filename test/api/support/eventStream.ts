/** A client of a live stream, reading as the standard says. */
import { createParser, type EventSourceMessage } from 'eventsource-parser'

export interface LiveEvent {
  readonly event: string
  readonly id: string | undefined
  readonly data: LiveData
}

/** Data of events: results have rows, those that new rows continue also blocks. */
export interface LiveData {
  readonly ok: boolean
  readonly rows?: readonly (readonly unknown[])[]
  readonly blocks?: readonly { readonly num: number; readonly hash: string }[]
  readonly reset?: boolean
  readonly retrying?: boolean
  readonly query_time_ms?: number
  /** First block that a gap leaves out. */
  readonly from?: number
}

export interface LiveClient {
  readonly status: number
  readonly headers: Headers
  readonly events: readonly LiveEvent[]
  /** Resolves with the events once `done` holds of them. */
  until(done: (events: readonly LiveEvent[]) => boolean): Promise<readonly LiveEvent[]>
  /** Resolves when the server ended the stream. */
  readonly ended: Promise<void>
  close(): void
}

/** @throws Error with the answer when it is no stream */
export async function openStream(url: string, lastEventId?: string): Promise<LiveClient> {
  const stop = new AbortController()
  const response = await fetch(url, {
    signal: stop.signal,
    headers: lastEventId === undefined ? {} : { 'last-event-id': lastEventId },
  })
  const { body } = response
  if (!response.headers.get('content-type')?.startsWith('text/event-stream') || !body)
    throw new Error(`${response.status}: ${await response.text()}`)
  const events: LiveEvent[] = []
  const waiting = new Set<() => void>()
  const parser = createParser({
    onEvent: (message: EventSourceMessage) => {
      events.push({ event: message.event ?? 'message', id: message.id, data: JSON.parse(message.data) })
      for (const look of waiting) look()
    },
  })
  const decoder = new TextDecoder()
  const read = async () => {
    for await (const chunk of body) parser.feed(decoder.decode(chunk, { stream: true }))
  }
  return {
    status: response.status,
    headers: response.headers,
    events,
    until: (done) =>
      new Promise((resolve) => {
        const look = () => {
          if (!done(events)) return
          waiting.delete(look)
          resolve(events)
        }
        waiting.add(look)
        look()
      }),
    ended: read().catch(() => {}),
    close: () => stop.abort(),
  }
}
