// Goal: the small print of subscriptions: how many there may be, what is refused wherever it is
// named, what is counted and kept (issue 17: "Easily missed", points 4 and 6).
// Method: the real endpoints over a real database; a resolver that a test answers for; rows are made
// older in the database.
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Retention } from '#rows/webhooks/Retention.ts'
import { silentLogger } from '#telemetry.ts'
import { openReceiver, type Receiver } from '../support/receiver.ts'
import { batchesOf, recorded } from './support/forks.ts'
import { openService, type Service } from './support/openService.ts'

const main = recorded(30)
let service: Service
let tip = 4
let receiver: Receiver
/** The address to which all names lead. */
let resolved = '1.1.1.1'

beforeAll(async () => {
  receiver = await openReceiver()
  service = await openService({ egress: { resolve: async () => [{ address: resolved, family: 4 }] } })
  await service.append(batchesOf(main, 0, 4))
  service.start()
})
afterAll(() => service.close())

/** So many more blocks; the newest. */
async function grow(count: number): Promise<number> {
  tip += count
  await service.append(batchesOf(main, tip - count + 1, tip))
  return tip
}

const blocks = (url: string, others: object = {}) =>
  service.subscribe({ eventType: 'block:created', destination: { type: 'url', url }, ...others })
const read = async (id: string) => (await service.ask('GET', `/v1/webhooks/${id}`)).body
const remove = (id: string) => service.ask('DELETE', `/v1/webhooks/${id}`)
const deliveries = async (id: string) =>
  (await service.ask('GET', `/v1/webhooks/${id}/deliveries?limit=50`)).body.data

test('changed filters hold from `activeFromBlock` on, exactly', async () => {
  const { id } = await blocks(receiver.url('/changed'))
  await grow(3)
  const { body } = await service.ask('PATCH', `/v1/webhooks/${id}`, { filters: { number: { gte: '0x9' } } })
  const first = body.activeFromBlock
  await grow(3)
  const expected = [5, 6, 7, 8, 9, 10].filter((number) => number < first || number >= 9)
  const all = await receiver.until('/changed', ({ length }) => length >= expected.length)
  expect(all.map(({ envelope }) => envelope.data.number).toSorted((a, b) => a - b)).toEqual(expected)
  await remove(id)
})

test('a place inside is refused in one sentence, wherever it is named, and by every attempt', async () => {
  const { id } = await blocks('https://example.com/hook')
  const to = (url: string) => ({ destination: { type: 'url', url } })
  resolved = '10.0.0.1'
  try {
    const told = new Set<string>()
    for (const url of ['https://example.com/', 'https://10.1.2.3/', 'https://[fd00::1]/', 'ftp://x.com/']) {
      const made = await service.ask('POST', '/v1/webhooks', { eventType: 'block:created', ...to(url) })
      const changed = await service.ask('PATCH', `/v1/webhooks/${id}`, to(url))
      for (const { status, body } of [made, changed]) {
        expect([status, body.error.code], url).toEqual([400, 'url_invalid'])
        told.add(body.error.message)
      }
    }
    expect(told.size).toBe(1)
    const pinged = (await service.ask('POST', `/v1/webhooks/${id}/ping`)).body
    expect(pinged).toEqual({
      ...{ delivered: false, eventId: pinged.eventId, error: 'The endpoint could not be reached.' },
    })
    await grow(1)
    while ((await deliveries(id)).filter(isFailed).length < 2) await pause()
    for (const one of await deliveries(id)) expect(one.error).toBe('The endpoint could not be reached.')
  } finally {
    resolved = '1.1.1.1'
  }
  await remove(id)
})

test('failures are counted up to a success; the moment of the last one is written once a minute', async () => {
  receiver.answer(() => 500)
  const { id } = await blocks(receiver.url('/counted'))
  await grow(2)
  while ((await read(id)).failureCount < 2) await pause()
  expect(await read(id)).not.toHaveProperty('lastDeliveryAt')
  receiver.answer(() => 200)
  await grow(1)
  while ((await read(id)).failureCount > 0) await pause()
  const { lastDeliveryAt, updatedAt } = await read(id)
  expect(lastDeliveryAt).toBeTruthy()
  await grow(2)
  while ((await deliveries(id)).filter(({ status }: Listed) => status === 'succeeded').length < 3)
    await pause()
  const moment = async () =>
    (
      await sql<{
        at: string
      }>`SELECT last_delivery_at::text AS at FROM app.webhooks WHERE id = ${id}`.execute(service.app)
    ).rows[0]?.at
  const before = await moment()
  await grow(1)
  while ((await deliveries(id)).filter(({ status }: Listed) => status === 'succeeded').length < 4)
    await pause()
  expect([await moment(), (await read(id)).updatedAt]).toEqual([before, updatedAt])
  await remove(id)
})

test('what is under way is not repeated by hand', async () => {
  const { id } = await blocks(receiver.url('/slow'))
  receiver.answer(() => undefined)
  await grow(1)
  let listed: readonly Listed[] = []
  while (listed.length === 0) listed = await deliveries(id)
  const [one] = listed
  const again = await service.ask('POST', `/v1/webhooks/${id}/deliveries/${one?.id}/retry`)
  expect([again.status, again.body.error.code]).toEqual([409, 'delivery_pending'])
  receiver.answer(() => 200)
  await remove(id)
})

test('nothing is sent after a subscription was ended or disabled', async () => {
  const [gone, off] = [await blocks(receiver.url('/gone')), await blocks(receiver.url('/off'))]
  const heard = await blocks(receiver.url('/heard'))
  await remove(gone.id)
  await service.ask('PATCH', `/v1/webhooks/${off.id}`, { status: 'disabled' })
  await grow(2)
  await receiver.until('/heard', ({ length }) => length === 2)
  expect([receiver.at('/gone'), receiver.at('/off')]).toEqual([[], []])
  for (const { id } of [off, heard]) await remove(id)
})

test('a hundred subscriptions of an owner, and no more; those that have ended count no longer', async () => {
  const listed = (await service.ask('GET', '/v1/webhooks?include=totalCount')).body.meta.totalCount
  const ids: string[] = []
  for (let n = listed; n < 100; n++) ids.push((await blocks(receiver.url('/many'))).id)
  const body = { eventType: 'block:created', destination: { type: 'url', url: receiver.url('/many') } }
  const refused = await service.ask('POST', '/v1/webhooks', body)
  expect([refused.status, refused.body.error.code]).toEqual([403, 'limit_exceeded'])
  await remove(ids.pop() ?? '')
  ids.push((await blocks(receiver.url('/many'))).id)
  for (const id of ids) await remove(id)
})

test('attempts are kept for 30 days and a thousand at most, envelopes for seven; what was not sent stays', async () => {
  const { id } = await blocks(receiver.url('/kept'))
  await grow(2)
  while ((await deliveries(id)).filter(({ status }: Listed) => status === 'succeeded').length < 2)
    await pause()
  await service.ask('PATCH', `/v1/webhooks/${id}`, { status: 'paused' })
  await grow(2)
  const messages = async () =>
    (
      await sql<{ state: string; has: boolean }>`
        SELECT state, envelope IS NOT NULL AS has FROM app.webhook_messages WHERE webhook_id = ${id} ORDER BY id`.execute(
        service.app,
      )
    ).rows
  while ((await messages()).length < 4) await pause()
  const age = (table: string, days: number) =>
    sql`UPDATE ${sql.table(table)} SET created_at = clock_timestamp() - ${days} * interval '1 day' WHERE webhook_id = ${id}`.execute(
      service.app,
    )
  const removeAll = async () => {
    const retention = new Retention(service.app, silentLogger)
    while (await retention.pass());
  }
  await age('app.webhook_messages', 8)
  await age('app.webhook_deliveries', 29)
  await removeAll()
  expect(await deliveries(id)).toHaveLength(2)
  expect((await messages()).map(({ state, has }) => [state, has])).toEqual([
    ...[
      ['delivered', false],
      ['delivered', false],
    ],
    ...[
      ['waiting', false],
      ['waiting', false],
    ],
  ])
  const [first] = await deliveries(id)
  expect((await service.ask('GET', `/v1/webhooks/${id}/deliveries/${first.id}`)).body.error.code).toBe(
    'delivery_not_found',
  )

  await sql`
    INSERT INTO app.webhook_deliveries (id, webhook_id, message, event_id, attempt, status, request_url)
    SELECT 'whd_' || lpad(n::text, 15, '0') || '_x', webhook_id, message, event_id, n, 'failed', request_url
    FROM app.webhook_deliveries, generate_series(2, 1100) AS n WHERE id = ${first.id}`.execute(service.app)
  await removeAll()
  const count = async () =>
    (await service.ask('GET', `/v1/webhooks/${id}/deliveries?include=totalCount`)).body.meta.totalCount
  expect(await count()).toBe(1_000)

  await age('app.webhook_deliveries', 31)
  await service.finalize(tip)
  await age('app.webhook_messages', 400)
  await removeAll()
  expect(await count()).toBe(0)
  while ((await messages()).length > 2) await removeAll()
  expect((await messages()).map(({ state }) => state)).toEqual(['waiting', 'waiting'])
  await service.ask('PATCH', `/v1/webhooks/${id}`, { status: 'active' })
  await receiver.until('/kept', ({ length }) => length === 4)
  await remove(id)
})

test('blocks that the head lane left behind are waited for, told as lag, and sent once history has them', async () => {
  const gapped = await openService()
  try {
    await gapped.append(batchesOf(main, 0, 4))
    gapped.start()
    const destination = { type: 'url', url: receiver.url('/gap') }
    const { activeFromBlock } = await gapped.subscribe({ eventType: 'block:created', destination })
    const { head, history } = gapped.store
    await head.seal(20)
    await gapped.append(batchesOf(main, 20, 24))
    const report = () => gapped.watch?.report()
    await expect.poll(report).toMatchObject({ chains: [{ stream: 'blocks', block: 4, lagBlocks: 20 }, {}] })
    for (const chunk of await history.openChunks({ from: 5, to: 19 })) {
      const { from, to } = chunk.range
      for (const batch of batchesOf(main, from, to)) await history.appendToChunk(chunk, batch)
      await history.attachChunk({ ...chunk, tip: to })
    }
    await gapped.append([])
    const all = await receiver.until('/gap', ({ length }) => length >= 20)
    expect(activeFromBlock).toBe(5)
    expect(
      all
        .toSorted((a, b) => a.envelope.meta.sequence - b.envelope.meta.sequence)
        .map(({ envelope }) => envelope.data.number),
    ).toEqual(Array.from({ length: 20 }, (_, n) => 5 + n))
  } finally {
    await gapped.close()
  }
})

test('without webhooks their paths say so', async () => {
  const off = await openService({ mode: 'off' })
  try {
    for (const path of ['/v1/webhooks', '/v1/webhooks/event-types', '/v1/webhooks/wh_1'])
      expect(await off.ask('GET', path)).toMatchObject({
        ...{ status: 404, body: { error: { code: 'webhooks_not_enabled' } } },
      })
  } finally {
    await off.close()
  }
})

interface Listed {
  readonly id: string
  readonly status: string
}

const isFailed = ({ status }: Listed): boolean => status === 'failed'
const pause = () => new Promise<void>((resolve) => setTimeout(resolve, 20))
