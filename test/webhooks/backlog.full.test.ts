// Goal: a paused subscription keeps so many events and no more, and says what it does not keep.
// Method: queues at the bound and beyond it, as the program's own look at them leaves them; what was
// withdrawn is sent by a replay.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { BACKLOG_MAX } from '#rows/webhooks/backlogs.ts'
import { endBacklogs } from '#webhooks/delivery/endBacklogs.ts'
import { openReceiver, type Receiver } from '../support/receiver.ts'
import { batchesOf, recorded } from './support/forks.ts'
import { openService, type Service } from './support/openService.ts'

let service: Service
let receiver: Receiver
const main = recorded(60)

beforeAll(async () => {
  receiver = await openReceiver()
  service = await openService()
  await service.append(batchesOf(main, 0, 19))
})
afterAll(() => service.close())

const query = (text: string, values: readonly unknown[] = []) =>
  service.store.postgres.pool.query(text, [...values])

const subscribe = (path: string, eventType = 'block:created') =>
  service.subscribe({ eventType, destination: { type: 'url', url: receiver.url(path) } })

/** Queues events of block 12 on. */
const queue = (id: string, count: number) =>
  query(
    `INSERT INTO app.webhook_messages (webhook_id, event_id, type, state, block_num, block_hash, event_index, data)
     SELECT $1, 'evt_' || $1 || g, 'block:created', 'waiting', 12 + g / 50000, '\\x00', g, '{}'
     FROM generate_series(1, $2::int) g`,
    [id, count],
  )

test('beyond its bound it is disabled, its owner is told, and a replay sends what was not', async () => {
  const notices = await subscribe('/notices', 'webhook:disabled')
  const [full, over] = [await subscribe('/full'), await subscribe('/over')]
  for (const { id } of [full, over]) await service.ask('PATCH', `/v1/webhooks/${id}`, { status: 'paused' })
  await queue(full.id, BACKLOG_MAX)
  await queue(over.id, BACKLOG_MAX + 1)
  const { app, store } = service
  expect(await endBacklogs({ app, postgres: store.postgres })).toEqual([
    { webhookId: over.id, owner: service.defaults.orgId, chainId: service.id, reason: 'backlog' },
  ])
  expect(await endBacklogs({ app, postgres: store.postgres })).toEqual([])
  expect((await service.ask('GET', `/v1/webhooks/${full.id}`)).body.status).toBe('paused')
  const path = `/v1/webhooks/${over.id}`
  expect((await service.ask('GET', path)).body).toMatchObject({
    status: 'disabled',
    disabledReason: 'backlog',
  })
  const { rows } = await query('SELECT count(*) AS n FROM app.webhook_messages WHERE webhook_id = $1', [
    over.id,
  ])
  expect(rows[0].n).toBe(0)

  service.start()
  const [told] = await receiver.until('/notices', ({ length }) => length === 1)
  expect(told?.envelope).toMatchObject({
    subscriptionId: notices.id,
    data: { subscriptionId: over.id, eventType: 'block:created', reason: 'backlog', fromBlock: 12 },
  })
  await service.ask('DELETE', `/v1/webhooks/${full.id}`)
  await service.finalize(19)
  const activated = await service.ask('PATCH', path, { status: 'active' })
  expect(activated.body).toMatchObject({ status: 'active', missedBlocks: { from: 12, to: 19 } })
  const { from: fromBlock, to: toBlock } = activated.body.missedBlocks
  expect((await service.ask('POST', `${path}/replay`, { fromBlock, toBlock })).status).toBe(200)
  const sent = await receiver.until('/over', ({ length }) => length === 8)
  expect(sent.map(({ envelope }) => envelope.data.number)).toEqual([12, 13, 14, 15, 16, 17, 18, 19])
})
