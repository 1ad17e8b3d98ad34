// Goal: swaps, the feed and webhooks tell what a taker gave and got, to the last unit, where that is
// not what its makers got and gave (an exact input is kept whole, an exact output is paid and no
// more); candles and SQL tell trades at their prices.
// Method: swaps by a seed through an exchange of a few lines; the truth is the taker's transfers.

import { type Hex, parseUnits } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readPiece, readPieceBlocks } from '#store/read/pieces.ts'
import { findEventType } from '#webhooks/events/index.ts'
import { checkEvents, type FeedEvent } from '../../feed/rules.ts'
import { followersOf, recordedNode } from '../../store/support/followers.ts'
import { type ChainApi, openChainApi, walk } from '../support/chainApi.ts'
import { readClock } from '../support/readClock.ts'
import {
  events,
  exchange,
  fill,
  logOf,
  maker,
  pair,
  pathUsd,
  place,
  taker,
  token,
} from '../support/writtenBook.ts'
import { batchesOf, type WrittenLog, type WrittenTransaction, writtenChain } from '../support/writtenChain.ts'

const tokenOf = (letter: string): Hex => `0x20c000000000000000000000${letter.repeat(16)}`
const [one, other] = [tokenOf('b'), tokenOf('d')]

interface Order {
  readonly id: bigint
  readonly base: Hex
  readonly isBid: boolean
  readonly tick: number
  remaining: bigint
}

const SCALE = 100_000n
const priceOf = ({ tick }: Order) => SCALE + BigInt(tick)
const least = (a: bigint, b: bigint): bigint => [a, b].reduce((found, next) => (next < found ? next : found))
const up = (amount: bigint, by: bigint): bigint => (amount + by - 1n) / by

/** The book of one seed, and swaps through it as the exchange makes them. */
class Exchange {
  readonly orders: Order[] = []
  #state: number

  constructor(seed: number) {
    this.#state = seed * 7_919
  }

  below(n: number): number {
    this.#state = (Math.imul(this.#state, 1_103_515_245) + 12_345) >>> 0
    return Math.floor((this.#state / 2 ** 32) * n)
  }

  place(): WrittenLog[] {
    return [one, other].flatMap((base) =>
      [true, false].flatMap((isBid) =>
        Array.from({ length: 160 }, () => {
          // The higher the price, the more often a unit is left over.
          const tick = 1_000 + this.below(100) * 10
          const order = {
            id: BigInt(this.orders.length + 1),
            base,
            isBid,
            tick,
            remaining: BigInt(this.below(1_900) + 100),
          }
          this.orders.push(order)
          return place(order.id, base, order.remaining, isBid, tick)
        }),
      ),
    )
  }

  #next(base: Hex, isBid: boolean): Order {
    const found = this.orders
      .filter((order) => order.base === base && order.isBid === isBid && order.remaining > 0n)
      .toSorted((a, b) => (isBid ? b.tick - a.tick : a.tick - b.tick))
    return found[0] ?? expect.fail('the book is empty')
  }

  #fill(order: Order, amount: bigint): WrittenLog {
    order.remaining -= amount
    return fill(order.id, amount, order.remaining > 0n)
  }

  exactIn(base: Hex, isBid: boolean, amount: bigint): { logs: WrittenLog[]; out: bigint } {
    const logs: WrittenLog[] = []
    let [left, out] = [amount, 0n]
    while (left > 0n) {
      const order = this.#next(base, isBid)
      const wanted = isBid ? left : (left * SCALE) / priceOf(order)
      const filled = least(wanted, order.remaining)
      const goesOn = wanted > order.remaining
      logs.push(this.#fill(order, filled))
      out += isBid ? (filled * priceOf(order)) / SCALE : filled
      left = goesOn ? left - (isBid ? filled : up(filled * priceOf(order), SCALE)) : 0n
    }
    return { logs, out }
  }

  exactOut(base: Hex, isBid: boolean, amount: bigint): { logs: WrittenLog[]; paid: bigint } {
    const logs: WrittenLog[] = []
    let [left, paid] = [amount, 0n]
    while (left > 0n) {
      const order = this.#next(base, isBid)
      const wanted = isBid ? up(left * SCALE, priceOf(order)) : left
      const filled = least(wanted, order.remaining)
      const goesOn = wanted > order.remaining
      logs.push(this.#fill(order, filled))
      paid += isBid ? filled : up(filled * priceOf(order), SCALE)
      left = goesOn ? left - (isBid ? (filled * priceOf(order)) / SCALE : filled) : 0n
    }
    return { logs, paid }
  }
}

interface Swap {
  readonly given: readonly [Hex, bigint]
  readonly got: readonly [Hex, bigint]
  readonly logs: readonly WrittenLog[]
}

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

/** One hop or two, of an exact input or output. */
function swapBy(book: Exchange): Swap {
  const amount = BigInt(book.below(900) + 60)
  const [from, to] = book.below(2) === 0 ? [one, other] : [other, one]
  const hops = [
    [{ base: from, isBid: true, given: from, got: pathUsd }],
    [{ base: to, isBid: false, given: pathUsd, got: to }],
    [
      { base: from, isBid: true, given: from, got: pathUsd },
      { base: to, isBid: false, given: pathUsd, got: to },
    ],
  ][book.below(3)]
  const [first, last] = [hops?.[0] ?? expect.fail(), hops?.at(-1) ?? expect.fail()]
  const sent = (token: Hex, of: bigint, from: Hex, to: Hex) =>
    logOf(token, events.transfer, { from, to, amount: of })
  let logs: WrittenLog[] = []
  let moved = amount
  if (book.below(2) === 0) {
    for (const { base, isBid } of hops ?? []) {
      const done = book.exactIn(base, isBid, moved)
      logs.push(...done.logs)
      moved = done.out
    }
    logs = [sent(first.given, amount, taker, exchange), ...logs, sent(last.got, moved, exchange, taker)]
    return { given: [first.given, amount], got: [last.got, moved], logs }
  }
  for (const { base, isBid } of hops?.toReversed() ?? []) {
    const done = book.exactOut(base, isBid, moved)
    logs.push(...done.logs)
    moved = done.paid
  }
  logs.push(sent(first.given, moved, taker, exchange), sent(last.got, amount, exchange, taker))
  return { given: [first.given, moved], got: [last.got, amount], logs }
}

describe('what a taker gave and got', () => {
  let api: ChainApi
  const swaps: Swap[] = []
  beforeAll(async () => {
    const book = new Exchange(5)
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
