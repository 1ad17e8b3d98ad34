/** A live query opens a stream of events and sends one. */
import type { Operation } from '../apiDocument.ts'
import type { Trial } from '../trial.ts'
import { withQuery } from './answers.ts'

/** Live streams say every few seconds that they are there. */
const firstEventMsMax = 60_000

export async function checkStream(trial: Trial, operation: Operation): Promise<void> {
  const url = `${operation.path}?sql=${encodeURIComponent('SELECT num FROM blocks')}`
  const { origin, headers } = trial.deployment
  const response = await fetch(origin + withQuery(url, 'live=true'), {
    headers,
    signal: AbortSignal.timeout(firstEventMsMax),
  })
  const type = response.headers.get('content-type') ?? ''
  trial.expect(
    response.status === 200 && type.startsWith('text/event-stream'),
    `live=true answers ${response.status}`,
  )
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  while (reader && !/^(event|data):/m.test(text)) {
    const { value, done } = await reader.read()
    if (done) break
    text += value
  }
  trial.expect(/^(event|data):/m.test(text), 'the stream ended without an event')
  await reader?.cancel()
}
