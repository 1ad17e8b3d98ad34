// Goal: fills of the exchange come once the order book has their block, with what no log says, and
// are taken back with it (issue 17.2).
// Method: a recorded chain whose followers are moved by the test; expectations are the oracle's, by
// viem over the raw receipts.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readBalances } from '../store/support/balanceOracle.ts'
import { bookOf } from '../store/support/bookOracle.ts'
import { followersOf, recordedCalls, type TestFollowers } from '../store/support/followers.ts'
import { openReceiver, type Receiver } from '../support/receiver.ts'
import { expectConforming } from './support/conforms.ts'
import { batchesOf, forkOf, recorded } from './support/forks.ts'
import { openService, type Service } from './support/openService.ts'

const main = recorded(123)
const oracle = bookOf(main)
const first = oracle.fills[0]?.block ?? 0
const last = first + 4
const fork = forkOf(main, last, 'b')

let service: Service
let receiver: Receiver
let followers: TestFollowers

beforeAll(async () => {
  receiver = await openReceiver()
  service = await openService()
  followers = followersOf(service.store, {
    callContracts: recordedCalls('tempo-dev-2k', readBalances('tempo-dev-2k')),
  })
  await service.append(batchesOf(main, 0, first - 1))
  await followers.settle()
  service.start()
})
afterAll(() => service.close())

const subscribe = (path: string, eventType: string, filters: object = {}) =>
  service.subscribe({ eventType, filters, destination: { type: 'url', url: receiver.url(path) } })

test('fills wait for the order book, say side, pair and price, and are taken back with their block', async () => {
  const expected = oracle.fills.filter(({ block }) => block >= first && block <= last)
  const { maker = '' } = expected[0] ?? {}
  await subscribe('/blocks', 'block:created')
  const { id, activeFromBlock } = await subscribe('/fills', 'exchange:filled')
  await subscribe('/maker', 'exchange:filled', { maker, side: 'bid' })
  await subscribe('/ask', 'exchange:filled', { maker, side: 'ask' })
  expect(activeFromBlock).toBe(first)
  await service.append(batchesOf(main, first, last))
  await receiver.until('/blocks', ({ length }) => length === last - first + 1)
  expect(receiver.at('/fills')).toEqual([])

  await followers.settle()
  const received = await receiver.until('/fills', ({ length }) => length >= expected.length)
  const inOrder = received.toSorted((a, b) => a.envelope.meta.sequence - b.envelope.meta.sequence)
  expect(inOrder.map(({ envelope }) => envelope.data)).toEqual(
    expected.map((fill) => ({
      ...{ orderId: `${fill.orderId}`, maker: fill.maker, taker: fill.taker },
      pair: { key: fill.pair, base: fill.base, quote: fill.quote },
      side: fill.isBid ? 'bid' : 'ask',
      price: (1 + fill.tick / 100_000).toFixed(5),
      ...{ amount: `${fill.amount}`, quoteAmount: `${fill.quoteAmount}` },
      takerQuoteAmount: expect.stringMatching(/^\d+$/),
      partialFill: expect.any(Boolean),
      ...{ blockNumber: fill.block, logIndex: fill.logIndex, transactionHash: fill.txHash },
      timestamp: `${new Date(fill.timestamp * 1_000).toISOString().slice(0, 19)}Z`,
    })),
  )
  const byMaker = expected.filter((fill) => fill.maker === maker)
  const sides = await receiver.until(
    '/maker',
    ({ length }) => length + receiver.at('/ask').length >= byMaker.length,
  )
  expect(sides).toHaveLength(byMaker.filter(({ isBid }) => isBid).length)

  // Another last block with the same fills: the old ones are taken back before the new ones come.
  await service.revertTo(last - 1)
  await service.append(batchesOf(fork, last, last))
  const gone = expected.filter(({ block }) => block === last).length
  await followers.settle()
  const after = await receiver.until('/fills', ({ length }) => length >= expected.length + 2 * gone)
  expect(after.filter(({ envelope }) => envelope.type === 'event:retracted')).toHaveLength(gone)
  expect(after).toHaveLength(expected.length + 2 * gone)

  await service.finalize(last - 1)
  await service.ask('POST', `/v1/webhooks/${id}/replay`, { fromBlock: first, toBlock: first })
  const again = await receiver.until('/fills', (all) => all.some(({ envelope }) => envelope.meta.replay))
  expect(again.find(({ envelope }) => envelope.meta.replay)?.envelope.data).toEqual(inOrder[0]?.envelope.data)
  expectConforming(receiver.received)
})
