// Goal: swaps, the feed and webhooks tell what a taker gave and got, to the last unit, where that is
// not what its makers got and gave (an exact input is kept whole, an exact output is paid and no
// more); candles and SQL tell trades at their prices.
// Method: swaps by a seed through an exchange of a few lines; the truth is the taker's transfers.
import { parseUnits } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readPiece, readPieceBlocks } from '#store/read/pieces.ts'
import { findEventType } from '#webhooks/events/index.ts'
import { checkEvents, type FeedEvent } from '../../feed/rules.ts'
import { followersOf, recordedNode } from '../../store/support/followers.ts'
import { type ChainApi, openChainApi, walk } from '../support/chainApi.ts'
import { readClock } from '../support/readClock.ts'
import { maker, pair, pathUsd, taker, token } from '../support/writtenBook.ts'
import { batchesOf, type WrittenTransaction, writtenChain } from '../support/writtenChain.ts'
import { one, other, ScriptedBook, type Swap, swapBy } from './support/scriptedBook.ts'

interface ShownAmount {
  readonly address: string
  readonly amount: string
}
interface ShownMovement {
  readonly sourceToken: ShownAmount
  readonly destinationToken: ShownAmount
}
interface ShownSwap extends ShownMovement {
  readonly fills: readonly ShownMovement[]
}

describe('what a taker gave and got', () => {
  let api: ChainApi
  const swaps: Swap[] = []
  beforeAll(async () => {
    const book = new ScriptedBook(5)
    const begins: WrittenTransaction = {
      from: maker,
      logs: [
        ...[token(one, 'One', 'ONE', pathUsd), pair(one, pathUsd)],
        ...[token(other, 'Other', 'OTHER', pathUsd), pair(other, pathUsd)],
        ...book.place(),
      ],
    }
    for (let nth = 0; nth < 400; nth++) swaps.push(swapBy(book))
    // Two swaps in one transaction stand apart.
    const txs = Array.from({ length: 200 }, (_, nth) => ({
      from: taker,
      logs: swaps.slice(nth * 2, nth * 2 + 2).flatMap(({ logs }) => logs),
    }))
    api = await openChainApi({ services: { clock: readClock() } })
    await api.append(batchesOf(writtenChain('tempo-dev-2k', [[begins], txs])))
    await followersOf(api.store, {
      callContracts: recordedNode('tempo-dev-2k'),
      only: ['tokens', 'exchange'],
    }).settle()
    await api.finalize(2)
    await api.fillClickHouse()
  })
  afterAll(() => api?.close())

  test('is what its transfers say, and its fills are at the price of each', async () => {
    const rows = (await walk(api, '/v1/exchange/swaps?limit=200&order=asc')) as ShownSwap[]
    const shown = rows.map(({ sourceToken, destinationToken }) => [
      [sourceToken.address, sourceToken.amount],
      [destinationToken.address, destinationToken.amount],
    ])
    expect(shown).toEqual(
      swaps.map(({ given, got }) => [given, got].map(([of, amount]) => [of, `${amount}`])),
    )
    // Or nothing would be tested: some takers gave more than makers got, some got less than they gave.
    const sumOf = (fills: readonly ShownMovement[], side: keyof ShownMovement, of: string) =>
      fills
        .filter((fill) => fill[side].address === of)
        .reduce((sum, fill) => sum + BigInt(fill[side].amount), 0n)
    const beyond = rows.filter(
      ({ fills, sourceToken: { address, amount } }) => BigInt(amount) > sumOf(fills, 'sourceToken', address),
    )
    const below = rows.filter(
      ({ fills, destinationToken: { address, amount } }) =>
        BigInt(amount) < sumOf(fills, 'destinationToken', address),
    )
    expect([beyond.length > 0, below.length > 0]).toEqual([true, true])
  })

  const units = (text = '0') => parseUnits(text, 6)

  test('is what the feed tells for aggregators, fill by fill, at most two units off its price', async () => {
    const { body } = await api.get(`/feed/${api.chainId}/events`)
    const events: readonly FeedEvent[] = body.events
    expect(checkEvents(events, { from: 0, to: 2 })).toEqual([])
    const rows = (await walk(api, '/v1/exchange/swaps?limit=200&order=asc')) as ShownSwap[]
    let next = 0
    const told = rows.map(({ fills, sourceToken, destinationToken }) => {
      const own = events.slice(next, next + fills.length)
      next += fills.length
      const sum = (side: keyof ShownMovement, of: string, amountOf: (event: FeedEvent) => bigint) =>
        own.reduce(
          (total, event, nth) => total + (fills[nth]?.[side].address === of ? amountOf(event) : 0n),
          0n,
        )
      return [
        sum('sourceToken', sourceToken.address, (one) => units(one.asset0In) + units(one.asset1In)),
        sum(
          'destinationToken',
          destinationToken.address,
          (one) => units(one.asset0Out) + units(one.asset1Out),
        ),
      ]
    })
    expect(next).toBe(events.length)
    expect(told).toEqual(swaps.map(({ given, got }) => [given[1], got[1]]))
  })

  test('is beside the quote amount of its maker in the data of webhooks', async () => {
    const { pool } = api.store.postgres
    const blocks = await readPieceBlocks(pool, api.store.schema, { from: 2, to: 2 })
    const piece = await readPiece(pool, api.store.schema, blocks, new Set(['exchange_fills']))
    const found = findEventType('exchange:filled')
      ?.watch([{ subscriber: 'one', filters: {} }])
      .find(piece, { chainId: api.chainId, kind: 'tempo' })
    const told = found?.map(({ receivers }) => JSON.parse(receivers[0]?.data({} as never) ?? ''))
    const { body } = await api.get(`/feed/${api.chainId}/events`)
    const events: readonly FeedEvent[] = body.events
    expect(told?.map(({ amount, takerQuoteAmount }) => [amount, takerQuoteAmount])).toEqual(
      events.map(({ asset0In, asset0Out, asset1In, asset1Out }) => [
        `${units(asset0In ?? asset0Out)}`,
        `${units(asset1In ?? asset1Out)}`,
      ]),
    )
    const leftOver = told?.map(({ side, quoteAmount, takerQuoteAmount }) =>
      Number(side === 'ask' ? takerQuoteAmount - quoteAmount : quoteAmount - takerQuoteAmount),
    )
    expect(leftOver?.every((units) => units >= 0 && units <= 2)).toBe(true)
    expect(leftOver?.some((units) => units > 0)).toBe(true)
  })

  test('is not in candles and SQL, which tell trades at the price of each fill and say so', async () => {
    const rows = (await walk(api, '/v1/exchange/swaps?limit=200&order=asc')) as ShownSwap[]
    const { body } = await api.get(
      `/v1/indexer/query?engine=clickhouse&limit=5000&sql=${encodeURIComponent(
        'SELECT source_amount, destination_amount FROM dex_fills_enriched ORDER BY block_num, log_idx',
      )}`,
    )
    expect(body.rows).toEqual(
      rows.flatMap(({ fills }) =>
        fills.map(({ sourceToken, destinationToken }) => [sourceToken.amount, destinationToken.amount]),
      ),
    )
    const candles = (await api.get(`/v1/exchange/pairs/${one}/ohlc?interval=1d&window=30d`)).body
    const ofPair = rows.flatMap(({ fills }) =>
      fills.flatMap(({ sourceToken, destinationToken }) => {
        const sides = [sourceToken, destinationToken]
        const traded = sides.some(({ address }) => address === one)
        return traded ? [BigInt(sides.find(({ address }) => address === pathUsd)?.amount ?? 0)] : []
      }),
    )
    const volume = candles.data.reduce(
      (sum: bigint, candle: { volume: { quote: string } }) => sum + BigInt(candle.volume.quote),
      0n,
    )
    expect(volume).toBe(ofPair.reduce((sum, amount) => sum + amount, 0n))
  })
})
