// Goal: an order book that the chain's events contradict stops loudly and alone: the operator is
// told, REST says what it lacks, depth and orders are the node's, and the feed stays at its last
// block, byte for byte.
// Method: a chain written by hand, whose last block fills more than an order has left, before the
// running followers.
import type { Hex } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { alarmsOf } from '#program/parts/alarms/alarms.ts'
import { projectionsOf } from '#program/parts/status/status.ts'
import { systemRuntime } from '#runtime/runtime.ts'
import type { FollowerDriver, FollowerStatus } from '#store/follow/FollowerDriver.ts'
import { followersOf, recordedNode } from '../../store/support/followers.ts'
import { type ChainApi, openChainApi } from '../support/chainApi.ts'
import { readClock } from '../support/readClock.ts'
import { nodeThat } from '../support/silentNode.ts'
import { fill, maker, nodeBook, pair, pathUsd, place, token } from '../support/writtenBook.ts'
import { batchesOf, type WrittenTransaction, writtenChain } from '../support/writtenChain.ts'

const recording = 'tempo-dev-2k'
const base: Hex = `0x20c000000000000000000000${'b'.repeat(16)}`
const inBlock = (...logs: WrittenTransaction['logs']): readonly WrittenTransaction[] => [
  { from: maker, logs },
]
const batches = batchesOf(
  writtenChain(recording, [
    inBlock(token(base, 'Base', 'BASE', pathUsd), pair(base, pathUsd), place(1n, base, 100n, false, 10)),
    // Fills of an order that nobody placed.
    inBlock(fill(1n, 10n, true), fill(9n, 1n, true)),
    inBlock(fill(1n, 20n, true)),
    inBlock(fill(1n, 5_000n, false)),
    inBlock(place(2n, base, 50n, true, 0)),
  ]),
)
const [contradicted, lastBlock] = [4, 5]
const told = {
  totalSupply: 7_500_000n,
  ...nodeBook(base, { orderId: 2n, tick: 0, amount: 50n, remaining: 49n }),
}

describe('an order book that contradicts itself', () => {
  const clock = readClock()
  const node = nodeThat(told)
  const end = new AbortController()
  let api: ChainApi
  let driver: FollowerDriver
  let running: Promise<void>
  const followerOf = (name: string): FollowerStatus =>
    driver.status.find((follower) => follower.name === name) ?? expect.fail(name)

  beforeAll(async () => {
    api = await openChainApi({
      ...{ services: { clock }, node },
      projections: () => projectionsOf(driver.status),
    })
    // Findings are looked up each time, not after ten seconds.
    let nowMs = 0
    const hurrying = { ...systemRuntime().clock, monotonic: () => (nowMs += 60_000) }
    driver = followersOf(api.store, {
      ...{
        callContracts: recordedNode(recording),
        only: ['tokens', 'exchange'],
        clock: hurrying,
        stopped: api.state.stopped,
      },
    }).driver
    running = driver.run(end.signal)
    await api.append(batches.slice(0, contradicted))
    await api.finalize(contradicted - 1)
  })
  afterAll(async () => {
    end.abort()
    await running
    await api?.close()
  })

  test("stops alone, which the operator is told; the feed stays, depth and orders are the node's", async () => {
    const feed = (query: string) => api.get(`/feed/${api.chainId}/events?${query}`)
    await expect.poll(() => followerOf('exchange').tip).toBe(contradicted - 1)
    const events = await feed('fromBlock=0&toBlock=3')
    expect(events.body.events.length).toBe(2)
    expect((await api.get('/v1/exchange/orders/1')).headers.get('svc-source')).toBeNull()

    await api.append(batches.slice(contradicted))
    await api.finalize(lastBlock)
    await expect.poll(() => followerOf('exchange').state).toBe('stopped')
    await expect.poll(() => followerOf('tokens').tip).toBe(lastBlock)
    await expect.poll(() => followerOf('exchange').found?.strays).toBe(1)
    clock.waits = false

    const problem = expect.stringMatching(/block 4, log 0: order 1 is filled beyond/)
    const { body } = await api.get('/status')
    expect(body.chains[0].projections).toEqual([
      {
        name: 'tokens',
        state: expect.stringMatching(/^f/),
        problem: null,
        tip: lastBlock,
        strays: 0,
        differs: null,
      },
      { name: 'exchange', state: 'stopped', problem, tip: contradicted - 1, strays: 1, differs: null },
    ])
    const saying = { state: 'running', problem: null }
    const alarms = alarmsOf({
      ...{
        state: { chainId: api.chainId, tip: lastBlock },
        profile: { headerRule: 'tempo', checks: 'roots' },
        audit: null,
      },
      ...{ headStatus: saying, historyStatus: saying, clickhouseStatus: saying, storeProblem: null },
      ...{ stall: null, unproved: null, forks: { problem: null }, certificates: { problems: [] } },
      ...{ nodes: { finalityHeld: null }, relay: { problem: null }, followers: driver.status },
    })
    expect(alarms).toEqual([
      { chainId: api.chainId, code: 'projection_stopped', problem: expect.stringContaining('exchange: ') },
    ])

    for (const path of [
      'pairs',
      'orders',
      'swaps',
      `pairs/${base}`,
      `pairs/${base}/ohlc`,
      'orders/1/fills',
    ]) {
      const { status, body: refused } = await api.get(`/v1/exchange/${path}`)
      expect([status, refused.error.code, path]).toEqual([503, 'projection_incomplete', path])
    }
    const depth = await api.get(`/v1/exchange/pairs/${base}/depth?levels=1`)
    expect([depth.status, depth.headers.get('svc-source'), depth.body.bids[0].size]).toEqual([
      ...[200, 'node', '700'],
    ])
    const order = await api.get('/v1/exchange/orders/2')
    expect([order.status, order.headers.get('svc-source'), order.body.remaining]).toEqual([200, 'node', '49'])

    expect((await api.get(`/feed/${api.chainId}/latest-block`)).body.block.blockNumber).toBe(3)
    expect((await feed('fromBlock=0&toBlock=3')).body).toEqual(events.body)
    const above = await feed('fromBlock=0&toBlock=4')
    expect([above.status, JSON.stringify(above.body.error.details)]).toEqual([
      ...[400, expect.stringContaining('3')],
    ])
  })
})
