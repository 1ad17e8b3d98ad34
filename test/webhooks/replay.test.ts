// Goal: any range of blocks is sent again as it was sent, once, through kills and failures, and what
// was given up too (issue 17.7).
// Method: a recorded chain and a receiver on this machine; replays are compared with what came live,
// and with their dry run.
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import type { Runtime } from '#runtime/runtime.ts'
import { attachHistory, openChainStore, recordedBatches } from '../store/support/chainStore.ts'
import { openReceiver, type Received, type Receiver } from '../support/receiver.ts'
import { batchesOf, recorded } from './support/forks.ts'
import { openService, type Service } from './support/openService.ts'

const main = recorded(40)
let service: Service
let receiver: Receiver
/** Visits of the place where a piece is committed that throw. */
let deaths = 0

beforeAll(async () => {
  receiver = await openReceiver()
  const failpoint: Runtime['failpoint'] = (name) => {
    if (name === 'webhooks.replay.commit' && deaths-- > 0) throw new Error('ended')
  }
  service = await openService({ runtime: { failpoint } })
  await service.append(batchesOf(main, 0, 9))
  service.start()
})
afterAll(() => service.close())

const subscribe = (path: string, eventType: string, others: object = {}) =>
  service.subscribe({ eventType, destination: { type: 'url', url: receiver.url(path) }, ...others })

const replay = (id: string, method: string, body?: object, of = service) =>
  of.ask(method, `/v1/webhooks/${id}/replay`, body)

/** Without what a replay says of itself, and times. */
const plain = ({ createdAt: _at, meta: { blockHash, index }, ...envelope }: Received['envelope']) => ({
  ...envelope,
  meta: { blockHash, index },
})

async function untilStatus(id: string, wanted: string, of = service) {
  for (;;) {
    const { body } = await replay(id, 'GET', undefined, of)
    if (body.status === wanted) return body
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

test('a range comes again as it came, in the order of the chain, through a process that ends', async () => {
  const { id } = await subscribe('/range', 'token:transfer')
  await service.append(batchesOf(main, 10, 13))
  const { rows } = await service.store.postgres.pool.query(
    `SELECT count(*) AS n FROM ${service.store.schema}.token_transfers
     WHERE block_num BETWEEN 10 AND 13 AND substring(token, 1, 12) = '\\x20c000000000000000000000'`,
  )
  const live = (await receiver.until('/range', ({ length }) => length >= rows[0].n)).toSorted(
    (a, b) => a.envelope.meta.sequence - b.envelope.meta.sequence,
  )
  const dry = await replay(id, 'POST', { fromBlock: 10, toBlock: 13, dryRun: true })
  expect(dry.body).toMatchObject({ dryRun: true, events: live.length, countedToBlock: 13, isComplete: true })
  expect((await replay(id, 'GET')).body.error.code).toBe('replay_not_found')

  deaths = 2
  const { body: begun } = await replay(id, 'POST', { fromBlock: 10, toBlock: 13 })
  expect(begun).toMatchObject({ status: 'matching', fromBlock: 10, toBlock: 13, nextBlock: 10 })
  expect((await replay(id, 'POST', { fromBlock: 10, toBlock: 12 })).body.error.code).toBe('replay_under_way')
  // Half of the range is final: the rest waits.
  await service.finalize(11)
  await receiver.until('/range', ({ length }) => length > live.length)
  while ((await replay(id, 'GET')).body.nextBlock !== 12) await new Promise((done) => setTimeout(done, 20))
  await service.finalize(13)
  const ended = await untilStatus(id, 'finished')
  expect(ended).toMatchObject({ events: live.length, openEvents: 0, nextBlock: 14 })

  const again = receiver.at('/range').slice(live.length)
  expect(again.map(({ envelope }) => plain(envelope))).toEqual(live.map(({ envelope }) => plain(envelope)))
  expect(again.slice(0, 5).map(({ envelope }) => plain(envelope))).toEqual(dry.body.envelopes.map(plain))
  for (const { envelope } of again) {
    expect(envelope.meta).toMatchObject({ replay: begun.id, finalized: true })
    expect(envelope.meta).not.toHaveProperty('sequence')
  }
  await service.append(batchesOf(main, 14, 14))
  const next = await receiver.until('/range', (all) =>
    all.some(({ envelope }) => envelope.data.blockNumber === 14),
  )
  expect(next.find(({ envelope }) => envelope.data.blockNumber === 14)?.envelope.meta.sequence).toBe(
    live.length + 1,
  )
  await service.ask('DELETE', `/v1/webhooks/${id}`)
})

test('blocks from before the subscription come too; failures of a replay are not counted', async () => {
  const { id } = await subscribe('/before', 'block:created')
  receiver.answer(({ path }) => (path === '/before' ? 500 : 200))
  await replay(id, 'POST', { fromBlock: 2, toBlock: 4 })
  await receiver.until('/before', ({ length }) => length === 3)
  expect(receiver.at('/before').map(({ envelope }) => envelope.data.number)).toEqual([2, 3, 4])
  while (
    (await service.ask('GET', `/v1/webhooks/${id}/deliveries`)).body.data.some(
      (one: { status: string }) => one.status === 'pending',
    )
  )
    await new Promise((done) => setTimeout(done, 20))
  expect((await service.ask('GET', `/v1/webhooks/${id}`)).body.failureCount).toBe(0)
  expect((await replay(id, 'GET')).body).toMatchObject({ status: 'sending', openEvents: 3 })
  expect((await replay(id, 'DELETE')).body).toMatchObject({ status: 'ended', openEvents: 0 })
  expect((await replay(id, 'DELETE')).body.error.code).toBe('replay_not_found')
  receiver.answer(() => 200)
})

test('what was given up comes again, and what was taken does not', async () => {
  const since = new Date().toISOString()
  receiver.answer(({ envelope }) => (envelope.data.number % 2 === 0 ? 500 : 200))
  const { id } = await subscribe('/failed', 'block:created')
  const first = (await service.ask('GET', `/v1/webhooks/${id}`)).body.activeFromBlock
  await service.append(batchesOf(main, first, first + 3))
  await receiver.until('/failed', ({ length }) => length === 4)
  const given = () =>
    sql<{ event_id: string; envelope: string }>`
      UPDATE app.webhook_messages SET state = 'exhausted' WHERE webhook_id = ${id} AND state = 'retrying'
      RETURNING event_id, envelope`.execute(service.app)
  const lost: { event_id: string; envelope: string }[] = []
  while (lost.length < 2) lost.push(...(await given()).rows)
  const dry = await replay(id, 'POST', { failedSince: since, dryRun: true })
  expect(dry.body).toMatchObject({ events: 2, isComplete: true })
  receiver.answer(() => 200)
  await replay(id, 'POST', { failedSince: since })
  await untilStatus(id, 'finished')
  const again = receiver.at('/failed').slice(4)
  expect(again.map(({ envelope }) => plain(envelope))).toEqual(
    lost.map(({ envelope }) => plain(JSON.parse(envelope))).toSorted((a, b) => a.data.number - b.data.number),
  )
  expect(dry.body.envelopes.map(plain)).toEqual(again.map(({ envelope }) => plain(envelope)))
})

test('what lies below a gap waits until it is linked to what is final', async () => {
  const store = await openChainStore({ headFrom: 20, checks: 'links' })
  const above = await openService({ store })
  onTestFinished(async () => {
    await above.close()
    await store.close()
  })
  const [low, between] = recordedBatches('tempo-dev-2k', 10)
  if (!low || !between) throw new Error('two batches')
  await above.append(batchesOf(main, 20, 29))
  await above.finalize(25)
  await attachHistory(store, low)
  above.start()
  const [below, linked] = await Promise.all(
    ['/below', '/linked'].map((path) =>
      above.subscribe({
        eventType: 'block:created',
        destination: { type: 'url', url: receiver.url(path) },
      }),
    ),
  )
  if (!below || !linked) throw new Error('two subscriptions')
  const rehearsed = async () => {
    const asked = { fromBlock: 2, toBlock: 4, dryRun: true }
    const { body } = await replay(below.id, 'POST', asked, above)
    return body.envelopes.map(({ meta }: Received['envelope']) => meta.finalized)
  }
  expect(await rehearsed()).toEqual([false, false, false])
  await replay(below.id, 'POST', { fromBlock: 2, toBlock: 4 }, above)
  await replay(linked.id, 'POST', { fromBlock: 20, toBlock: 22 }, above)
  // Every turn looks at the first one before.
  await untilStatus(linked.id, 'finished', above)
  expect(receiver.at('/linked').map(({ envelope }) => envelope.data.number)).toEqual([20, 21, 22])
  const { body: waiting } = await replay(below.id, 'GET', undefined, above)
  expect([waiting.status, waiting.nextBlock, receiver.at('/below')]).toEqual(['matching', 2, []])
  await attachHistory(store, between)
  await untilStatus(below.id, 'finished', above)
  expect(
    receiver.at('/below').map(({ envelope }) => [envelope.data.number, envelope.meta.finalized]),
  ).toEqual([
    [2, true],
    [3, true],
    [4, true],
  ])
  expect(await rehearsed()).toEqual([true, true, true])
})

test('an event is final by the position of its own stream, and by no other one', async () => {
  const since = new Date().toISOString()
  // A stream that begins above a gap knows of later final blocks than the one that waits below.
  await sql`INSERT INTO app.webhook_positions (chain_id, stream, block_num, finalized)
    VALUES (${service.id}, 'fills', 0, 1000)
    ON CONFLICT (chain_id, stream) DO UPDATE SET finalized = 1000`.execute(service.app)
  receiver.answer(() => 500)
  const { id, activeFromBlock: first } = await subscribe('/streams', 'block:created')
  await service.append(batchesOf(main, first, first))
  const [told] = await receiver.until('/streams', ({ length }) => length > 0)
  expect(told?.envelope.meta.finalized).toBe(false)
  const giveUp = () =>
    sql`UPDATE app.webhook_messages SET state = 'exhausted' WHERE webhook_id = ${id} AND state = 'retrying'
      RETURNING id`.execute(service.app)
  while ((await giveUp()).rows.length === 0);
  const dry = await replay(id, 'POST', { failedSince: since, dryRun: true })
  expect(dry.body.envelopes.map(({ meta }: Received['envelope']) => meta.finalized)).toEqual([false])
  receiver.answer(() => 200)
})

test('what cannot be replayed is refused with its reason', async () => {
  const { id } = await subscribe('/refused', 'block:created')
  const code = async (body: object, of = id) => {
    const { status, body: told } = await replay(of, 'POST', body)
    return `${status} ${told.error?.code}`
  }
  expect(await code({ fromBlock: 0, toBlock: 100 })).toBe('409 coverage_incomplete')
  expect(await code({ fromBlock: 0, toBlock: 100, dryRun: true })).toBe('409 coverage_incomplete')
  expect(await code({ fromBlock: 0, toBlock: 1_000_000 })).toBe('400 body_invalid')
  expect(await code({ fromBlock: 5, toBlock: 4 })).toBe('400 body_invalid')
  expect(await code({ fromBlock: 5 })).toBe('400 body_invalid')
  expect(await code({ failedSince: 'yesterday' })).toBe('400 body_invalid')
  expect(await code({ failedSince: '2026-01-01T00:00:00Z', fromBlock: 1, toBlock: 2 })).toBe(
    '400 body_invalid',
  )
  const notices = await subscribe('/refused', 'webhook:disabled')
  expect(await code({ fromBlock: 0, toBlock: 1 }, notices.id)).toBe('400 body_invalid')
  expect(await code({ fromBlock: 0, toBlock: 1 }, 'wh_none')).toBe('404 webhook_not_found')
})
