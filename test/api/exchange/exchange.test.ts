// Goal: the exchange's endpoints and the aggregators' feed say what the raw logs say: of any block,
// page after page, and never more or less than is final in the feed.
// Method: the recorded chain behind a real server; expectations by viem over the raw recording.

import { formatUnits, getAddress } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { tokenNamesOf } from '#api/routes/tokens/tokens.ts'
import { readRecording } from '../../chain/recordings.ts'
import { readBalances } from '../../store/support/balanceOracle.ts'
import { type BookOracle, bookOf, type OracleFill, type OracleOrder } from '../../store/support/bookOracle.ts'
import { recordedRuns } from '../../store/support/chainStore.ts'
import { followersOf, recordedCalls, type TestFollowers } from '../../store/support/followers.ts'
import { type ChainApi, openChainApi, walk } from '../support/chainApi.ts'
import { type ResponseCheck, responseCheck } from '../support/openapi.ts'
import { readClock } from '../support/readClock.ts'

const recording = 'tempo-dev-2k'
const lastBlock = 122
const finalBlock = 110
const price = (tick: number) => ((100_000 + tick) / 100_000).toFixed(5)
const sum = <Item>(items: readonly Item[], of: (item: Item) => bigint) =>
  items.reduce((total, item) => total + of(item), 0n)

const isoOf = (seconds: number) => new Date(seconds * 1000).toISOString().replace('.000', '')

const chain = readRecording(recording)
const oracle = bookOf(chain)
const run = recordedRuns(recording)
const callContracts = recordedCalls(recording, readBalances(recording))
const bases = [...new Set([...oracle.pairs.values()].map(({ base }) => base))]
let api: ChainApi
let followers: TestFollowers
let check: ResponseCheck

async function open() {
  const opened = await openChainApi({ services: { clock: readClock() } })
  afterAll(() => opened.close())
  const { services } = opened
  Object.assign(services, { tokenNames: tokenNamesOf(services.chains, services.curatedTokens) })
  return { api: opened, followers: followersOf(opened.store, { callContracts }) }
}
beforeAll(async () => {
  const opened = await open()
  api = opened.api
  followers = opened.followers
  await api.append(run(0, lastBlock))
  await api.finalize(finalBlock)
  await followers.settle()
  check = await responseCheck(api)
})
async function get(path: string, template = path.split('?')[0] ?? path) {
  const answer = await api.get(path)
  expect(answer.status, `${path}: ${JSON.stringify(answer.body)}`).toBe(200)
  expect(check(template, answer), path).toEqual([])
  return answer.body
}
const shown = ({ orderId, remaining }: { orderId: string; remaining: string }) => [orderId, remaining]

describe('depth and orders of the exchange', () => {
  const levelsOf = (book: BookOracle, base: string, isBid: boolean) => {
    const open = book.orders.filter((order) => order.open && order.base === base && order.isBid === isBid)
    const ticks = [...new Set(open.map(({ tick }) => tick))].sort((a, b) => (isBid ? b - a : a - b))
    return ticks.map((tick) => ({
      ...{ tick, price: price(tick) },
      size: `${sum(open, (order) => (order.tick === tick ? order.remaining : 0n))}`,
    }))
  }

  test('depth is the sum of the open orders, now and after any block', async () => {
    const template = '/v1/exchange/pairs/{base}/depth'
    for (const at of [undefined, 0, 20, 40, 77, 100, lastBlock]) {
      const book = bookOf(chain, at)
      for (const base of bases) {
        const created = [...book.pairs.values()].some((pair) => pair.base === base)
        const path = `/v1/exchange/pairs/${base}/depth?levels=200${at === undefined ? '' : `&atBlock=${at}`}`
        if (!created) {
          expect((await api.get(path)).body.error.code).toBe('pair_not_found')
          continue
        }
        const { bids, asks } = await get(path, template)
        for (const [levels, isBid] of [
          [bids, true],
          [asks, false],
        ] as const) {
          const plain = levels.map(({ tick, price, size }: Record<string, unknown>) => ({
            tick,
            price,
            size,
          }))
          expect(plain).toEqual(levelsOf(book, base, isBid))
          for (const [index, { cumulativeSize }] of levels.entries())
            expect(BigInt(cumulativeSize)).toBe(
              sum(levels.slice(0, index + 1), ({ size }: { size: string }) => BigInt(size)),
            )
        }
      }
    }
    expect(levelsOf(oracle, bases[0] ?? '', true).length).toBeGreaterThan(0)
    expect((await api.get(`/v1/exchange/pairs/${bases[0]}/depth?atBlock=${lastBlock + 1}`)).status).toBe(409)
  })

  const byTick = (a: OracleOrder, b: OracleOrder) => a.tick - b.tick || (a.id < b.id ? -1 : 1)
  const expectedOf = (orders: readonly OracleOrder[]) =>
    orders.map(({ id, remaining }) => [`${id}`, `${remaining}`])

  test('orders are listed by price and time, by base, maker and side, after any block', async () => {
    for (const at of [undefined, 60, 101]) {
      const atBlock = at === undefined ? '' : `&atBlock=${at}`
      const open = bookOf(chain, at).orders.filter((order) => order.open)
      const all = await walk(api, `/v1/exchange/orders?limit=7&order=asc${atBlock}`)
      expect(all.map(shown)).toEqual(expectedOf(open.toSorted(byTick)))
      const byTime = await walk(api, `/v1/exchange/orders?limit=50&sort=time${atBlock}`)
      expect(byTime.map(shown)).toEqual(expectedOf(open.toReversed()))
      const [{ maker, base } = { maker: '', base: '' }] = open
      const some = await walk(
        api,
        `/v1/exchange/orders?base=${base}&maker=${maker}&side=bid&order=asc${atBlock}`,
      )
      const own = open.filter((order) => order.base === base && order.maker === maker && order.isBid)
      expect(some.map(shown)).toEqual(expectedOf(own.toSorted(byTick)))
    }
    const counted = await get('/v1/exchange/orders?state=all&include=totalCount,tokens')
    expect(counted).toMatchObject({ truncated: false, meta: { totalCount: oracle.orders.length } })
    for (const [state, isSo] of [
      ['filled', (remaining: bigint) => remaining === 0n],
      ['cancelled', (remaining: bigint) => remaining > 0n],
    ] as const) {
      const closed = await walk(api, `/v1/exchange/orders?state=${state}&limit=20&order=asc`)
      const own = oracle.orders.filter(({ open, remaining }) => !open && isSo(remaining))
      expect(own.length, state).toBeGreaterThan(0)
      expect(closed.map(shown), state).toEqual(expectedOf(own.toSorted(byTick)))
    }
    expect((await api.get(`/v1/exchange/orders?base=0x${'ab'.repeat(20)}`)).body.error.code).toBe(
      'pair_not_found',
    )
  })

  test('a walk over orders shows the block of its first page while the chain grows', async () => {
    const { api: growing, followers } = await open()
    await growing.append(run(0, 100))
    await followers.settle()
    let next = 101
    const rows = await walk(growing, '/v1/exchange/orders?limit=20&order=asc', async () => {
      await growing.append(run(next, next))
      next += 1
      await followers.settle()
    })
    expect(next).toBeGreaterThan(103)
    const open100 = bookOf(chain, 100).orders.filter((order) => order.open)
    expect(rows.map(shown)).toEqual(expectedOf(open100.toSorted(byTick)))
  })

  test('one order is shown while it is open; its fills stay', async () => {
    const template = '/v1/exchange/orders/{orderId}'
    const order = oracle.orders.find(({ open }) => open)
    const body = await get(`/v1/exchange/orders/${order?.id}?include=tokens`, template)
    expect(body).toMatchObject({ maker: order?.maker, remaining: `${order?.remaining}`, tick: order?.tick })
    const filled = oracle.fills.find(({ orderId }) => !oracle.orders.find(({ id }) => id === orderId)?.open)
    const answer = await api.get(`/v1/exchange/orders/${filled?.orderId}`)
    expect([answer.status, answer.body.error.code]).toEqual([404, 'order_not_found'])
    const fills = await walk(api, `/v1/exchange/orders/${filled?.orderId}/fills?order=asc`)
    const own = oracle.fills.filter(({ orderId }) => orderId === filled?.orderId)
    expect(fills.map(({ id, amountFilled }) => [id, amountFilled])).toEqual(
      own.map(({ txHash, logIndex, amount }) => [`${txHash}-${logIndex}`, `${amount}`]),
    )
    const without = oracle.orders.find(({ id }) => oracle.fills.every(({ orderId }) => orderId !== id))
    const none = await api.get(`/v1/exchange/orders/${without?.id}/fills?include=totalCount`)
    expect(none.body).toMatchObject({ data: [], meta: { totalCount: 0 } })
    for (const id of [`${2n ** 128n}`, '-1', 'x', '01', '00'])
      expect((await api.get(`/v1/exchange/orders/${id}`)).body.error.code).toBe('order_invalid')
    expect((await api.get(`/v1/exchange/orders/${2n ** 128n - 1n}`)).status).toBe(404)
  })
})

describe('pairs and swaps of the exchange', () => {
  test('pairs are listed by creation and by what asks offer', async () => {
    const rows = await walk(api, '/v1/exchange/pairs?limit=5&order=asc')
    expect(rows.map(({ key }) => key)).toEqual([...oracle.pairs.keys()])
    const offered = (base: string) =>
      sum(oracle.orders, (order) =>
        order.open && !order.isBid && order.base === base ? order.remaining : 0n,
      )
    const ranked = await walk(api, '/v1/exchange/pairs?limit=5&sort=liquidity')
    const bases = [...oracle.pairs.values()].map(({ base }) => base)
    expect(ranked.map(({ base, liquidity }) => [base.address, liquidity])).toEqual(
      bases
        .toSorted((a, b) => (offered(a) === offered(b) ? (a < b ? -1 : 1) : offered(a) > offered(b) ? -1 : 1))
        .map((base) => [base, `${offered(base)}`]),
    )
    const one = await get(`/v1/exchange/pairs/${bases[0]}?include=tokens`, '/v1/exchange/pairs/{base}')
    expect(one.base.symbol.length).toBeGreaterThan(0)
    expect((await api.get(`/v1/exchange/pairs/0x${'ab'.repeat(20)}`)).body.error.code).toBe('pair_not_found')
  })

  test('swaps are one for each call, of the amounts of their fills', async () => {
    const rows = await walk(api, '/v1/exchange/swaps?limit=9')
    expect(sum(rows, ({ fills }) => BigInt(fills.length))).toBe(BigInt(oracle.fills.length))
    expect(rows.filter(({ mode }) => mode === null)).toEqual([])
    expect(rows.some(({ route }) => route.length === 3)).toBe(true)
    expect(new Set(rows.map(({ mode }) => mode))).toEqual(new Set(['exactSource', 'exactDestination']))
    await get('/v1/exchange/swaps?include=tokens')
    const { maker = '', taker = '', txHash = '' } = oracle.fills[30] ?? {}
    const hashes = (fills: readonly OracleFill[]) => new Set(fills.map((fill) => fill.txHash))
    /** No transaction of the recording has two swaps. */
    const makersIn = ({ txHash: own }: OracleFill) =>
      oracle.fills.flatMap((fill) => (fill.txHash === own ? [fill.maker] : []))
    const shared = oracle.fills.flatMap((fill) => {
      const other = makersIn(fill).find((by) => by !== fill.maker)
      return other === undefined ? [] : [[fill.maker, other] as const]
    })
    const [[first, other] = expect.fail('no swap has two makers')] = shared
    for (const [query, matches] of [
      [`taker=${taker}`, (fill: OracleFill) => fill.taker === taker],
      [`maker=${maker}`, (fill: OracleFill) => fill.maker === maker],
      [`participant=${maker}`, (fill: OracleFill) => fill.maker === maker || fill.taker === maker],
      [
        `participant=${taker}&maker=${maker}`,
        (fill: OracleFill) => fill.maker === maker && (fill.taker === taker || fill.maker === taker),
      ],
      [
        `participant=${first}&maker=${other}`,
        // Both made orders of one swap, or one of them took from the other.
        (fill: OracleFill) => {
          const makers = makersIn(fill)
          return makers.includes(other) && (makers.includes(first) || fill.taker === first)
        },
      ],
      [`transactionHash=${txHash}`, (fill: OracleFill) => fill.txHash === txHash],
      ['blockNumber.from=60&blockNumber.to=90', ({ block }: OracleFill) => block >= 60 && block <= 90],
    ] as const) {
      const found = await walk(api, `/v1/exchange/swaps?limit=6&${query}`)
      expect(new Set(found.map((row) => row.transactionHash)), query).toEqual(
        hashes(oracle.fills.filter(matches)),
      )
    }
    expect((await api.get('/v1/exchange/swaps?page=1')).status).toBe(400)
  })
})

describe('candles of the exchange', () => {
  test('candles are the fills by time, in quote per base', async () => {
    const timeOf = (block: number) =>
      Number((chain[block] as { block: { timestamp: string } }).block.timestamp)
    const newest = timeOf(lastBlock)
    // As fine as 500 buckets can show the recording.
    const [name, seconds] = newest - timeOf(0) < 480 * 60 ? (['1m', 60] as const) : (['15m', 900] as const)
    for (const base of bases) {
      const fills = oracle.fills.filter((fill) => fill.base === base)
      const first = Math.floor(newest / seconds) - 499
      const expected = [...Map.groupBy(fills, ({ timestamp }) => Math.floor(timestamp / seconds))]
        .filter(([bucket]) => bucket >= first)
        .map(([bucket, own]) => ({
          timestamp: new Date(bucket * seconds * 1000).toISOString().replace('.000', ''),
          open: price(own[0]?.tick ?? 0),
          high: price(Math.max(...own.map(({ tick }) => tick))),
          low: price(Math.min(...own.map(({ tick }) => tick))),
          close: price(own.at(-1)?.tick ?? 0),
          fillCount: own.length,
          volume: {
            base: `${sum(own, ({ amount }) => amount)}`,
            quote: `${sum(own, ({ quoteAmount }) => quoteAmount)}`,
          },
        }))
      const from = new Date(first * seconds * 1000).toISOString()
      const path = `/v1/exchange/pairs/${base}/ohlc?interval=${name}&timestamp.from=${from}`
      const body = await get(path, '/v1/exchange/pairs/{base}/ohlc')
      const plain = body.data.map(({ id: _id, ...candle }: Record<string, unknown>) => candle)
      const isFinal = ({ timestamp }: { timestamp: string }) =>
        Date.parse(timestamp) / 1000 + seconds <= timeOf(finalBlock)
      expect(plain).toEqual(expected.map((candle) => ({ ...candle, final: isFinal(candle) })))
    }
    const ohlc = `/v1/exchange/pairs/${bases[0]}/ohlc`
    const tooMany = await api.get(`${ohlc}?interval=1m&window=24h`)
    expect([tooMany.status, tooMany.body.error.code]).toEqual([400, 'query_invalid'])
    for (const [query, status, code] of [
      ['window=1h&timestamp.from=2026-01-01T00:00:00Z', 400, 'query_invalid'],
      ['timestamp.from=2026-01-02T00:00:00Z&timestamp.to=2026-01-01T00:00:00Z', 422, 'range_invalid'],
    ]) {
      const refused = await api.get(`${ohlc}?${query}`)
      expect([refused.status, refused.body.error.code], `${query}`).toEqual([status, code])
    }
    expect((await get(ohlc, '/v1/exchange/pairs/{base}/ohlc')).window).toBe('24h')
  })

  test('candles without gaps go on at the last price, also from before the window', async () => {
    const seconds = 60
    const shown = ({ timestamp, open, high, low, close, fillCount, volume }: Record<string, unknown>) => ({
      ...{ timestamp, open, high, low, close, fillCount, volume },
    })
    // The window ends at the newest block.
    const newest = Math.floor(
      Number((chain[lastBlock] as { block: { timestamp: string } }).block.timestamp) / seconds,
    )
    let empty = 0
    for (const base of bases) {
      const fills = oracle.fills.filter((fill) => fill.base === base)
      const buckets = Map.groupBy(fills, ({ timestamp }) => Math.floor(timestamp / seconds))
      const [first = 0, last = 0] = [Math.min(...buckets.keys()), Math.max(...buckets.keys())]
      // Before the first fill, right after it, and after the last one.
      for (const from of [first - 3, first + 1, last + 1]) {
        const path = `/v1/exchange/pairs/${base}/ohlc?interval=1m&timestamp.from=${isoOf(from * seconds)}`
        const until = `timestamp.to=${isoOf((last + 4) * seconds)}`
        const told = (await get(`${path}&${until}&fill=previous`, '/v1/exchange/pairs/{base}/ohlc')).data
        const gaps = (await get(`${path}&${until}`, '/v1/exchange/pairs/{base}/ohlc')).data
        const expected = []
        let close = fills.filter(({ timestamp }) => timestamp < from * seconds).at(-1)?.tick
        for (let bucket = from; bucket <= Math.min(last + 4, newest); bucket++) {
          const candle = gaps.find((one: { timestamp: string }) => one.timestamp === isoOf(bucket * seconds))
          if (candle) expected.push(shown(candle))
          else if (close !== undefined) {
            const at = price(close)
            expected.push({
              ...{ timestamp: isoOf(bucket * seconds), open: at, high: at, low: at, close: at },
              ...{ fillCount: 0, volume: { base: '0', quote: '0' } },
            })
            empty++
          }
          close = buckets.get(bucket)?.at(-1)?.tick ?? close
        }
        expect(told.map(shown), `${base} from ${from}`).toEqual(expected)
      }
    }
    expect(empty).toBeGreaterThan(10)
  })
})

describe('the aggregators’ feed of the exchange', () => {
  const eventOf = (fill: OracleFill) => {
    const [base, quote] = [formatUnits(fill.amount, 6), formatUnits(fill.quoteAmount, 6)]
    return {
      block: { blockNumber: fill.block, blockTimestamp: fill.timestamp },
      ...{ eventType: 'swap', txnId: fill.txHash, txnIndex: fill.txIndex, eventIndex: fill.txLogIndex },
      ...{ maker: getAddress(fill.taker), pairId: fill.pair },
      ...(fill.isBid ? { asset0In: base, asset1Out: quote } : { asset1In: quote, asset0Out: base }),
      priceNative: formatUnits(100_000n + BigInt(fill.tick), 5),
      reserves: { asset0: formatUnits(fill.reserve0, 6), asset1: formatUnits(fill.reserve1, 6) },
    }
  }

  test('the feed tells every fill of final blocks, in any chunks, and refuses the rest', async () => {
    const feed = '/feed/mainnet'
    const latest = await api.get(`/feed/${api.chainId}/latest-block`)
    expect(latest.body.block.blockNumber).toBe(finalBlock)
    const chainPath = `/feed/${api.chainId}`
    const final = oracle.fills.filter(({ block }) => block <= finalBlock).map(eventOf)
    const whole = await get(`${chainPath}/events?fromBlock=0&toBlock=${finalBlock}`, '/feed/{chainId}/events')
    expect(whole.events).toEqual(final)
    expect((await api.get(`${chainPath}/events`)).body.events).toEqual(final)
    const chunks = []
    for (let from = 0; from <= finalBlock; from += 7) {
      const to = Math.min(from + 6, finalBlock)
      chunks.push(...(await api.get(`${chainPath}/events?fromBlock=${from}&toBlock=${to}`)).body.events)
    }
    expect(chunks).toEqual(final)
    const above = await api.get(`${chainPath}/events?fromBlock=0&toBlock=${finalBlock + 1}`)
    expect([above.status, above.body.error.code]).toEqual([400, 'query_invalid'])
    expect(JSON.stringify(above.body.error.details)).toContain(`${finalBlock}`)
    expect((await api.get(`${chainPath}/events?fromBlock=9&toBlock=8`)).status).toBe(422)
    expect((await api.get(`${feed}/events?fromBlock=x`)).status).toBe(400)
    const cached = await api.get(`${chainPath}/events?fromBlock=1&toBlock=9`)
    expect(cached.headers.get('cache-control')).toContain('immutable')
    expect(cached.headers.get('etag')).toMatch(/^"/)
    for (const path of ['latest-block', 'events', 'events?fromBlock=5'])
      expect((await api.get(`${chainPath}/${path}`)).headers.get('cache-control')).toBe('no-cache')
  })

  test('the feed shows pairs newest first and assets, checksummed, as final blocks left them', async () => {
    const chainPath = `/feed/${api.chainId}`
    const { pairs } = await get(`${chainPath}/pairs?limit=500`, '/feed/{chainId}/pairs')
    const book = bookOf(chain, finalBlock)
    expect(pairs.map(({ id }: { id: string }) => id)).toEqual([...book.pairs.keys()].reverse())
    for (const pair of pairs) {
      const own = book.orders.filter((order) => order.open && order.pair === pair.id)
      const asks = sum(own, ({ isBid, remaining }) => (isBid ? 0n : remaining))
      expect(pair.reserve0).toBe(formatUnits(asks, 6))
      expect(getAddress(pair.asset0Id)).toBe(pair.asset0Id)
    }
    const [first] = pairs
    const one = await get(
      `${chainPath}/pairs/${first.id.toUpperCase().replace('0X', '0x')}`,
      '/feed/{chainId}/pairs/{pairId}',
    )
    expect(one.pair).toEqual(first)
    const asset = await get(`${chainPath}/assets/${first.asset0Id}`, '/feed/{chainId}/assets/{address}')
    expect(asset.asset).toMatchObject({ id: first.asset0Id, decimals: 6, symbol: first.token0.symbol })
    for (const [path, code] of [
      [`pairs/0x${'ab'.repeat(32)}`, 'not_found'],
      ['pairs/0xab', 'pair_id_invalid'],
      [`assets/0x${'ab'.repeat(20)}`, 'not_found'],
      ['assets/0xab', 'address_invalid'],
    ])
      expect((await api.get(`${chainPath}/${path}`)).body.error.code, path).toBe(code)
  })
})
