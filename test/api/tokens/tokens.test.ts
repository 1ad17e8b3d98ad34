// Goal: tokens are found by every name they have, listed in every order, and never shown from a
// fold that is behind.
// Method: the recorded chain behind a real server; expectations by viem over the raw recording.
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { CuratedTokens } from '#api/operator/curatedTokens.ts'
import { address } from '#primitives.ts'
import { genesisTokens, readBalances } from '../../store/support/balanceOracle.ts'
import { recordedBatches } from '../../store/support/chainStore.ts'
import { followersOf, recordedCalls } from '../../store/support/followers.ts'
import { type OracleToken, tokensAt } from '../../store/support/tokenOracle.ts'
import { fullTest, onceTest } from '../../support/breadth.ts'
import { type ChainApi, openChainApi, walk } from '../support/chainApi.ts'
import { type ResponseCheck, responseCheck } from '../support/openapi.ts'
import { readClock } from '../support/readClock.ts'

const recording = 'tempo-dev-2k'
const lastBlock = 122
const [pathUsd = '', alphaUsd = '', betaUsd = ''] = genesisTokens
const iso = (seconds: number) => `${new Date(seconds * 1000).toISOString().slice(0, 19)}Z`

/** In an order of its own; an entry of a token that the chain does not have. */
const curated = [betaUsd, `0x${'77'.repeat(20)}`, pathUsd].map((token) => ({
  address: address(token),
  logo: token === pathUsd ? { uri: 'https://example.com/path.svg' } : null,
}))
const curatedTokens: CuratedTokens = {
  changedAtSeconds: 1_780_000_000,
  of: () => curated,
  find: (_chainId, token) => curated.find((entry) => entry.address === token),
}

let api: ChainApi
let check: ResponseCheck
let tokens: ReadonlyMap<string, OracleToken>
/** Creations newest first; tokens of genesis are the oldest. */
let order: string[]

beforeAll(async () => {
  tokens = tokensAt(recording, lastBlock)
  order = [...[...tokens.keys()].toReversed(), ...genesisTokens.toReversed()]
  api = await openChainApi({ services: { curatedTokens } })
  await api.append(recordedBatches(recording, 10))
  await followersOf(api.store, {
    callContracts: recordedCalls(recording, readBalances(recording)),
  }).settle()
  check = await responseCheck(api)
})
afterAll(() => api.close())

const addressesOf = (rows: readonly { address: string }[]) => rows.map((row) => row.address)
const get = async (path: string, template = '/v1/tokens') => {
  const answer = await api.get(path)
  expect(answer.status, JSON.stringify(answer.body)).toBe(200)
  expect(check(template, answer)).toEqual([])
  return answer.body
}

describe('tokens, listed and alone', () => {
  test('they come by creation, newest or oldest first, page after page', async () => {
    expect(addressesOf(await walk(api, '/v1/tokens?limit=5'))).toEqual(order)
    expect(addressesOf(await walk(api, '/v1/tokens?limit=5&order=asc'))).toEqual(order.toReversed())
    expect(addressesOf((await get('/v1/tokens?limit=5&page=2')).data)).toEqual(order.slice(5, 10))
    expect((await get('/v1/tokens?limit=200')).nextCursor).toBeNull()
  })

  test('a token shows what its events say, and the rest on request', async () => {
    for (const [token, expected] of tokens) {
      const { admin, createdAtSeconds, quoteToken, name, symbol, currency } = expected
      const plain = { id: token, address: token, name, symbol, currency, decimals: 6, verified: false }
      expect(await get(`/v1/tokens/${token}`, '/v1/tokens/{token}')).toEqual(plain)
      expect(
        await get(`/v1/tokens/${token}?include=admin,createdAt&include=quoteToken`, '/v1/tokens/{token}'),
      ).toEqual({ ...plain, admin, createdAt: iso(createdAtSeconds), quoteToken })
    }
    expect(
      await get(`/v1/tokens/${pathUsd}?include=admin,createdAt,quoteToken`, '/v1/tokens/{token}'),
    ).toEqual({
      ...{ id: pathUsd, address: pathUsd, name: 'PathUSD', symbol: 'PathUSD', currency: 'USD', decimals: 6 },
      verified: true,
      logoUri: 'https://example.com/path.svg',
    })
  })

  test('`addresses` gives one page in the order asked, without those that do not exist', async () => {
    const [newest = '', second = ''] = order
    const asked = [second, `0x${'12'.repeat(20)}`, pathUsd, newest, second]
    const body = await get(`/v1/tokens?addresses=${asked.join(',').toUpperCase()}`)
    expect(addressesOf(body.data)).toEqual([second, pathUsd, newest])
    expect(body.nextCursor).toBeNull()
    const verified = await get(`/v1/tokens?addresses=${asked.join(',')}&verified=true`)
    expect(addressesOf(verified.data)).toEqual([pathUsd])
    const others = await get(`/v1/tokens?addresses=${asked.join(',')}&verified=false`)
    expect(addressesOf(others.data)).toEqual([second, newest])
  })

  test('an address may be written in any case', async () => {
    const shouted = await api.get(`/v1/tokens/${pathUsd.toUpperCase()}`)
    expect([shouted.status, shouted.body.address]).toEqual([200, pathUsd])
  })
})

describe('filters of tokens', () => {
  test('`verified` lists the operator’s tokens in their order, or all others', async () => {
    expect(addressesOf((await get('/v1/tokens?verified=true')).data)).toEqual([betaUsd, pathUsd])
    expect(addressesOf(await walk(api, '/v1/tokens?verified=false&limit=5'))).toEqual(
      order.filter((token) => token !== pathUsd && token !== betaUsd),
    )
  })

  test('verified tokens come in the operator’s order or from its end, page after page', async () => {
    const asc = '/v1/tokens?verified=true&order=asc'
    expect(addressesOf((await get('/v1/tokens?verified=true&order=desc')).data)).toEqual([betaUsd, pathUsd])
    expect(addressesOf((await get(asc)).data)).toEqual([pathUsd, betaUsd])
    expect(addressesOf((await get(`${asc}&currency=usd`)).data)).toEqual([pathUsd, betaUsd])
  })

  test('`currency` and `verified` are two filters; an absent `verified` means true', async () => {
    const ofCurrency = (currency: string) => [
      ...[...tokens]
        .flatMap(([token, of]) => (of.currency.toUpperCase() === currency ? [token] : []))
        .toReversed(),
      ...(currency === 'USD' ? genesisTokens.toReversed() : []),
    ]
    const isVerified = (token: string) => token === pathUsd || token === betaUsd
    const others = ofCurrency('USD').filter((token) => !isVerified(token))
    expect(others.length).toBeGreaterThan(5)
    expect(addressesOf((await get('/v1/tokens?currency=usd')).data)).toEqual([betaUsd, pathUsd])
    expect(addressesOf((await get('/v1/tokens?currency=usd&verified=true')).data)).toEqual([betaUsd, pathUsd])
    expect(addressesOf(await walk(api, '/v1/tokens?currency=usd&verified=false&limit=5'))).toEqual(others)
    expect(addressesOf(await walk(api, '/v1/tokens?currency=USD&verified=false&order=asc&limit=5'))).toEqual(
      others.toReversed(),
    )
    expect((await get('/v1/tokens?currency=XYZ')).data).toEqual([])
    expect((await get('/v1/tokens?currency=XYZ&verified=false')).data).toEqual([])
    const named = `/v1/tokens?currency=USD&addresses=${pathUsd},${others[0]}`
    expect(addressesOf((await get(named)).data)).toEqual([pathUsd])
    expect(addressesOf((await get(`${named}&verified=false`)).data)).toEqual([others[0]])
  })

  test('a symbol names the verified token that has it, and no other', async () => {
    expect((await get('/v1/tokens/PATHusd', '/v1/tokens/{token}')).address).toBe(pathUsd)
    const unverified = [...tokens]
      .map(([, { symbol }]) => symbol)
      .filter((symbol) => /^[a-z]\w*$/i.test(symbol))
    expect(unverified.length).toBeGreaterThan(5)
    for (const symbol of ['AlphaUSD', ...unverified]) {
      const answer = await api.get(`/v1/tokens/${symbol}`)
      expect([answer.status, answer.body.error?.code], symbol).toEqual([404, 'token_not_found'])
      expect(answer.body.error.message, symbol).toMatch(/only tokens that are not verified/i)
    }
  })

  const bad: [string, number, string, string | undefined][] = [
    ['/v1/tokens?limit=4', 400, 'query_invalid', 'limit'],
    ['/v1/tokens?limit=201', 400, 'query_invalid', 'limit'],
    ['/v1/tokens?limit=ten', 400, 'query_invalid', 'limit'],
    ['/v1/tokens?verified=yes', 400, 'query_invalid', 'verified'],
    ['/v1/tokens?verified=true&verified=true', 400, 'query_invalid', 'verified'],
    ['/v1/tokens?addresses=0x12', 400, 'query_invalid', 'addresses'],
    [`/v1/tokens?addresses=${'0x00,'.repeat(50)}0x00`, 400, 'query_invalid', 'addresses'],
    ['/v1/tokens?currency=', 400, 'query_invalid', 'currency'],
    ['/v1/tokens?include=everything', 400, 'query_invalid', 'include'],
    ['/v1/tokens?symbol=USD', 400, 'query_invalid', 'symbol'],
    ['/v1/tokens?page=0', 400, 'query_invalid', 'page'],
    ['/v1/tokens?page=2000&limit=10', 400, 'query_invalid', 'page'],
    [`/v1/tokens?addresses=${alphaUsd}&page=1`, 400, 'query_invalid', 'page'],
    [`/v1/tokens?addresses=${alphaUsd}&order=desc`, 400, 'query_invalid', 'order'],
    [`/v1/tokens?addresses=${alphaUsd}&limit=10`, 400, 'query_invalid', 'limit'],
    [`/v1/tokens?addresses=${alphaUsd}&cursor=x`, 400, 'query_invalid', 'cursor'],
    ['/v1/tokens?page=1&cursor=x', 422, 'parameter_conflict', 'page'],
    ['/v1/tokens/0x12', 400, 'token_invalid', 'token'],
    ['/v1/tokens/1abc', 400, 'symbol_invalid', 'token'],
    [`/v1/tokens/${'a'.repeat(65)}`, 400, 'symbol_invalid', 'token'],
    [`/v1/tokens/0x${'12'.repeat(20)}`, 404, 'token_not_found', undefined],
    ['/v1/tokens/NoSuchSymbol', 404, 'token_not_found', undefined],
  ]
  test.each(bad)('%s is refused with %i %s', async (path, status, code, parameter) => {
    const { status: found, body } = await api.get(path)
    expect({ status: found, code: body.error.code }).toEqual({ status, code })
    expect(body.requestId).toBeTruthy()
    if (parameter !== undefined) expect(body.error.details[0].path.at(-1)).toBe(parameter)
  })

  test('a cursor of another order or forged starts at the head and says so', async () => {
    const { nextCursor } = await get('/v1/tokens?limit=5')
    for (const cursor of [nextCursor, 'forged']) {
      const answer = await get(`/v1/tokens?limit=5&order=asc&cursor=${cursor}`)
      expect(answer.meta).toEqual({ cursorReset: true })
      expect(addressesOf(answer.data)).toEqual(order.toReversed().slice(0, 5))
    }
  })
})

describe('tokens that are not ready', () => {
  onceTest('are 503 with where the fold stands, and never a part of the truth', async () => {
    const clock = readClock()
    const api = await openChainApi({ services: { curatedTokens, clock } })
    afterAll(() => api.close())
    const batches = recordedBatches(recording, 10)
    await api.append(batches.slice(0, 3))
    const { settle } = followersOf(api.store, {
      callContracts: recordedCalls(recording, readBalances(recording)),
    })
    clock.waits = false
    const before = await api.get('/v1/tokens')
    expect([before.status, before.body.error.code]).toEqual([503, 'projection_incomplete'])
    await settle()
    expect((await api.get('/v1/tokens')).status).toBe(200)
    await api.append(batches.slice(3, 6))
    const behind = await api.get('/v1/tokens?minBlock=59')
    expect(behind.status).toBe(503)
    expect(behind.body.error.message).toContain('29 of 59')
    // A read that waits is answered as soon as the fold has caught up.
    clock.waits = true
    const waiting = api.get('/v1/tokens?minBlock=59')
    await settle()
    expect((await waiting).status).toBe(200)
  })

  onceTest('by some blocks are told as of the block they are of, unless the fold stopped', async () => {
    const clock = readClock()
    const heights = (tip: number) => ({ indexedBlock: tip, finalizedBlock: null, headBlock: tip })
    const freshness = { read: () => heights(api.state.tip), waitForBlock: async () => {} }
    const api = await openChainApi({ services: { curatedTokens, clock }, server: { freshness } })
    onTestFinished(() => api.close())
    const batches = recordedBatches(recording, 10)
    await api.append(batches.slice(0, 3))
    const callContracts = recordedCalls(recording, readBalances(recording))
    const { settle } = followersOf(api.store, { callContracts })
    await settle()
    const at = async (path: string) => {
      const { status, headers, body } = await api.get(path)
      const blocks = ['svc-indexed-block', 'svc-lag-blocks'].map((name) => headers.get(name))
      return { status, blocks, ids: body.data?.map(({ id }: { id: string }) => id), token: body.id }
    }
    const [newest] = (await api.get('/v1/tokens')).body.data
    const [path, one] = ['/v1/tokens?include=holderCount', `/v1/tokens/${newest.address}`]
    const before = await at(path)
    expect(before).toMatchObject({ status: 200, blocks: ['29', '0'] })

    await api.append(batches.slice(3, 6))
    clock.waits = false
    expect(await at('/v1/blocks')).toMatchObject({ status: 200, blocks: ['59', '0'] })
    expect(await at(path)).toEqual({ ...before, blocks: ['29', '30'] })
    expect(await at(one)).toMatchObject({ status: 200, blocks: ['29', '30'] })
    expect((await api.get(`/v1/addresses/${newest.address}/balances`)).headers.get('svc-indexed-block')).toBe(
      '29',
    )
    for (const behind of [`${path}&minBlock=30`, `${one}?atBlock=30`])
      expect((await api.get(behind)).status, behind).toBeGreaterThanOrEqual(409)
    api.state.stopped.add('tokens')
    expect((await api.get(path)).body.error.code).toBe('projection_incomplete')
    api.state.stopped.clear()

    clock.waits = true
    await settle()
    expect(await at(path)).toMatchObject({ status: 200, blocks: ['59', '0'] })
    expect(api.state.late).toEqual(new Set())
  })

  fullTest('a reverted token is gone at once, not when the fold has noticed', async () => {
    const clock = readClock()
    const api = await openChainApi({ services: { curatedTokens, clock } })
    onTestFinished(() => api.close())
    await api.append(recordedBatches(recording, 10))
    clock.waits = false
    const { settle } = followersOf(api.store, {
      callContracts: recordedCalls(recording, readBalances(recording)),
    })
    await settle()
    const [newest = ''] = [...tokensAt(recording, lastBlock)].toReversed()[0] ?? []
    const { createdBlock = 0 } = tokensAt(recording, lastBlock).get(newest) ?? {}
    await api.revertTo(createdBlock - 1)
    const stale = await api.get(`/v1/tokens/${newest}`)
    expect(stale.status).toBe(503)
    await settle()
    expect((await api.get(`/v1/tokens/${newest}`)).status).toBe(404)
  })
})
