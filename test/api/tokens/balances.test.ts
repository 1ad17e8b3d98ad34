// Goal: balances and holders are what genesis and the transfers make them, now and as of any block,
// page after page while the chain grows or changes its mind.
// Method: the recorded chain behind a real server; expectations summed from the raw recording.

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { CuratedTokens } from '#api/operator/curatedTokens.ts'
import { tokenNamesOf } from '#api/routes/tokens/tokens.ts'
import type { NodeReader } from '#api/services.ts'
import { address } from '#primitives.ts'
import { type BalanceOracle, genesisTokens, readBalances } from '../../store/support/balanceOracle.ts'
import { recordedRuns } from '../../store/support/chainStore.ts'
import { followersOf, recordedCalls, totalSupply } from '../../store/support/followers.ts'
import { tokensAt } from '../../store/support/tokenOracle.ts'
import { fullTest, onceDescribe, onceTest, share } from '../../support/breadth.ts'
import { type ChainApi, openChainApi, walk } from '../support/chainApi.ts'
import { type ResponseCheck, responseCheck } from '../support/openapi.ts'
import { readClock } from '../support/readClock.ts'
import { silentNode } from '../support/silentNode.ts'
import { balanceRows, balancesOf, holderRows, holdersOf, isTip20 } from './support/balanceRows.ts'

const recording = 'tempo-dev-2k'
const lastBlock = 122
const run = recordedRuns(recording)
const [pathUsd = '', alphaUsd = '', betaUsd = ''] = genesisTokens
/** Blocks of every kind: genesis, long ago, within the changes kept, the newest. */
const blocks = [0, 1, 24, 61, 90, 113, 121, 122]
const balancesTemplate = '/v1/addresses/{address}/balances'
const holdersTemplate = '/v1/tokens/{token}/holders'
const iso = (seconds: number | null) => seconds && `${new Date(seconds * 1000).toISOString().slice(0, 19)}Z`

/** A chain with the operator's list, and what follows it. */
async function openBalances(tokens: readonly string[] = [betaUsd, pathUsd, alphaUsd], node?: NodeReader) {
  const list = tokens.map((token) => ({ address: address(token), logo: null }))
  const curatedTokens: CuratedTokens = {
    changedAtSeconds: 0,
    of: () => list,
    find: (_chainId, token) => list.find((entry) => entry.address === token),
  }
  const clock = readClock()
  const api = await openChainApi({ services: { curatedTokens, clock }, ...(node && { node }) })
  afterAll(() => api.close())
  Object.assign(api.services, { tokenNames: tokenNamesOf(api.services.chains, curatedTokens) })
  return { api, clock, check: await responseCheck(api) }
}

let api: ChainApi
let check: ResponseCheck
let oracle: BalanceOracle
let everyone: string[]
let tokens: string[]

const settle = (of: ChainApi) =>
  followersOf(of.store, {
    callContracts: recordedCalls(recording, oracle),
    hotBlocks: 30,
    checkpointBlocks: 16,
  }).settle()

beforeAll(async () => {
  oracle = readBalances(recording)
  ;({ api, check } = await openBalances())
  await api.append(run(0, lastBlock))
  await api.finalize(lastBlock - 3)
  await settle(api)
  tokens = [...oracle.at(lastBlock).keys()]
  everyone = [
    ...new Set(tokens.flatMap((token) => [...(oracle.at(lastBlock).get(token)?.holders.keys() ?? [])])),
  ]
})

const get = async (path: string, template: string) => {
  const answer = await api.get(path)
  expect(answer.status, JSON.stringify(answer.body)).toBe(200)
  expect(check(template, answer)).toEqual([])
  return answer.body
}

describe('balances and holders, row for row', () => {
  onceTest('holders of every token, row for row', async () => {
    for (const token of tokens) {
      const expected = holdersOf(oracle, token, lastBlock)
      expect(holderRows(await walk(api, `/v1/tokens/${token}/holders?limit=50`)), token).toEqual(expected)
    }
    const expected = holdersOf(oracle, pathUsd, lastBlock)
    expect(expected.length).toBeGreaterThan(100)
    expect(holderRows(await walk(api, `/v1/tokens/${pathUsd}/holders?limit=5`))).toEqual(expected)
    const second = await get(
      `/v1/tokens/${pathUsd}/holders?limit=5&page=3&include=totalCount,token`,
      holdersTemplate,
    )
    expect(holderRows(second.data)).toEqual(expected.slice(10, 15))
    expect(second.data[0].id).toBe(second.data[0].address)
    expect(second.nextCursor).not.toBeNull()
    expect(second.meta).toMatchObject({
      totalCount: expected.length,
      totalCountCapped: false,
      token: { address: pathUsd, symbol: 'PathUSD', verified: true, decimals: 6 },
    })
  })

  onceTest('balances of every account, row for row', async () => {
    expect(everyone.length).toBeGreaterThan(150)
    for (const holder of everyone)
      expect(balanceRows(await walk(api, `/v1/addresses/${holder}/balances?limit=200`)), holder).toEqual(
        balancesOf(oracle, holder, lastBlock),
      )
    const rich = everyone.toSorted(
      (a, b) => balancesOf(oracle, b, lastBlock).length - balancesOf(oracle, a, lastBlock).length,
    )[0]
    const expected = balancesOf(oracle, rich ?? '', lastBlock)
    expect(expected.length).toBeGreaterThan(5)
    expect(balanceRows(await walk(api, `/v1/addresses/${rich}/balances?limit=5`))).toEqual(expected)
    const { meta } = await get(`/v1/addresses/${rich}/balances?include=totalCount`, balancesTemplate)
    expect(meta).toEqual({ totalCount: expected.length, totalCountCapped: false })
  })

  test.each(share(blocks, 3))('holders and balances as of block %i', async (block) => {
    for (const token of tokens) {
      const path = `/v1/tokens/${token}/holders?limit=40&atBlock=${block}`
      const expected = holdersOf(oracle, token, block)
      expect(holderRows(await walk(api, path)), token).toEqual(expected)
      const { meta } = await get(`${path}&include=totalCount`, holdersTemplate)
      expect(meta.totalCount, token).toBe(expected.length)
    }
    for (const holder of everyone.filter((_, index) => index % 7 === 0)) {
      const path = `/v1/addresses/${holder}/balances?limit=5&atBlock=${block}`
      const expected = balancesOf(oracle, holder, block)
      expect(balanceRows(await walk(api, path)), holder).toEqual(expected)
      const { meta } = await get(`${path}&include=totalCount`, balancesTemplate)
      expect(meta.totalCount, holder).toBe(expected.length)
    }
  })

  test.each(share(blocks, 3))('supply, holders and transfers of tokens as of block %i', async (block) => {
    const created = tokensAt(recording, block)
    for (const token of tokens.filter(isTip20)) {
      const path = `/v1/tokens/${token}?atBlock=${block}&include=totalSupply,holderCount,transferStats,admin,quoteToken`
      const answer = await api.get(path)
      if (!created.has(token) && !genesisTokens.includes(token)) {
        expect(answer.status, token).toBe(404)
        continue
      }
      expect(check('/v1/tokens/{token}', answer)).toEqual([])
      const facts = oracle.at(block).get(token)
      const { admin, quoteToken } = created.get(token) ?? {}
      if (admin) expect(answer.body, token).toMatchObject({ admin, quoteToken })
      expect(answer.body, token).toMatchObject({
        totalSupply: `${facts?.supply ?? 0n}`,
        holderCount: facts ? holdersOf(oracle, token, block).length : 0,
        transferStats: {
          count: facts?.transferCount ?? 0,
          firstAt: iso(facts?.firstAtSeconds ?? null),
          lastAt: iso(facts?.lastAtSeconds ?? null),
        },
      })
    }
  })

  test('the list of tokens has the same totals', async () => {
    const rows = await walk(api, '/v1/tokens?limit=50&include=totalSupply,holderCount,transferStats')
    expect(rows.length).toBeGreaterThan(15)
    for (const row of rows) {
      const facts = oracle.at(lastBlock).get(row.address)
      expect(row).toMatchObject({
        totalSupply: `${facts?.supply ?? 0n}`,
        holderCount: facts ? holdersOf(oracle, row.address, lastBlock).length : 0,
        transferStats: { count: facts?.transferCount ?? 0 },
      })
    }
    const { data } = await get('/v1/tokens', '/v1/tokens')
    expect(Object.keys(data[0])).not.toContain('totalSupply')
  })

  test('a balance says what the token is and whether fees can be paid in it', async () => {
    const [holder = ''] = everyone.filter((account) => balancesOf(oracle, account, lastBlock).length > 5)
    const { data } = await get(`/v1/addresses/${holder}/balances?limit=200`, balancesTemplate)
    const one = data.find((row: { readonly id: string }) => row.id === alphaUsd)
    const amount = oracle.at(lastBlock).get(alphaUsd)?.holders.get(holder) ?? 0n
    const [whole, part = ''] = [
      `${amount / 1_000_000n}`,
      `${amount % 1_000_000n}`.padStart(6, '0').replace(/0+$/, ''),
    ]
    expect(one).toEqual({
      id: alphaUsd,
      amount: `${amount}`,
      formatted: part === '' ? whole : `${whole}.${part}`,
      feeEligible: true,
      token: {
        ...{ id: alphaUsd, address: alphaUsd, name: 'AlphaUSD', symbol: 'AlphaUSD', currency: 'USD' },
        ...{ decimals: 6, verified: true },
      },
    })
    for (const row of data) expect(row.feeEligible).toBe([pathUsd, alphaUsd, betaUsd].includes(row.id))
  })
})

const created = tokensAt(recording, lastBlock)

describe('filters of balances', () => {
  const curated = [betaUsd, pathUsd, alphaUsd]
  const currencyOf = (token: string) => created.get(token)?.currency ?? 'USD'
  const filters: [string, (token: string) => boolean][] = [
    ['verified=true', (token) => curated.includes(token)],
    ['verified=false', (token) => !curated.includes(token)],
    ['currency=usd', (token) => curated.includes(token)],
    ['currency=EUR', () => false],
    [
      'currency=usd&verified=false',
      (token) => !curated.includes(token) && currencyOf(token).toUpperCase() === 'USD',
    ],
    ['currency=EUR&verified=false', (token) => currencyOf(token).toUpperCase() === 'EUR'],
    [
      'currency=usd&verified=false&feeEligible=false',
      (token) => !curated.includes(token) && currencyOf(token).toUpperCase() === 'USD',
    ],
    ['feeEligible=true', (token) => curated.includes(token)],
    ['feeEligible=false', (token) => !curated.includes(token)],
    ['feeEligible=false&verified=true', () => false],
    ['feeEligible=true&currency=usd', (token) => curated.includes(token)],
  ]
  // Each filter at other accounts: all of them are asked about, and each filter at many.
  const accountsOf = (filter: string) => {
    const rich = everyone.filter((account) => balancesOf(oracle, account, lastBlock).length > 5)
    const nth = filters.findIndex(([other]) => other === filter)
    return rich.filter((_, index) => index % 4 === nth % 4)
  }
  test.each(share(filters, 4))('balances filtered by %s', async (filter, matches) => {
    expect(accountsOf(filter).length).toBeGreaterThan(3)
    for (const holder of accountsOf(filter))
      for (const block of [lastBlock, 113, 61]) {
        const path = `/v1/addresses/${holder}/balances?limit=5&${filter}&atBlock=${block}`
        const expected = balancesOf(oracle, holder, block).filter(([token]) => matches(token))
        expect(balanceRows(await walk(api, path)), holder).toEqual(expected)
        const { meta } = await get(`${path}&include=totalCount`, balancesTemplate)
        expect(meta.totalCount).toBe(expected.length)
      }
  })

  const refused: [string, number, string, string | undefined][] = [
    [`/v1/addresses/${pathUsd}/balances?limit=4`, 400, 'query_invalid', 'limit'],
    [`/v1/addresses/${pathUsd}/balances?order=asc`, 400, 'query_invalid', 'order'],
    [`/v1/addresses/${pathUsd}/balances?verified=1`, 400, 'query_invalid', 'verified'],
    [`/v1/addresses/${pathUsd}/balances?feeEligible=yes`, 400, 'query_invalid', 'feeEligible'],
    [`/v1/addresses/${pathUsd}/balances?currency=a&currency=b`, 400, 'query_invalid', 'currency'],
    [`/v1/addresses/${pathUsd}/balances?atBlock=-1`, 400, 'query_invalid', 'atBlock'],
    [`/v1/addresses/${pathUsd}/balances?atBlock=latest`, 400, 'query_invalid', 'atBlock'],
    [`/v1/addresses/${pathUsd}/balances?token=${pathUsd}`, 400, 'query_invalid', 'token'],
    [`/v1/addresses/${pathUsd}/balances?page=1&cursor=x`, 422, 'parameter_conflict', 'page'],
    [`/v1/addresses/${pathUsd}/balances?page=51&limit=200`, 400, 'query_invalid', 'page'],
    ['/v1/addresses/0x12/balances', 400, 'address_invalid', 'address'],
    ['/v1/tokens/pathUSD/holders', 400, 'token_invalid', 'token'],
    [`/v1/tokens/${pathUsd}/holders?limit=201`, 400, 'query_invalid', 'limit'],
    [`/v1/tokens/${pathUsd}/holders?include=admin`, 400, 'query_invalid', 'include'],
    [`/v1/tokens/${pathUsd}/holders?order=desc`, 400, 'query_invalid', 'order'],
    [`/v1/tokens/${pathUsd}/holders?atBlock=1&atBlock=2`, 400, 'query_invalid', 'atBlock'],
    [`/v1/tokens/${pathUsd}/holders?atBlock=123`, 409, 'block_not_reached', undefined],
    [`/v1/addresses/${pathUsd}/balances?atBlock=123`, 409, 'block_not_reached', undefined],
    [`/v1/tokens/${pathUsd}?atBlock=123`, 409, 'block_not_reached', undefined],
    [`/v1/tokens/${pathUsd}?atBlock=x`, 400, 'query_invalid', 'atBlock'],
  ]
  test.each(refused)('%s is refused with %i %s', async (path, status, code, parameter) => {
    const { status: found, body } = await api.get(path)
    expect({ status: found, code: body.error.code }).toEqual({ status, code })
    if (parameter !== undefined) expect(body.error.details[0].path.at(-1)).toBe(parameter)
  })
})

describe('walks over balances while the chain moves', () => {
  fullTest('a walk shows the block of its first page, however the chain grows', async () => {
    const growing = await openBalances()
    await growing.api.append(run(0, 60))
    await settle(growing.api)
    let next = 61
    const grow = async () => {
      await growing.api.append(run(next, next + 3))
      await growing.api.finalize(next - 2)
      next += 4
      await settle(growing.api)
    }
    const holders = await walk(growing.api, `/v1/tokens/${pathUsd}/holders?limit=15`, grow)
    expect(next).toBeGreaterThan(80)
    expect(holderRows(holders)).toEqual(holdersOf(oracle, pathUsd, 60))
  })

  onceTest('a walk whose block was taken back says so and goes on at the newest block left', async () => {
    const other = await openBalances()
    await other.api.append(run(0, lastBlock))
    await other.api.finalize(100)
    await settle(other.api)
    const path = `/v1/tokens/${pathUsd}/holders?limit=20`
    const first = await other.api.get(path)
    await other.api.revertTo(110)
    await settle(other.api)
    await other.api.append(run(111, 115))
    await settle(other.api)
    const second = await other.api.get(`${path}&cursor=${first.body.nextCursor}`)
    expect(second.headers.get('svc-reorged-from')).toBe('111')
    const left = holdersOf(oracle, pathUsd, 110)
    const [lastAddress, lastBalance] = holderRows(first.body.data).at(-1) ?? ['', 0n]
    const following = left.filter(([account, balance]) =>
      balance === lastBalance ? account > lastAddress : balance < lastBalance,
    )
    expect(holderRows(second.body.data)).toEqual(following.slice(0, 20))
    const third = await other.api.get(`${path}&cursor=${second.body.nextCursor}`)
    expect(third.headers.get('svc-reorged-from')).toBeNull()
    expect(holderRows(third.body.data)).toEqual(following.slice(20, 40))
    // Blocks that went and came back change nothing for a walk that began with them.
    const got = holderRows(await walk(other.api, `/v1/tokens/${pathUsd}/holders?limit=50`))
    expect(got).toEqual(holdersOf(oracle, pathUsd, 115))
  })
})

onceDescribe('balances that are not known', () => {
  test('while balances are not ready, those of tokens that a filter names are the node’s', async () => {
    const told = new Map([
      [alphaUsd, 7n],
      [betaUsd, 9n],
      [pathUsd, 0n],
    ])
    const { api: other, clock } = await openBalances([betaUsd, pathUsd, alphaUsd], {
      ...silentNode,
      balances: async (_holder, asked) => asked.map((token) => told.get(token) ?? null),
    })
    await other.append(run(0, 29))
    clock.waits = false
    const path = `/v1/addresses/${everyone[0]}/balances`
    const named = await other.get(`${path}?verified=true&include=totalCount`)
    expect([named.status, named.headers.get('svc-source')]).toEqual([200, 'node'])
    expect(balanceRows(named.body.data)).toEqual([
      [betaUsd, 9n],
      [alphaUsd, 7n],
    ])
    expect([named.body.nextCursor, named.body.meta.totalCount]).toEqual([null, 2])
    // A list that a node cannot tell whole is not told in part.
    told.delete(pathUsd)
    for (const query of ['verified=true', '']) expect((await other.get(`${path}?${query}`)).status).toBe(503)
    await settle(other)
    const ours = await other.get(`${path}?verified=true`)
    expect(ours.headers.get('svc-source')).toBeNull()
    expect(balanceRows(ours.body.data)).toEqual(
      balancesOf(oracle, everyone[0] ?? '', 29).filter(([token]) => told.has(token) || token === pathUsd),
    )
  })

  test('balances that genesis leaves unknown are not told', async () => {
    const other = await openBalances()
    await other.api.append(run(0, 29))
    const honest = recordedCalls(recording, oracle)
    other.clock.waits = false
    const before = await other.api.get(`/v1/tokens/${pathUsd}/holders`)
    expect([before.status, before.body.error.code]).toEqual([503, 'projection_incomplete'])
    await followersOf(other.api.store, {
      callContracts: async (calls, at, signal) =>
        (await honest(calls, at, signal)).map((answer, index) =>
          calls[index]?.to === betaUsd && calls[index]?.data === totalSupply && answer
            ? (`0x${(BigInt(answer) + 1_000n).toString(16).padStart(64, '0')}` as const)
            : answer,
        ),
    }).settle()
    const unknown = await other.api.get(`/v1/tokens/${betaUsd}/holders`)
    expect([unknown.status, unknown.body.error.code]).toEqual([409, 'coverage_incomplete'])
    const stranger = await other.api.get(`/v1/addresses/0x${'12'.repeat(20)}/balances`)
    expect([stranger.status, stranger.body.error.code]).toEqual([409, 'coverage_incomplete'])
    expect((await other.api.get(`/v1/tokens/${pathUsd}/holders`)).status).toBe(200)
    const known = [...(oracle.at(0).get(betaUsd)?.holders.keys() ?? [])][0] ?? ''
    expect(balanceRows(await walk(other.api, `/v1/addresses/${known}/balances`))).toEqual(
      balancesOf(oracle, known, 29),
    )
    const token = await other.api.get(`/v1/tokens/${betaUsd}?include=holderCount,totalSupply`)
    expect(token.body).not.toHaveProperty('holderCount')
    expect(BigInt(token.body.totalSupply)).toBe((oracle.at(29).get(betaUsd)?.supply ?? 0n) + 1_000n)
  })
})
