// Goal: endpoints that fail, hang, redirect or are gone, and processes that die between two commits,
// lose nothing, disorder nothing and cost others nothing (WH-03, WH-04, WH-06, WH-09).
// Method: a receiver that misbehaves; failpoints that throw where a kill would end the program;
// time passes by moving what is due in the database.
import { sql } from 'kysely'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Runtime } from '#runtime/runtime.ts'
import { retryWaitsMs } from '#webhooks/delivery/schedule.ts'
import { openReceiver, type Receiver } from '../../support/receiver.ts'
import { batchesOf, recorded } from '../support/forks.ts'
import { openService, type Service } from '../support/openService.ts'
import { matching, sending } from '../support/places.ts'

const main = recorded(40)
let service: Service
let receiver: Receiver
/** Throws at the next visit of this place. */
let dying = ''

beforeEach(async () => {
  receiver = await openReceiver()
  dying = ''
  const failpoint: Runtime['failpoint'] = (name) => {
    if (name !== dying) return
    dying = ''
    throw new Error(`ended at ${name}`)
  }
  service = await openService({ runtime: { failpoint } })
  await service.append(batchesOf(main, 0, 4))
  service.start()
})
afterEach(() => service.close())

const blocks = (path: string, others: object = {}) =>
  service.subscribe({
    eventType: 'block:created',
    destination: { type: 'url', url: receiver.url(path) },
    ...others,
  })

interface Row {
  readonly state: string
  readonly attempts: number
  readonly wait_ms: number | null
}

async function rowsOf(id: string): Promise<Row[]> {
  const { rows } = await sql<Row>`
    SELECT state, attempts, (extract(epoch FROM due_at - clock_timestamp()) * 1000)::float8 AS wait_ms
    FROM app.webhook_messages WHERE webhook_id = ${id} ORDER BY id`.execute(service.app)
  return rows
}

/** Resolves when all of a subscription's messages fit. */
async function untilRows(id: string, fits: (row: Row) => boolean): Promise<Row[]> {
  for (;;) {
    const rows = await rowsOf(id)
    if (rows.length > 0 && rows.every(fits)) return rows
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

/** All that waits for its time is due. */
const passTime = () =>
  sql`UPDATE app.webhook_messages SET due_at = clock_timestamp() WHERE state IN ('sending', 'retrying')`.execute(
    service.app,
  )

const numbers = (path: string) => receiver.at(path).map(({ envelope }) => envelope.data.number)

test('an event that fails is tried eight times on schedule, with the same bytes', async () => {
  receiver.answer(() => 503)
  const { id } = await blocks('/down')
  await service.append(batchesOf(main, 5, 5))
  for (const [index, waitMs] of retryWaitsMs.entries()) {
    const [row] = await untilRows(id, ({ state, attempts }) => state === 'retrying' && attempts === index + 1)
    expect(row?.wait_ms).toBeGreaterThan(waitMs * 0.8 - 5_000)
    expect(row?.wait_ms).toBeLessThanOrEqual(waitMs * 1.2)
    await passTime()
  }
  await untilRows(id, ({ state }) => state === 'exhausted')
  expect(receiver.at('/down')).toHaveLength(8)
  expect(new Set(receiver.at('/down').map(({ body }) => body)).size).toBe(1)
  const { data } = (await service.ask('GET', `/v1/webhooks/${id}/deliveries`)).body
  expect(data.map((one: { attempt: number }) => one.attempt)).toEqual([8, 7, 6, 5, 4, 3, 2, 1])
  expect((await service.ask('GET', `/v1/webhooks/${id}`)).body.failureCount).toBe(8)
})

test('a redirect is a failure, and 410 disables at once; who subscribed to that is told', async () => {
  await service.subscribe({
    eventType: 'webhook:disabled',
    destination: { type: 'url', url: receiver.url('/notices') },
  })
  receiver.answer(({ path }, response) => {
    if (path === '/away') response.setHeader('location', receiver.url('/inside'))
    return path === '/away' ? 302 : path === '/gone' ? 410 : 200
  })
  const [away, gone] = [await blocks('/away'), await blocks('/gone')]
  await service.append(batchesOf(main, 5, 5))
  const [notice] = await receiver.until('/notices', ({ length }) => length === 1)
  expect(notice?.envelope.data).toMatchObject({ subscriptionId: gone.id, reason: 'gone' })
  await untilRows(away.id, ({ state }) => state === 'retrying')
  expect(receiver.at('/inside')).toEqual([])
  expect((await service.ask('GET', `/v1/webhooks/${gone.id}`)).body).toMatchObject({
    ...{ status: 'disabled', disabledReason: 'gone' },
  })
})

test('a hundred failures and three days without a success disable; activation starts at the present', async () => {
  receiver.answer(() => 500)
  const { id } = await blocks('/failing')
  const failures = (count: number, hours: number) =>
    sql`UPDATE app.webhooks SET failure_count = ${count}, failing_since = clock_timestamp() - ${hours} * interval '1 hour'
        WHERE id = ${id}`.execute(service.app)
  const status = async () => (await service.ask('GET', `/v1/webhooks/${id}`)).body
  for (const [count, hours, block] of [
    [98, 100, 5],
    [99, 71, 6],
  ] as const) {
    await failures(count, hours)
    await service.append(batchesOf(main, block, block))
    await untilRows(id, ({ state }) => state === 'retrying')
    expect((await status()).status).toBe('active')
  }
  await failures(99, 73)
  await service.append(batchesOf(main, 7, 7))
  while ((await status()).status === 'active') await new Promise((resolve) => setTimeout(resolve, 20))
  expect(await status()).toMatchObject({ disabledReason: 'failing', failureCount: 100 })
  await service.append(batchesOf(main, 8, 9))
  receiver.answer(() => 200)
  const { body: activated } = await service.ask('PATCH', `/v1/webhooks/${id}`, { status: 'active' })
  const { activeFromBlock } = activated
  expect(activated).toMatchObject({
    ...{ status: 'active', failureCount: 0, missedBlocks: { from: 5, to: activeFromBlock - 1 } },
  })
  const before = receiver.at('/failing').length
  await service.append(batchesOf(main, 10, 10))
  await receiver.until('/failing', (received) => received.at(-1)?.envelope.data.number === 10)
  expect(numbers('/failing')[before]).toBe(activeFromBlock)
})

test('a strict subscription keeps its order through failures', async () => {
  let answers = 0
  receiver.answer(() => (++answers % 3 === 0 ? 200 : 500))
  const { id } = await blocks('/strict', { ordering: 'strict' })
  await service.append(batchesOf(main, 5, 8))
  for (let taken = 1; taken <= 4; taken++)
    for (let tries = 1; tries <= 3; tries++) {
      await receiver.until('/strict', ({ length }) => length >= 3 * (taken - 1) + tries)
      if (tries === 3) continue
      while (!(await rowsOf(id)).some(({ state }) => state === 'retrying'))
        await new Promise((resolve) => setTimeout(resolve, 20))
      await passTime()
    }
  expect(numbers('/strict')).toEqual([5, 5, 5, 6, 6, 6, 7, 7, 7, 8, 8, 8])
})

test('an endpoint that never answers holds up no other', async () => {
  let [open, openMost] = [0, 0]
  receiver.answer(({ path }, response) => {
    if (path !== '/silent') return 200
    openMost = Math.max(openMost, ++open)
    response.on('close', () => {
      open--
    })
    return undefined
  })
  for (let k = 0; k < 12; k++) await blocks('/silent')
  await blocks('/healthy')
  await service.append(batchesOf(main, 5, 24))
  await receiver.until('/healthy', ({ length }) => length === 20)
  expect(openMost).toBeLessThanOrEqual(4)
})

for (const place of [...matching, ...sending])
  test(`a process that ends at ${place} loses nothing; what comes twice is the same`, async () => {
    const { id } = await blocks('/all')
    dying = place
    await service.append(batchesOf(main, 5, 14))
    while (dying !== '') await new Promise((resolve) => setTimeout(resolve, 20))
    // Claims of the process that ended run out.
    const passing = setInterval(() => void passTime(), 1_000)
    try {
      while ((await rowsOf(id)).length < 10) await new Promise((resolve) => setTimeout(resolve, 20))
      await untilRows(id, ({ state }) => state === 'delivered')
    } finally {
      clearInterval(passing)
    }
    expect(new Set(numbers('/all'))).toEqual(new Set([5, 6, 7, 8, 9, 10, 11, 12, 13, 14]))
    expect(new Set(receiver.at('/all').map(({ body }) => body)).size).toBe(10)
  })
