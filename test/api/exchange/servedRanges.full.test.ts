// Goal: what was served of the exchange stays byte for byte what it was when its rows are made
// anew: by a new version of the fold, by `rederive` of everything below it, in pieces of any size.
// Method: the recorded chain behind a real server; answers and tags kept, rows made again, answers
// compared.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bookFollower } from '#store/follow/exchange/bookFollower.ts'
import { outdateAll, rederiveRows } from '#store/maintain/rederive.ts'
import { readRecording } from '../../chain/recordings.ts'
import { readBalances } from '../../store/support/balanceOracle.ts'
import { bookOf } from '../../store/support/bookOracle.ts'
import { decode, recordedBatches } from '../../store/support/chainStore.ts'
import { followersOf, recordedCalls } from '../../store/support/followers.ts'
import { type ChainApi, openChainApi } from '../support/chainApi.ts'
import { readClock } from '../support/readClock.ts'

const recording = 'tempo-dev-2k'
const finalBlock = 122

describe('what was served of the exchange', () => {
  const callContracts = recordedCalls(recording, readBalances(recording))
  const bases = new Set([...bookOf(readRecording(recording)).pairs.values()].map(({ base }) => base))
  let api: ChainApi
  beforeAll(async () => {
    api = await openChainApi({ services: { clock: readClock() } })
    await api.append(recordedBatches(recording, 10))
    await api.finalize(finalBlock)
    await followersOf(api.store, { callContracts }).settle()
  })
  afterAll(() => api?.close())

  async function served(): Promise<readonly unknown[]> {
    const feed = `/feed/${api.chainId}`
    const paths = [
      ...[0, 30, 60, 90].map((from) => `${feed}/events?fromBlock=${from}&toBlock=${from + 29}`),
      ...['/events', '/pairs?limit=500'].map((path) => `${feed}${path}`),
      '/v1/exchange/swaps?limit=200',
      '/v1/exchange/orders?state=all&limit=200&atBlock=77',
      '/v1/exchange/pairs?limit=200&sort=liquidity',
      '/v1/fee-amm/pools?limit=200&atBlock=50',
      '/v1/fee-amm/mints?limit=200',
      ...[...bases].flatMap((base) =>
        ['depth?atBlock=60', 'depth', 'ohlc?interval=1d&timestamp.from=2026-01-01T00:00:00Z'].map(
          (path) => `/v1/exchange/pairs/${base}/${path}`,
        ),
      ),
    ]
    const answers = []
    for (const path of paths) {
      const response = await fetch(api.server.origin + path)
      // A base token whose pair came later has no depth at that block, which has to stay so.
      const { nextCursor, ...body } = JSON.parse(await response.text())
      // A cursor is sealed by chance.
      answers.push([path, response.status, Boolean(nextCursor), JSON.stringify(body), tagOf(response, path)])
    }
    return answers
  }
  const tagOf = ({ headers }: Response, path: string) =>
    path.includes('toBlock') ? headers.get('etag') : null

  test('is the same after a new version of the fold, from pieces of other sizes', async () => {
    const before = await served()
    expect(before.length).toBeGreaterThan(20)
    expect(JSON.stringify(before)).toContain('asset0In')
    const { postgres, schema } = api.store
    // As a program of another version left it.
    for (const table of ['followers', 'coverage'])
      await postgres.pool.query(
        `UPDATE ${schema}.${table} SET version = version + 100 WHERE ${table === 'followers' ? 'name' : 'projection'} = 'exchange'`,
      )
    const usual = followersOf(api.store, { callContracts }).followers
    const others = usual.filter(({ name }) => name !== 'exchange')
    const inPieces = [...others, bookFollower({ callContracts, eventsMax: 7 })]
    await followersOf(api.store, { callContracts, followers: inPieces }).settle()
    await api.state.refresh()
    expect(await served()).toEqual(before)
  })

  test('is the same after everything below was derived again', async () => {
    const before = await served()
    const { store } = api
    await outdateAll(store)
    await rederiveRows(
      { ...store, decode: async (raw) => decode(raw), onProgress: () => {} },
      new AbortController().signal,
    )
    const { rows } = await store.postgres.pool.query(`SELECT count(*) AS n FROM ${store.schema}.followers`)
    expect(Number(rows[0].n)).toBe(0)
    await followersOf(store, { callContracts }).settle()
    await api.state.refresh()
    expect(await served()).toEqual(before)
  })
})
