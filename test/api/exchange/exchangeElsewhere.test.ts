// Goal: the exchange and its feed answer by their rules where there is little to tell: on a chain
// without an exchange, without genesis, of tokens without names, of fills that cannot be told, and
// of blocks that nobody named.
// Method: chains of some blocks written by hand; expectations counted by hand.

import { getAddress, type Hex } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { NodeReader } from '#api/services.ts'
import { hash } from '#primitives.ts'
import { readRecording } from '../../chain/recordings.ts'
import { bookOf } from '../../store/support/bookOracle.ts'
import { decode, recordedBatches } from '../../store/support/chainStore.ts'
import { followersOf, recordedNode, silentCalls } from '../../store/support/followers.ts'
import { rangeOf } from '../../transform/ranges.ts'
import { type ChainApi, openChainApi } from '../support/chainApi.ts'
import { readClock } from '../support/readClock.ts'
import { nodeThat, silentNode } from '../support/silentNode.ts'
import { fill, keyOf, maker, nodeBook, pair, pathUsd, place, taker, token } from '../support/writtenBook.ts'
import { type WrittenTransaction, writtenChain } from '../support/writtenChain.ts'

const recording = 'tempo-dev-2k'
const base: Hex = `0x20c000000000000000000000${'b'.repeat(16)}`
/** No factory made it, and genesis has none of it. */
const untold: Hex = `0x20c000000000000000000000${'d'.repeat(16)}`
const mainnet = 4217

describe('a feed of few blocks with anything in them', () => {
  const lastBlock = 1_010
  const filled = [4, 9, 10, 1_010]
  const blocks: WrittenTransaction[][] = Array.from({ length: lastBlock }, () => [])
  const inBlock = (number: number, ...logs: WrittenTransaction['logs']) =>
    blocks[number - 1]?.push({ from: maker, logs })
  inBlock(
    1,
    ...[token(base, '', '  ', pathUsd), pair(base, pathUsd), place(1n, base, 100n, false, 10)],
    ...[pair(untold, pathUsd), place(2n, untold, 100n, false, 10), fill(2n, 7n, true)],
  )
  for (const number of filled) inBlock(number, fill(1n, 10n, true))

  let api: ChainApi
  beforeAll(async () => {
    const clock = readClock()
    api = await openChainApi({
      ...{ services: { clock }, server: { chains: [mainnet] } },
      node: nodeThat({ totalSupply: 7_500_000n }),
    })
    const [chain] = [...api.services.chains.values()]
    Object.assign(api.services, { chains: new Map([[mainnet, chain ?? expect.fail()]]) })
    const [genesis, ...written] = writtenChain(recording, blocks)
    for (const part of [[genesis ?? expect.fail()], written])
      await api.append([decode({ ...rangeOf(part), endpoint: 'written' }, 'links')])
    await api.finalize(lastBlock)
    await followersOf(api.store, {
      callContracts: recordedNode(recording),
      only: ['tokens', 'exchange'],
    }).settle()
    await api.state.refresh()
    // Balances are computed by nobody here.
    clock.waits = false
  })
  afterAll(() => api?.close())
  const blocksIn = async (query: string) => {
    const { status, body } = await api.get(`/feed/mainnet/events${query}`)
    expect([status, query]).toEqual([200, query])
    return body.events.map(({ block }: { block: { blockNumber: number } }) => block.blockNumber)
  }

  test('a range begins 1,000 blocks before its last block, which is the latest, where it does not say so', async () => {
    expect(await blocksIn('')).toEqual([10, 1_010])
    expect(await blocksIn('?toBlock=1009')).toEqual([9, 10])
    expect(await blocksIn('?toBlock=1002')).toEqual([4, 9, 10])
    expect(await blocksIn('?fromBlock=10')).toEqual([10, 1_010])
    expect(await blocksIn('?fromBlock=2&toBlock=1010')).toEqual(filled)
  })

  test('the chain has its alias in the path, in every operation', async () => {
    for (const path of ['latest-block', 'events', `pairs/${keyOf(base, pathUsd)}`, `assets/${base}`]) {
      const [named, numbered] = [
        await api.get(`/feed/mainnet/${path}`),
        await api.get(`/feed/${mainnet}/${path}`),
      ]
      expect([named.status, path]).toEqual([200, path])
      expect(named.body).toEqual(numbered.body)
    }
    expect((await api.get('/feed/testnet/events')).body.error.code).toBe('chain_id_unsupported')
    expect((await api.get('/feed/othernet/events')).body.error.code).toBe('chain_id_invalid')
  })

  test('a fill that cannot be told is a 502 that names it, never a shorter list', async () => {
    for (const query of ['?fromBlock=1&toBlock=1', '?toBlock=1001', '?fromBlock=0&toBlock=1010']) {
      const { status, body } = await api.get(`/feed/mainnet/events${query}`)
      expect([status, body.error.code, query]).toEqual([502, 'upstream_error', query])
      const { rows } = await api.store.postgres.pool.query(
        `SELECT tx_hash FROM ${api.store.schema}.exchange_fills WHERE block_num = 1`,
      )
      expect(body.error.message).toContain(`0x${rows[0].tx_hash.toString('hex')}`)
      expect(body.error.message).toContain(untold)
    }
    expect((await api.get('/feed/mainnet/pairs')).status).toBe(502)
  })

  test('empty names and symbols are the address', async () => {
    const address = getAddress(base)
    const asset = (await api.get(`/feed/mainnet/assets/${base}`)).body.asset
    expect(asset).toMatchObject({ id: address, name: address, symbol: address, totalSupply: '7.5' })
    const { token0, token1 } = (await api.get(`/feed/mainnet/pairs/${keyOf(base, pathUsd)}`)).body.pair
    expect(token0).toMatchObject({ address, name: address, symbol: address })
    expect(token1.symbol).toMatch(/^\w+$/)
  })

  test('a swap tells its taker as maker, and its place in its transaction', async () => {
    const { events } = (await api.get('/feed/mainnet/events?fromBlock=2&toBlock=1010')).body
    for (const event of events)
      expect(event).toMatchObject({ maker: getAddress(taker), txnIndex: 0, eventIndex: 0 })
    expect(events.map(({ reserves }: { reserves: { asset0: string } }) => reserves.asset0)).toEqual([
      ...['0.00009', '0.00008', '0.00007', '0.00006'],
    ])
  })
})

const lists = ['pairs', 'orders', 'swaps', 'orders/1/fills'].map((path) => `/v1/exchange/${path}`)
const feeLists = ['/v1/fee-amm/pools', '/v1/fee-amm/mints']

describe('a chain without an exchange', () => {
  test('has empty lists, no pair and no order, though contracts log what the exchange would', async () => {
    const api = await openChainApi({ kind: 'evm', services: { clock: readClock() } })
    afterAll(() => api.close())
    const logs = [pair(base, pathUsd), place(1n, base, 100n, false, 10), fill(1n, 10n, true)]
    const [genesis, first] = writtenChain(recording, [[{ from: maker, logs }]])
    await api.append([
      decode({ ...rangeOf([genesis, first].flatMap((block) => block ?? [])), endpoint: 'written' }, 'links'),
    ])
    await api.finalize(1)
    await followersOf(api.store, {
      kind: 'evm',
      callContracts: silentCalls,
    }).settle()
    await api.state.refresh()
    for (const path of [...lists, ...feeLists]) {
      const { status, body } = await api.get(path)
      expect([status, body.data, body.nextCursor, path]).toEqual([200, [], null, path])
    }
    for (const path of ['', '/depth', '/ohlc'])
      expect((await api.get(`/v1/exchange/pairs/${base}${path}`)).body.error.code).toBe('pair_not_found')
    expect((await api.get('/v1/exchange/orders/1')).body.error.code).toBe('order_not_found')
    expect((await api.get(`/feed/${api.chainId}/events?fromBlock=0&toBlock=1`)).body).toEqual({ events: [] })
    expect((await api.get(`/feed/${api.chainId}/pairs`)).body).toEqual({ pairs: [] })
  })
})

describe('an installation that is still computing its order book', () => {
  test('while the order book is not ready, depth and one order come from the node', async () => {
    const [[bookKey, pair] = expect.fail()] = bookOf(readRecording(recording)).pairs
    const [base, quote] = [getAddress(pair.base), getAddress(pair.quote)]
    const told: Readonly<Record<string, (args: readonly unknown[]) => unknown>> = {
      quoteToken: () => quote,
      books: () => ({ base, quote, bestBidTick: 10, bestAskTick: 20 }),
      getTickLevel: ([, tick, isBid]) => [1n, 1n, tick === (isBid ? 10 : 20) ? 700n : 0n],
      getOrder: ([orderId]) =>
        orderId === 7n
          ? {
              orderId,
              maker: base,
              bookKey,
              isBid: true,
              tick: 10,
              amount: 9n,
              remaining: 4n,
              isFlip: true,
              flipTick: 30,
            }
          : null,
    }
    const clock = readClock()
    clock.waits = false
    const at = hash(`0x${'5'.repeat(64)}`)
    const node: NodeReader = {
      ...silentNode,
      newest: async () => at,
      // It knows nothing of another block.
      ask: async (questions, _party, _signal, asked) =>
        questions.map(({ ask, args = [] }) =>
          asked === at || ask.name === 'getOrder' || args[0] === bookKey
            ? (told[ask.name]?.(args) ?? null)
            : null,
        ),
    }
    const behind = await openChainApi({ services: { clock }, node })
    afterAll(() => behind.close())
    await behind.append(recordedBatches(recording, 1).slice(0, 30))
    const depth = await behind.get(`/v1/exchange/pairs/${pair.base}/depth`)
    expect(depth.headers.get('svc-source')).toBe('node')
    expect([depth.body.bids, depth.body.asks].map(([level]) => [level.tick, level.size])).toEqual([
      [10, '700'],
      [20, '700'],
    ])
    const order = await behind.get('/v1/exchange/orders/7')
    expect(order.headers.get('svc-source')).toBe('node')
    expect(order.body).toMatchObject({ remaining: '4', isFlipOrder: true, flipTick: 30, mode: 'exactSource' })
    expect((await behind.get('/v1/exchange/orders/8')).status).toBe(404)
    for (const path of ['orders', 'swaps', 'pairs', `pairs/${pair.base}/ohlc`])
      expect((await behind.get(`/v1/exchange/${path}`)).body.error.code).toBe('projection_incomplete')
  })
})

describe('an installation that begins above genesis', () => {
  const told = nodeBook(base, { orderId: 7n, tick: 10, amount: 9n, remaining: 4n })
  test('has depth and one order from the node, and nothing that needs the chain from genesis on', async () => {
    const startBlock = 5
    const api = await openChainApi({
      ...{ headFrom: startBlock, startBlock, services: { clock: readClock() }, node: nodeThat(told) },
    })
    afterAll(() => api.close())
    await api.append(recordedBatches(recording, 1).slice(startBlock, 9))
    const depth = await api.get(`/v1/exchange/pairs/${base}/depth?levels=1`)
    expect([depth.status, depth.headers.get('svc-source')]).toEqual([200, 'node'])
    expect([...depth.body.bids, ...depth.body.asks].map(({ size }) => size)).toEqual(['700', '700'])
    const order = await api.get('/v1/exchange/orders/7')
    expect([order.headers.get('svc-source'), order.body.remaining]).toEqual(['node', '4'])
    const feed = ['latest-block', 'events', 'pairs', `pairs/${keyOf(base, pathUsd)}`, `assets/${base}`].map(
      (path) => `/feed/${api.chainId}/${path}`,
    )
    const ofPair = ['', '/ohlc', '/depth?atBlock=6'].map((part) => `/v1/exchange/pairs/${base}${part}`)
    for (const path of [...lists, ...feeLists, ...feed, ...ofPair]) {
      const { status, body } = await api.get(path)
      expect([status, body.error?.code, path]).toEqual([409, 'coverage_incomplete', path])
    }
  })
})
