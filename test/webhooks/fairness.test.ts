// Goal: no receiver holds up what others are sent (W4).
// Method: messages as they stand after a bad hour are put into the tables of a real service; what the
// receivers on this machine got, and what became of the rows, is compared.
import type { ServerResponse } from 'node:http'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openReceiver, type Receiver } from '../support/receiver.ts'
import { batchesOf, recorded } from './support/forks.ts'
import { openService, type Service } from './support/openService.ts'

let service: Service
let receiver: Receiver
let hanging: Receiver
const main = recorded(60)
const held: ServerResponse[] = []

beforeAll(async () => {
  receiver = await openReceiver()
  hanging = await openReceiver()
  hanging.answer((_request, response) => {
    held.push(response)
    return undefined
  })
  service = await openService()
  await service.append(batchesOf(main, 0, 19))
  service.start()
})
afterAll(async () => {
  for (const response of held) response.writeHead(200).end()
  await service.close()
})

const query = async (text: string, values: readonly unknown[] = []) =>
  (await service.store.postgres.pool.query(text, [...values])).rows

const subscribe = (url: string, more: object = {}) =>
  service.subscribe({ eventType: 'block:created', destination: { type: 'url', url }, ...more })

/** Messages that failed once and are due again. */
const putDue = (id: string, count: number, lateSeconds: number) =>
  query(
    `INSERT INTO app.webhook_messages
       (webhook_id, event_id, type, state, block_num, block_hash, event_index, envelope, attempts, sequence, due_at)
     SELECT $1, 'evt_' || $1 || g, 'block:created', 'retrying', 5, '\\x00', 0, '{}', 1, g,
       clock_timestamp() - $3 * interval '1 second' FROM generate_series(1, $2::int) g`,
    [id, count, lateSeconds],
  )

test('more due retries of an endpoint that hangs than are looked at together delay nobody else', async () => {
  const bad = await subscribe(hanging.url('/hangs'))
  const good = await subscribe(receiver.url('/good'))
  await service.ask('PATCH', `/v1/webhooks/${good.id}`, { status: 'paused' })
  await putDue(bad.id, 600, 120)
  await putDue(good.id, 3, 60)
  await service.ask('PATCH', `/v1/webhooks/${good.id}`, { status: 'active' })
  await receiver.until('/good', ({ length }) => length === 3)
  await service.ask('DELETE', `/v1/webhooks/${bad.id}`)
}, 60_000)
