// Goal: events of a chain reach their subscriptions, signed, once, in order, and what was sent of a
// replaced block is taken back, once (WH-10).
// Method: a recorded chain, appended and reverted block by block, and a receiver on this machine;
// what came is compared with what the stored rows say.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { verifySignature } from '#webhooks/signature.ts'
import { openReceiver, type Received, type Receiver } from '../../support/receiver.ts'
import { expectConforming } from '../support/conforms.ts'
import { batchesOf, forkOf, recorded } from '../support/forks.ts'
import { openService, type Service } from '../support/openService.ts'

let service: Service
let receiver: Receiver
const main = recorded(60)
const fork = forkOf(main, 35, 'b')

beforeAll(async () => {
  receiver = await openReceiver()
  service = await openService()
  await service.append(batchesOf(main, 0, 19))
  service.start()
})
afterAll(() => service.close())

const to = (path: string) => ({ type: 'url', url: receiver.url(path) })

describe('events', () => {
  test('of every type arrive as they were committed, signed, in a sequence without gaps', async () => {
    const transfers = await service.subscribe({ eventType: 'token:transfer', destination: to('/transfers') })
    await service.subscribe({ eventType: 'block:created', destination: to('/blocks') })
    const txs = await service.subscribe({ eventType: 'transaction:included', destination: to('/txs') })
    const signature = 'Transfer(address indexed from, address indexed to, uint256 amount)'
    const logs = await service.subscribe({
      eventType: 'log:emitted',
      destination: to('/logs'),
      filters: { signature },
    })
    expect(transfers.activeFromBlock).toBe(20)
    await service.append(batchesOf(main, 20, 23))
    const { schema, postgres } = service.store
    const count = async (table: string, where = 'true') =>
      (
        await postgres.pool.query(
          `SELECT count(*) AS n FROM ${schema}.${table} WHERE block_num >= 20 AND ${where}`,
        )
      ).rows[0].n
    const expected = {
      '/blocks': 4,
      '/txs': await count('txs'),
      '/transfers': await count('token_transfers', `substring(token, 1, 12) = '\\x20c000000000000000000000'`),
      '/logs': await count(
        'logs',
        `topic0 = '\\xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'`,
      ),
    }
    for (const [path, n] of Object.entries(expected)) {
      await receiver.until(path, ({ length }) => length >= n)
      expect(inSequence(receiver.at(path)), path).toHaveLength(n)
    }
    expect(inSequence(receiver.at('/blocks')).map(({ envelope }) => envelope.data.number)).toEqual(
      range(20, 23),
    )
    const [first] = receiver.at('/transfers')
    expect(first?.envelope).toMatchObject({
      type: 'token:transfer',
      chainId: service.id,
      subscriptionId: transfers.id,
      meta: { finalized: false },
    })
    expect(receiver.at('/logs')[0]?.envelope.data).toMatchObject({
      args: { amount: expect.stringMatching(/^\d+$/) },
      event: { name: 'Transfer', signature: 'Transfer(address,address,uint256)' },
    })
    for (const { headers, body } of receiver.at('/transfers')) {
      const now = Number(headers['webhook-timestamp'])
      expect(verifySignature(String(headers['svc-signature']), body, transfers.secret, now)).toBe(true)
    }
    const ids = receiver.received.map(({ envelope }) => `${envelope.subscriptionId} ${envelope.id}`)
    expect(new Set(ids).size).toBe(ids.length)
    for (const { id } of [transfers, txs, logs]) await service.ask('DELETE', `/v1/webhooks/${id}`)
    await service.append(batchesOf(main, 24, 39))
    await receiver.until('/blocks', ({ length }) => length === 20)
  })

  test('of a replaced block are retracted once, come again with it, and those never sent are not told', async () => {
    const paused = await service.subscribe({ eventType: 'block:created', destination: to('/paused') })
    await service.ask('PATCH', `/v1/webhooks/${paused.id}`, { status: 'paused' })
    const finalOnly = await service.subscribe({
      eventType: 'block:created',
      destination: to('/final'),
      finality: 'finalized',
    })
    expect(finalOnly.activeFromBlock).toBe(40)
    await service.append(batchesOf(main, 40, 42))
    await receiver.until('/blocks', ({ length }) => length === 23)
    const sent = idsByBlock('/blocks')

    // The blocks go and come back unchanged: nothing is told.
    await service.revertTo(34)
    await service.append(batchesOf(main, 35, 42))
    // Another chain: 35 to 42 were sent, and are taken back.
    await service.revertTo(34)
    await service.append(batchesOf(fork, 35, 43))
    const afterFork = await receiver.until('/blocks', ({ length }) => length === 23 + 8 + 9)
    expect(told(afterFork, 'event:retracted')).toEqual(range(35, 42).map((block) => sent.get(block)))

    // And the first one again.
    const atFork = idsByBlock('/blocks')
    await service.revertTo(34)
    await service.append(batchesOf(main, 35, 44))
    const afterBack = await receiver.until('/blocks', ({ length }) => length === 40 + 9 + 8 + 2)
    expect(told(afterBack.slice(40), 'event:retracted')).toEqual(
      range(35, 43).map((block) => atFork.get(block)),
    )
    expect(told(afterBack, 'event:restored')).toEqual(range(35, 42).map((block) => sent.get(block)))
    const restored = afterBack.find(({ envelope }) => envelope.type === 'event:restored')
    expect(restored?.envelope.data.event).toMatchObject({ type: 'block:created', data: { number: 35 } })
    inSequence(afterBack)
    expect(new Set(afterBack.map(({ envelope }) => envelope.id)).size).toBe(afterBack.length)

    expect(await service.watch?.report()).toMatchObject({
      chains: [{ stream: 'blocks', block: 44, lagBlocks: 0, problem: null }, { stream: 'fills' }],
      pending: { waiting: 5, unfinal: 5 },
      problem: null,
    })
    await service.ask('PATCH', `/v1/webhooks/${paused.id}`, { status: 'active' })
    const goneOn = await receiver.until('/paused', ({ length }) => length === 5)
    expect(inSequence(goneOn).map(({ envelope }) => envelope.data.number)).toEqual(range(40, 44))
    await service.finalize(43)
    const final = await receiver.until('/final', ({ length }) => length === 4)
    expect(inSequence(final).map(({ envelope }) => envelope.meta.finalized)).toEqual([true, true, true, true])
    expect(final.map(({ envelope }) => envelope.type)).toEqual(Array(4).fill('block:created'))
    expectConforming(receiver.received)
  })
})

/** As the sequence numbers them, which has no gap. */
function inSequence(received: readonly Received[]): readonly Received[] {
  const sorted = received.toSorted((a, b) => a.envelope.meta.sequence - b.envelope.meta.sequence)
  expect(sorted.map(({ envelope }) => envelope.meta.sequence)).toEqual(range(1, received.length))
  return sorted
}

/** The newest event id of each block. */
const idsByBlock = (path: string): Map<number, string> =>
  new Map(
    inSequence(receiver.at(path))
      .filter(({ envelope }) => envelope.type === 'block:created')
      .map(({ envelope }) => [envelope.data.number, envelope.id]),
  )

/** Ids of the events that were told of, in sequence. */
const told = (received: readonly Received[], type: string): string[] =>
  received
    .toSorted((a, b) => a.envelope.meta.sequence - b.envelope.meta.sequence)
    .filter(({ envelope }) => envelope.type === type)
    .map(({ envelope }) => envelope.data.eventId)

const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index)
