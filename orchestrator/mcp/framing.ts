/** How answers of POST /mcp are framed: as JSON wherever that is taken, else as events. */
import type { RawAnswer } from '#http/answer/answer.ts'
import { isTaken } from '#http/request/accept.ts'
import { encodeFrame } from '#http/stream/sse.ts'
import type { Verbatim } from './Verbatim.ts'

export const JSON_TYPE = 'application/json'
export const EVENTS_TYPE = 'text/event-stream'

export type Framing = 'json' | 'events'

/** The framing that a client takes; null for one that takes neither. */
export function framingOf(accept: string | undefined): Framing | null {
  if (isTaken(JSON_TYPE, accept)) return 'json'
  return isTaken(EVENTS_TYPE, accept) ? 'events' : null
}

export const notAcceptable: RawAnswer = {
  kind: 'bytes',
  status: 406,
  contentType: `${JSON_TYPE}; charset=utf-8`,
  body: JSON.stringify({
    jsonrpc: '2.0',
    id: null,
    error: {
      code: -32000,
      message: `Accept must take ${JSON_TYPE} or ${EVENTS_TYPE}; without Accept the answer is JSON.`,
    },
  }),
}

/** @param text JSON, or nothing for a request in which no message asks for an answer */
export function framed(text: string, status: number, framing: Framing, verbatim: Verbatim): RawAnswer {
  if (text === '') return { kind: 'empty', status }
  // Errors of the request itself are JSON whatever its Accept says, as everywhere in the API.
  if (framing === 'json' || status !== 200)
    return { kind: 'bytes', status, contentType: `${JSON_TYPE}; charset=utf-8`, body: verbatim.fill(text) }
  const told: unknown = JSON.parse(text)
  const texts = [told].flat().map((answer) => verbatim.fill(JSON.stringify(answer)))
  const frames = texts.map((data) => encodeFrame({ event: 'message', data }))
  return { kind: 'bytes', status, contentType: `${EVENTS_TYPE}; charset=utf-8`, body: Buffer.concat(frames) }
}
