// Goal: no receiver, no damaged row and no other owner holds up what somebody is sent (W4, W7, D12).
// Method: messages as they stand after a bad hour are put into the tables of a real service; what the
// receivers on this machine got, and what became of the rows, is compared.
import type { ServerResponse } from 'node:http'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sealerOf } from '#rows/sealing.ts'
import { insertSubscription } from '#rows/webhooks/subscriptions.ts'
import { newSecret } from '#webhooks/signature.ts'
import { openReceiver, type Receiver } from '../../support/receiver.ts'
import { batchesOf, recorded } from '../support/forks.ts'
import { openService, type Service } from '../support/openService.ts'

/** Requests under way at a time, and as many claimed ahead. */
const CLAIMED_MAX = 2 * 256

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

const stateOf = async (id: string) =>
  (
    await query(
      `SELECT state, attempts, (SELECT failure_count FROM app.webhooks w WHERE w.id = m.webhook_id) AS failures
       FROM app.webhook_messages m WHERE webhook_id = $1 ORDER BY id`,
      [id],
    )
  ).map(({ state, attempts, failures }) => [state, attempts, failures])

const makeDue = (id: string) =>
  query(
    `UPDATE app.webhook_messages SET due_at = clock_timestamp() WHERE webhook_id = $1 AND state = 'retrying'`,
    [id],
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
})

test('a subscription that cannot be opened fails like an endpoint, is given up, and the next event goes on', async () => {
  const { id } = await subscribe(receiver.url('/sealed'), { ordering: 'strict' })
  const [kept] = await query('SELECT secret, sealed_destination FROM app.webhooks WHERE id = $1', [id])
  await query(`UPDATE app.webhooks SET secret = '\\x0102', sealed_destination = '\\x0102' WHERE id = $1`, [
    id,
  ])
  await service.append(batchesOf(main, 20, 21))
  for (let attempt = 1; attempt < 8; attempt++) {
    await expect
      .poll(() => stateOf(id))
      .toEqual([
        ['retrying', attempt, attempt],
        ['waiting', 0, attempt],
      ])
    await makeDue(id)
  }
  await expect.poll(() => stateOf(id)).toContainEqual(['exhausted', 8, expect.any(Number)])
  await query('UPDATE app.webhooks SET secret = $2, sealed_destination = $3 WHERE id = $1', [
    id,
    kept.secret,
    kept.sealed_destination,
  ])
  await expect
    .poll(async () => {
      await makeDue(id)
      return receiver.at('/sealed').map(({ envelope }) => envelope.data.number)
    })
    .toEqual([21])
  const { body } = await service.ask('GET', `/v1/webhooks/${id}/deliveries?limit=50`)
  const errors = body.data.map(({ error }: { error?: string }) => error ?? null)
  expect(errors.at(-1)).toMatch(/cannot be opened/)
  expect(errors[0]).toBeNull()
})

test('given its destination and a secret anew, it is sent to again', async () => {
  const { id } = await subscribe(receiver.url('/broken'))
  await query(`UPDATE app.webhooks SET secret = '\\x0102', sealed_destination = '\\x0102' WHERE id = $1`, [
    id,
  ])
  const ping = () => service.ask('POST', `/v1/webhooks/${id}/ping`)
  expect((await ping()).body).toMatchObject({
    delivered: false,
    error: expect.stringMatching(/cannot be opened/),
  })
  await service.ask('PATCH', `/v1/webhooks/${id}`, {
    destination: { type: 'url', url: receiver.url('/mended') },
  })
  await service.ask('POST', `/v1/webhooks/${id}/rotate-secret`, {})
  expect((await ping()).body).toMatchObject({ delivered: true })
  expect(receiver.at('/mended')).toHaveLength(1)
  await service.ask('DELETE', `/v1/webhooks/${id}`)
})

test('an event whose senders end again and again is given up', async () => {
  const { id } = await subscribe(receiver.url('/poison'))
  const [{ message }] = await query(
    `INSERT INTO app.webhook_messages
       (webhook_id, event_id, type, state, block_num, block_hash, event_index, envelope, attempts, sequence, due_at)
     VALUES ($1, 'evt_poison', 'block:created', 'retrying', 5, '\\x00', 0, '{}', 16, 1, clock_timestamp() + interval '1 hour')
     RETURNING id AS message`,
    [id],
  )
  await query(
    `INSERT INTO app.webhook_deliveries (id, webhook_id, message, event_id, attempt, status, request_url, error)
     SELECT 'whd_poison' || g, $1, $2, 'evt_poison', g, 'failed', 'http://x', 'The sender ended before the answer.'
     FROM generate_series(1, 16) g`,
    [id, message],
  )
  await query(`UPDATE app.webhook_messages SET state = 'sending', due_at = clock_timestamp() WHERE id = $1`, [
    message,
  ])
  await expect.poll(() => stateOf(id)).toEqual([['exhausted', 17, 1]])
  expect(receiver.at('/poison')).toEqual([])
})

test('thousands of subscriptions are claimed as they can be sent, and each event is sent once', async () => {
  const target = { type: 'url', url: receiver.url('/many') } as const
  for (let n = 0; n < 1_500; n++)
    await insertSubscription(service.app, sealerOf([new Uint8Array(32).fill(7)]), {
      ...{ id: `wh_many_${n}`, owner: `owner ${n}`, chainId: service.id, eventType: 'block:created' },
      ...{ destination: target, target, endpoint: `endpoint ${n}`, secret: newSecret() },
      ...{ filters: {}, context: null, finality: 'latest', ordering: 'none', activeFrom: 1_000 },
    })
  await query(
    `INSERT INTO app.webhook_messages (webhook_id, event_id, type, state, block_num, block_hash, event_index, data)
     SELECT w.id, 'evt_' || w.id || g, 'block:created', 'waiting', 5, '\\x00', g, '{}'
     FROM app.webhooks w, generate_series(1, 2) g WHERE w.id LIKE 'wh_many_%'`,
  )
  const claimed: number[] = []
  const open = async () => {
    const [row] = await query(
      `SELECT count(*) FILTER (WHERE state = 'sending') AS claimed, count(*) FILTER (WHERE state <> 'delivered') AS open
       FROM app.webhook_messages WHERE webhook_id LIKE 'wh_many_%'`,
    )
    claimed.push(row.claimed)
    return row.open
  }
  await expect.poll(open).toBe(0)
  expect(Math.max(...claimed)).toBeLessThanOrEqual(CLAIMED_MAX)
  const ids = receiver.at('/many').map(({ envelope }) => envelope.id)
  expect([ids.length, new Set(ids).size]).toEqual([3_000, 3_000])
  const [{ failed }] = await query(
    `SELECT count(*) AS failed FROM app.webhook_deliveries WHERE webhook_id LIKE 'wh_many_%' AND status = 'failed'`,
  )
  expect(failed).toBe(0)
})

test('an endpoint that strangers subscribe, a hundred times, is sent its owner’s events beside theirs', async () => {
  const url = hanging.url('/shared')
  const put = async (owner: string, count: number, lateSeconds: number) => {
    const { id } = await subscribe(url)
    await query('UPDATE app.webhooks SET owner = $2 WHERE id = $1', [id, owner])
    await putDue(id, count, lateSeconds)
    return id
  }
  for (let n = 0; n < 10; n++) await put('org_stranger', 10, 120)
  await hanging.until('/shared', ({ length }) => length === 1)
  const own = await put('org_owner', 1, 0)
  const [, second] = await hanging.until('/shared', ({ length }) => length === 2)
  expect(second?.headers['svc-event-id']).toBe(`evt_${own}1`)
  await query(
    'DELETE FROM app.webhook_messages WHERE webhook_id IN (SELECT id FROM app.webhooks WHERE owner LIKE $1)',
    ['org_%er'],
  )
})
