/** The telling of an event whose block was replaced, and of one whose block came back. */
import { hash as digest } from 'node:crypto'
import { isRecord } from '#primitives.ts'
import type { SentAgain, SentMessage, Telling } from '#rows/webhooks/messages.ts'
import { parseExact } from '#transform/decode/exactJson.ts'

/** One for each time: a receiver that knows an id drops what comes under it again. */
const idOf = ({ eventId, told }: SentMessage, type: Telling['type']): string =>
  `evt_${digest('sha256', `${eventId}:${type}:${told}`, 'hex')}`

export const retractionOf = (about: SentMessage): Telling => ({
  about,
  eventId: idOf(about, 'event:retracted'),
  type: 'event:retracted',
  data: JSON.stringify({ eventId: about.eventId }),
})

/** With the event itself: of the first delivery the receiver may have stored nothing. */
export function restorationOf(about: SentAgain): Telling {
  const envelope: unknown = about.envelope === null ? null : parseExact(about.envelope)
  const data = isRecord(envelope) ? { event: { type: envelope['type'], data: envelope['data'] } } : {}
  return {
    about,
    eventId: idOf(about, 'event:restored'),
    type: 'event:restored',
    data: JSON.stringify({ eventId: about.eventId, ...data }),
  }
}
