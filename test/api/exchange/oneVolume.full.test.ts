// Goal: whoever adds up what was traded gets one volume of each pair, from whatever they read.
// Method: the recorded chain behind a real server; the sum by viem over the raw recording.
import { parseUnits } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readRecording } from '../../chain/recordings.ts'
import { readBalances } from '../../store/support/balanceOracle.ts'
import { bookOf } from '../../store/support/bookOracle.ts'
import { recordedBatches } from '../../store/support/chainStore.ts'
import { followersOf, recordedCalls } from '../../store/support/followers.ts'
import { type ChainApi, openChainApi, walk } from '../support/chainApi.ts'
import { readClock } from '../support/readClock.ts'

const recording = 'tempo-dev-2k'
const lastBlock = 122
const sum = <Item>(items: readonly Item[], of: (item: Item) => bigint) =>
  items.reduce((total, item) => total + of(item), 0n)

describe('the volume of a pair', () => {
  const oracle = bookOf(readRecording(recording))
  let api: ChainApi
  beforeAll(async () => {
    api = await openChainApi({ services: { clock: readClock() } })
    await api.append(recordedBatches(recording, 10))
    const callContracts = recordedCalls(recording, readBalances(recording))
    await followersOf(api.store, { callContracts }).settle()
    await api.finalize(lastBlock)
    await api.fillClickHouse()
  })
  afterAll(() => api?.close())

  test('is one, by candles, swaps, the feed and SQL', async () => {
    const chainPath = `/feed/${api.chainId}`
    const { events } = (await api.get(`${chainPath}/events?fromBlock=0&toBlock=${lastBlock}`)).body
    const swaps = await walk(api, '/v1/exchange/swaps?limit=200')
    const pairs = await walk(api, '/v1/exchange/pairs?limit=200')
    const sql = async (text: string) =>
      (await api.get(`/v1/indexer/query?engine=clickhouse&sql=${encodeURIComponent(text)}`)).body.rows
    const inSql = await sql(
      'SELECT token, sum(amountFilled), sum(quote_amount) FROM dex_fills_enriched GROUP BY token',
    )
    const inMinutes = await sql(
      'SELECT token, sum(base_volume), sum(quote_volume) FROM dex_ohlc_1m GROUP BY token',
    )
    expect(pairs.length).toBeGreaterThan(3)
    for (const { base, quote, key } of pairs) {
      const own = oracle.fills.filter(({ pair }) => pair === key)
      const volume = [sum(own, ({ amount }) => amount), sum(own, ({ quoteAmount }) => quoteAmount)]
      const ohlc = `/v1/exchange/pairs/${base.address}/ohlc?interval=1d&timestamp.from=2026-01-01T00:00:00Z`
      const { data } = (await api.get(ohlc)).body
      const inCandles = ['base', 'quote'].map((side) =>
        sum(data, ({ volume }: { volume: Record<string, string> }) => BigInt(volume[side] ?? '')),
      )
      const inSwaps = swaps
        .flatMap(({ fills }) => fills)
        .map(({ sourceToken: source, destinationToken: destination }) => [source, destination])
        .filter((sides) => sides.every(({ address }) => [base.address, quote.address].includes(address)))
        .map((sides) => sides.toSorted(({ address }) => (address === base.address ? -1 : 1)))
      const inFeed = events
        .filter(({ pairId }: { pairId: string }) => pairId === key)
        .map((event: Record<string, string>) => [
          event['asset0In'] ?? event['asset0Out'] ?? '',
          event['asset1In'] ?? event['asset1Out'] ?? '',
        ])
      for (const side of [0, 1] as const) {
        expect(inCandles[side], key).toBe(volume[side])
        expect(
          sum(inSwaps, (sides) => BigInt(sides[side].amount)),
          key,
        ).toBe(volume[side])
        expect(
          sum(inFeed, (sides: string[]) => parseUnits(sides[side] ?? '', 6)),
          key,
        ).toBe(volume[side])
        for (const rows of [inSql, inMinutes]) {
          const found = rows.find(([token]: [string]) => token === base.address)?.[side + 1] ?? '0'
          expect(BigInt(found), key).toBe(volume[side])
        }
      }
    }
    const offered = await sql('SELECT key, liquidity FROM dex_pair_liquidity')
    const ranked = await walk(api, '/v1/exchange/pairs?limit=200&sort=liquidity')
    expect(new Map(offered)).toEqual(new Map(ranked.map(({ key, liquidity }) => [key, liquidity])))
  })
})
