// Goal: fee pools and mints are listed as the fold has them, newest and as of any block.
// Method: the recorded chain behind a real server; the fold itself is compared with raw logs in
// store/feePools.full.test.ts.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readBalances } from '../store/support/balanceOracle.ts'
import { recordedBatches } from '../store/support/chainStore.ts'
import { followersOf, genesisReserve, recordedCalls } from '../store/support/followers.ts'
import { describeWithShared } from '../support/shared.ts'
import { type ChainApi, openChainApi, walk } from './support/chainApi.ts'
import { type ResponseCheck, responseCheck } from './support/openapi.ts'
import { readClock } from './support/readClock.ts'

const recording = 'tempo-dev-2k'
const lastBlock = 122

describeWithShared('fee pools of the API', () => {
  let api: ChainApi
  let check: ResponseCheck
  beforeAll(async () => {
    api = await openChainApi({ services: { clock: readClock() } })
    await api.append(recordedBatches(recording, 10))
    const callContracts = recordedCalls(recording, readBalances(recording))
    await followersOf(api.store, { callContracts }).settle()
    check = await responseCheck(api)
  })
  afterAll(() => api?.close())
  async function get(path: string) {
    const answer = await api.get(path)
    expect(answer.status, path).toBe(200)
    expect(check(path.split('?')[0] ?? path, answer), path).toEqual([])
  }

  test('fee pools are listed by their mints, with reserves as of any block, and mints by either token', async () => {
    const reservesAt = async (at: number | undefined) => {
      const rows = await walk(
        api,
        `/v1/fee-amm/pools?limit=5&include=token${at === undefined ? '' : `&atBlock=${at}`}`,
      )
      const counts = rows.map(({ mintCount }) => mintCount)
      expect(counts).toEqual(counts.toSorted((a, b) => b - a))
      return new Map(rows.map((row) => [row.id, [row.userToken.amount, row.validatorToken.amount]]))
    }
    await get('/v1/fee-amm/pools?include=token')
    const newest = await reservesAt(undefined)
    expect(newest.size).toBeGreaterThan(12)
    expect(await reservesAt(lastBlock)).toEqual(newest)
    // Before the first fee every pool of genesis has what genesis gave it.
    expect(new Set((await reservesAt(0)).values().map(String))).toEqual(
      new Set([`${genesisReserve},${genesisReserve}`]),
    )
    const mints = await walk(api, '/v1/fee-amm/mints?limit=50')
    await get('/v1/fee-amm/mints?include=totalCount')
    const pools = await walk(api, '/v1/fee-amm/pools?limit=200')
    const counted = pools.reduce((total, { mintCount }) => total + mintCount, 0)
    expect([mints.length, mints.length > 10]).toEqual([counted, true])
    const [{ userToken }] = mints
    const own = await walk(api, `/v1/fee-amm/mints?userToken=${userToken.address}`)
    expect(own).toEqual(mints.filter((mint) => mint.userToken.address === userToken.address))
  })
})
