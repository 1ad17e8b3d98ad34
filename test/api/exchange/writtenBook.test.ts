// Goal: what no recording holds is read the same by REST, SQL and activities: a base token whose
// quote token changes while orders are open, an order that flips in place (T5), a pair of genesis,
// two swaps in one transaction, a fill of an order that nobody placed.
// Method: a chain of a few blocks written by hand; expectations counted by hand.

import { encodeFunctionData, type Hex, parseAbi } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { NodeReader } from '#api/services.ts'
import { followersOf, recordedNode, type TestFollowers } from '../../store/support/followers.ts'
import { type ChainApi, openChainApi, walk } from '../support/chainApi.ts'
import { readClock } from '../support/readClock.ts'
import { silentNode } from '../support/silentNode.ts'
import {
  events,
  exchange,
  fill,
  genesisToken,
  keyOf,
  logOf,
  maker,
  pair,
  pathUsd,
  place,
  sent,
  taker,
  token,
} from '../support/writtenBook.ts'
import { batchesOf, type WrittenTransaction, writtenChain } from '../support/writtenChain.ts'

const recording = 'tempo-dev-2k'
const alpha = genesisToken(1)
const base: Hex = `0x20c000000000000000000000${'b'.repeat(16)}`
const [oldPair, newPair, genesisPair] = [keyOf(base, pathUsd), keyOf(base, alpha), keyOf(alpha, pathUsd)]
const swapIn = (tokenIn: Hex, tokenOut: Hex, amount: bigint) => ({
  ...({ to: exchange, value: '0x0' } as const),
  input: encodeFunctionData({
    abi: parseAbi([
      'function swapExactAmountIn(address tokenIn, address tokenOut, uint128 amountIn, uint128 minAmountOut)',
    ]),
    args: [tokenIn, tokenOut, amount, 0n],
  }),
})
const swapOut = (tokenIn: Hex, tokenOut: Hex, amount: bigint) => ({
  ...({ to: exchange, value: '0x0' } as const),
  input: encodeFunctionData({
    abi: parseAbi([
      'function swapExactAmountOut(address tokenIn, address tokenOut, uint128 amountOut, uint128 maxAmountIn)',
    ]),
    args: [tokenIn, tokenOut, amount, 1_000n],
  }),
})

const blocks: readonly (readonly WrittenTransaction[])[] = [
  [
    {
      from: maker,
      logs: [token(base, 'Base', 'BASE', pathUsd), pair(base, pathUsd)],
    },
    {
      from: maker,
      logs: [
        place(1n, base, 1_000n, true, 10),
        place(2n, base, 2_000n, false, 20),
        place(3n, alpha, 500n, false, 0),
        place(7n, base, 40n, false, 0, -10),
      ],
    },
  ],
  [
    { from: maker, logs: [place(6n, base, 100n, true, 10)] },
    {
      from: maker,
      logs: [
        logOf(base, events.quoteTokenUpdate, { updater: maker, newQuoteToken: alpha }),
        pair(base, alpha),
      ],
    },
    { from: maker, logs: [place(5n, base, 300n, true, 0, 10), place(4n, base, 700n, false, -5)] },
    { from: taker, logs: [sent(base), fill(1n, 333n, true)] },
  ],
  [
    {
      from: taker,
      logs: [sent(pathUsd), fill(2n, 111n, true), sent(alpha), fill(4n, 50n, true), sent(alpha)],
      calls: [swapIn(pathUsd, base, 112n), swapOut(alpha, base, 50n)],
    },
  ],
  [
    {
      from: taker,
      logs: [
        sent(base),
        fill(5n, 300n, false),
        logOf(exchange, events.flipped, {
          ...{ orderId: 5n, maker, token: base, amount: 300n, isBid: false, tick: 10, flipTick: 0 },
        }),
      ],
    },
    { from: taker, logs: [sent(alpha), fill(5n, 100n, true)] },
    { from: maker, logs: [logOf(exchange, events.cancelled, { orderId: 1n })] },
    { from: taker, logs: [fill(0n, 9n, true)] },
  ],
  [
    { from: taker, logs: [sent(pathUsd), fill(7n, 40n, false)] },
    {
      from: maker,
      logs: [
        logOf(exchange, events.flipped, {
          ...{ orderId: 7n, maker, token: base, amount: 40n, isBid: true, tick: -10, flipTick: 0 },
        }),
      ],
    },
  ],
  [
    {
      from: taker,
      logs: [
        place(8n, base, 5n, false, 0, -10),
        fill(8n, 5n, false),
        logOf(exchange, events.flipFailed, { orderId: 8n, maker, reason: '0x0badcafe' }),
      ],
    },
  ],
]
const lastBlock = blocks.length

const clock = readClock()
const node: NodeReader = {
  ...silentNode,
  ask: async (questions) => questions.map(({ ask }) => (ask.name === 'totalSupply' ? 7_500_000n : null)),
}
let api: ChainApi
let followers: TestFollowers
beforeAll(async () => {
  api = await openChainApi({ services: { clock }, node })
  await api.append(batchesOf(writtenChain(recording, blocks)))
  followers = followersOf(api.store, {
    // It tells of no pair of genesis.
    callContracts: recordedNode(recording),
    only: ['tokens', 'exchange'],
  })
  await followers.settle()
  await api.finalize(lastBlock)
  await api.fillClickHouse()
})
afterAll(() => api?.close())

describe('an order book written by hand', () => {
  const sql = async (text: string) => {
    const { body } = await api.get(`/v1/indexer/query?engine=clickhouse&sql=${encodeURIComponent(text)}`)
    return body.rows ?? expect.fail(JSON.stringify(body))
  }

  test('orders stay in the pair they were placed in, and a base names the pair of its present quote token', async () => {
    const depth = async (at: number) => {
      const { body } = await api.get(`/v1/exchange/pairs/${base}/depth?atBlock=${at}`)
      const levels = [...body.bids, ...body.asks].map(({ tick, size }) => [tick, size])
      return [body.quote.address, ...levels]
    }
    expect(await depth(1)).toEqual([pathUsd, [10, '1000'], [0, '40'], [20, '2000']])
    expect(await depth(2)).toEqual([alpha, [0, '300'], [-5, '700']])
    expect(await depth(lastBlock)).toEqual([alpha, [-5, '650'], [10, '200']])
    const orders = await walk(api, '/v1/exchange/orders?sort=time&order=asc')
    expect(orders.map(({ orderId, pair, remaining }) => [orderId, pair.key, remaining])).toEqual([
      ['2', oldPair, '1889'],
      ['3', genesisPair, '500'],
      ['6', oldPair, '100'],
      ['4', newPair, '650'],
      ['5', newPair, '200'],
      ['7', oldPair, '40'],
    ])
  })

  test('SQL has the same pairs, what they offer, and the fills in the tokens they were made in', async () => {
    const pairs = await walk(api, '/v1/exchange/pairs?sort=liquidity')
    const offered = pairs.map(({ key, liquidity, blockNumber }) => [key, liquidity, `${blockNumber}`])
    expect(offered).toEqual([
      [oldPair, '1889', '1'],
      [newPair, '850', '2'],
      [genesisPair, '500', '0'],
    ])
    expect(
      await sql('SELECT key, liquidity, block_num FROM dex_pair_liquidity ORDER BY liquidity DESC'),
    ).toEqual(offered)
    const fills = await sql(
      `SELECT orderId, isBid, tick, quote_token, source_token, source_amount, destination_token, destination_amount
       FROM dex_fills_enriched ORDER BY block_num, log_idx`,
    )
    expect(fills).toEqual([
      ['1', 1, 10, pathUsd, base, '333', pathUsd, '333'],
      ['2', 0, 20, pathUsd, pathUsd, '112', base, '111'],
      ['4', 0, -5, alpha, alpha, '50', base, '50'],
      ['5', 1, 0, alpha, base, '300', alpha, '300'],
      ['5', 0, 10, alpha, alpha, '101', base, '100'],
      ['7', 0, 0, pathUsd, pathUsd, '40', base, '40'],
      ['8', 0, 0, alpha, alpha, '5', base, '5'],
    ])
    const candles = await sql(
      `SELECT quote_token, sum(base_volume), sum(quote_volume), sum(fill_count)
       FROM dex_ohlc_1m WHERE token = '${base}' GROUP BY quote_token ORDER BY quote_token`,
    )
    expect(candles).toEqual([
      [pathUsd, '484', '485', '3'],
      [alpha, '455', '456', '4'],
    ])
    const states = await sql(
      `SELECT orderId, eventType, isBid, tick, isFlipOrder, flipTick, reason FROM dex_order_events
       WHERE orderId IN (5, 8) ORDER BY block_num, log_idx`,
    )
    expect(states).toEqual([
      ['5', 'OrderPlaced', 1, 0, 1, 10, ''],
      ['5', 'OrderFlipped', 0, 10, 1, 0, ''],
      ['8', 'OrderPlaced', 0, 0, 1, -10, ''],
      ['8', 'FlipFailed', 0, 0, 1, -10, '0x0badcafe'],
    ])
    expect((await api.get('/v1/exchange/orders/8')).body.error.code).toBe('order_not_found')
  })

  test('a fill of an order that nobody placed is counted for the operator, and in no answer', async () => {
    const { driver } = followers
    const end = new AbortController()
    const running = driver.run(end.signal)
    await expect
      .poll(() => driver.status.find(({ name }) => name === 'exchange')?.found)
      .toEqual({ strays: 1, differs: null })
    end.abort()
    await running
    expect((await walk(api, '/v1/exchange/orders/0/fills')).length).toBe(0)
    const swaps = await walk(api, '/v1/exchange/swaps')
    expect(swaps.flatMap(({ fills }) => fills).filter(({ orderId }) => orderId === '0')).toEqual([])
    expect(await sql('SELECT count(*) FROM dex_fills')).toEqual([['8']])
    expect(await sql('SELECT count(*) FROM dex_fills_enriched')).toEqual([['7']])
  })
})

describe('the feed and activities of a book written by hand', () => {
  test('the feed tells supplies by the node where balances are not ready', async () => {
    clock.waits = false
    for (const [path, shown] of [
      [`assets/${base}`, 'asset'],
      [`pairs/${newPair}`, 'pair'],
      ['pairs', 'pairs'],
    ] as const) {
      const { status, body, headers } = await api.get(`/feed/${api.chainId}/${path}`)
      expect([path, status, headers.get('svc-source')]).toEqual([path, 200, 'node'])
      expect(JSON.stringify(body[shown])).toContain('"totalSupply":"7.5"')
    }
    clock.waits = true
  })

  test('two swaps of one transaction are two rows, each of its own calldata', async () => {
    const rows = await walk(api, '/v1/exchange/swaps?order=asc&blockNumber.from=3&blockNumber.to=3')
    expect(
      rows.map(({ mode, route, sourceToken, destinationToken }) => [
        ...[mode, route, sourceToken.amount, destinationToken.amount],
      ]),
    ).toEqual([
      ['exactSource', [pathUsd, base], '112', '111'],
      ['exactDestination', [alpha, base], '50', '50'],
    ])
  })

  test('activities say what a bid held back in the token its base was quoted in at that log', async () => {
    const activitiesOf = async (block: number, index: number) => {
      const { rows } = await api.store.postgres.pool.query(
        `SELECT hash FROM ${api.store.schema}.txs WHERE block_num = $1 AND idx = $2`,
        [block, index],
      )
      const { body } = await api.get(`/v1/transactions/0x${rows[0].hash.toString('hex')}/activities`)
      return body.data.map(({ type, data }: Record<string, unknown>) => [type, data])
    }
    const held = []
    for (const [block, index] of [
      [1, 1],
      [2, 0],
      [2, 2],
      [5, 1],
    ] as const) {
      const [[type, { orderId, sourceToken }]] = await activitiesOf(block, index)
      held.push([type, orderId, sourceToken.address, sourceToken.amount])
    }
    expect(held).toEqual([
      ['order-placed', '1', pathUsd, '1001'],
      // In the block in which the quote token changed, before it did.
      ['order-placed', '6', pathUsd, '101'],
      ['order-placed', '5', alpha, '300'],
      // An order that flips stays in its pair.
      ['order-flipped', '7', pathUsd, '40'],
    ])
  })
})
