// Goal: fee pools and mints are listed as the fold has them, newest and as of any block; a pool that
// the node contradicts is the node's, and one of genesis that no node tells has no amounts.
// Method: the recorded chain behind a real server; the fold itself is compared with raw logs in
// store/follow/feePools.full.test.ts.

import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { endpoints } from '#api/routes/index.ts'
import type { NodeReader } from '#api/services.ts'
import type { CallContracts } from '#ingest/rpc/contractCalls.ts'
import { readRecording } from '../../chain/recordings.ts'
import { readBalances } from '../../store/support/balanceOracle.ts'
import { recordedBatches } from '../../store/support/chainStore.ts'
import { followersOf, genesisReserve, recordedCalls } from '../../store/support/followers.ts'
import { ask, type ChainApi, openChainApi, walk } from '../support/chainApi.ts'
import { type ResponseCheck, responseCheck } from '../support/openapi.ts'
import { readClock } from '../support/readClock.ts'
import { silentNode } from '../support/silentNode.ts'
import { ManualClock, startServer } from '../support/toolkitServer.ts'

const recording = 'tempo-dev-2k'
const lastBlock = 122

describe('fee pools of the API', () => {
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

  test('lists pinned to a block stand still with the chain, and their cursors go on after hours', async () => {
    const clock = new ManualClock()
    const { app, origin } = await startServer(endpoints, api.services, { chains: [api.chainId], clock })
    onTestFinished(() => app.close())
    for (const path of ['/v1/exchange/orders?limit=5', '/v1/fee-amm/pools?limit=5']) {
      const first = await ask(origin + path)
      await clock.advance(7_200_000, 7_200_000)
      const later = await ask(origin + path)
      expect(later.headers.get('etag'), path).toBe(first.headers.get('etag'))
      const next = await ask(`${origin}${path}&cursor=${first.body.nextCursor}`)
      expect(next.body.meta, path).toBeUndefined()
      expect(next.body.data[0].id, path).not.toBe(first.body.data[0].id)
    }
  })

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

  const feeManager: string = '0xfeec000000000000000000000000000000000000'
  const honest = recordedCalls(recording, readBalances(recording))
  /** The first blocks, and a node whose fee manager answers as it is told to. */
  async function openWith(feeManagerSays: CallContracts, node?: NodeReader): Promise<ChainApi> {
    const opened = await openChainApi({ services: { clock: readClock() }, ...(node && { node }) })
    onTestFinished(() => opened.close())
    await opened.append(recordedBatches(recording, 10).slice(0, 1))
    const callContracts: CallContracts = (calls, at, signal) =>
      (calls[0]?.to === feeManager ? feeManagerSays : honest)(calls, at, signal)
    await followersOf(opened.store, { callContracts }).settle()
    return opened
  }
  const amountsOf = ({ userToken, validatorToken }: Record<string, Record<string, unknown>>) => [
    ...[userToken?.['amount'], validatorToken?.['amount']],
    ...[userToken?.['formatted'], validatorToken?.['formatted']],
  ]

  test('a pool that differs from the node is mended by it; what the audit finds otherwise is the node’s, which is said', async () => {
    const asked: (readonly unknown[])[] = []
    const node: NodeReader = {
      ...silentNode,
      ask: async (questions) => {
        asked.push(...questions.map(({ args = [] }) => args))
        return questions.map(() => ({ reserveUserToken: 1_500_000n, reserveValidatorToken: 2n }))
      },
    }
    const opened = await openWith(async (calls, at, signal) => {
      const answers = await honest(calls, at, signal)
      const [first, ...others] = answers
      // The recorded node tells nothing of the newest block; here, for one pool, something else.
      return first === null ? [`0x${'00'.repeat(31)}01${'00'.repeat(31)}01`, ...others] : answers
    }, node)
    const path = '/v1/fee-amm/pools?limit=200'
    const mended = await opened.get(path)
    expect([mended.status, mended.headers.get('svc-source'), asked]).toEqual([200, null, []])
    expect(mended.body.data.map(amountsOf)).toContainEqual(['1', '1', '0.000001', '0.000001'])
    const { postgres, schema } = opened.store
    await postgres.pool.query(`UPDATE ${schema}.fee_pool_checks SET mended = false WHERE differs`)
    const now = await opened.get(path)
    expect([now.status, now.headers.get('svc-source')]).toEqual([200, 'node'])
    const differing = now.body.data.filter(
      (row: Parameters<typeof amountsOf>[0]) => amountsOf(row)[1] === '2',
    )
    expect(differing.map(amountsOf)).toEqual([['1500000', '2', '1.5', '0.000002']])
    const [{ id, userToken, validatorToken }] = differing
    expect(asked).toEqual([[userToken.address, validatorToken.address]])
    const others = now.body.data.filter((row: { id: string }) => row.id !== id)
    const past = await opened.get(`${path}&atBlock=9`)
    expect([past.status, past.headers.get('svc-source')]).toEqual([200, null])
    const then = past.body.data.find((row: { id: string }) => row.id === id)
    expect(amountsOf(then)).toEqual([undefined, undefined, undefined, undefined])
    expect(past.body.data.filter((row: { id: string }) => row.id !== id)).toEqual(others)
    expect(check('/v1/fee-amm/pools', now)).toEqual([])
    expect(check('/v1/fee-amm/pools', past)).toEqual([])
  })

  test('pools of genesis of which no node tells are listed without amounts, from block 0 on', async () => {
    const silent = await openWith(async (calls) => calls.map(() => null))
    const { status, body } = await silent.get('/v1/fee-amm/pools?limit=200&atBlock=0')
    expect([status, body.data.length]).toEqual([200, 12])
    const genesis = new Date(Number(Object(readRecording(recording)[0]?.block).timestamp) * 1000)
    const genesisTime = genesis.toISOString().replace('.000', '')
    for (const row of body.data) {
      expect(amountsOf(row)).toEqual([undefined, undefined, undefined, undefined])
      expect(row).toMatchObject({ mintCount: 0, createdAt: genesisTime, lastMintAt: genesisTime })
    }
  })
})
