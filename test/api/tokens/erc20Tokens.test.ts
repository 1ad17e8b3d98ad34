// Goal: on a chain without a token factory every contract that moves something is a token with the
// name it gives itself, however odd, and balances count in its own decimals.
// Method: the recorded chain indexed as a plain EVM chain; expectations from the recorded node's
// answers, decoded by viem.
import { formatUnits, toFunctionSelector } from 'viem'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { CuratedTokens } from '#api/operator/curatedTokens.ts'
import { tokenNamesOf } from '#api/routes/tokens/tokens.ts'
import type { CallContracts } from '#ingest/rpc/contractCalls.ts'
import { address } from '#primitives.ts'
import { readRecording } from '../../chain/recordings.ts'
import { type BalanceOracle, readBalances } from '../../store/support/balanceOracle.ts'
import { recordedBatches } from '../../store/support/chainStore.ts'
import { followersOf, recordedCalls } from '../../store/support/followers.ts'
import { fullTest, onceDescribe, onceTest } from '../../support/breadth.ts'
import { type ChainApi, openChainApi, walk } from '../support/chainApi.ts'
import { type ResponseCheck, responseCheck } from '../support/openapi.ts'
import { nameless, oldCoin, recordedNames } from './support/recordedNames.ts'

const recording = 'tempo-dev-2k'
const lastBlock = 122
const { metadataOf, decimalsShown } = recordedNames(recording)
const nameSelector = toFunctionSelector('name()')
const isOther = (token: string) => !token.startsWith('0x20c000000000000000000000')
interface RecordedReceipt {
  readonly contractAddress: string | null
  readonly status: string
}

/** An operator's list of one token. */
function listing(token: string): CuratedTokens {
  const entry = { address: address(token), logo: null }
  return {
    changedAtSeconds: 0,
    of: () => [entry],
    find: (_chainId, asked) => (asked === token ? entry : undefined),
  }
}

let api: ChainApi
let check: ResponseCheck
let oracle: BalanceOracle
/** By their first transfer. */
let tokens: string[]

const node: CallContracts = async (calls, at, signal) => {
  const told = await recordedCalls(recording, oracle)(calls, at, signal)
  return told.map((answer, index) => (calls[index]?.to === nameless ? null : answer))
}

beforeAll(async () => {
  oracle = readBalances(recording)
  api = await openChainApi({ kind: 'evm', services: { curatedTokens: listing(oldCoin) } })
  const { chains, curatedTokens } = api.services
  Object.assign(api.services, { tokenNames: tokenNamesOf(chains, curatedTokens) })
  await api.append(recordedBatches(recording, 10))
  await followersOf(api.store, { kind: 'evm', callContracts: node }).settle()
  check = await responseCheck(api)
  tokens = [...oracle.at(lastBlock).keys()].filter(isOther)
})
afterAll(() => api.close())

const get = async (path: string, template: string) => {
  const answer = await api.get(path)
  expect(answer.status, JSON.stringify(answer.body)).toBe(200)
  expect(check(template, answer)).toEqual([])
  return answer.body
}

describe('ERC-20 tokens', () => {
  test('are listed by their first transfer, those that have a name', async () => {
    const named = tokens.filter(
      (token) => metadataOf(token).name !== null && metadataOf(token).symbol !== null,
    )
    expect(named.length).toBeGreaterThan(3)
    expect(named.length).toBeLessThan(tokens.length)
    const addresses = (rows: readonly { address: string }[]) =>
      rows.map(({ address }) => address).filter(isOther)
    expect(addresses(await walk(api, '/v1/tokens?limit=5&order=asc'))).toEqual(named)
    expect(addresses(await walk(api, '/v1/tokens?limit=5'))).toEqual(named.toReversed())
  })

  test('say their own names, decimals and totals', async () => {
    for (const token of tokens) {
      const { name, symbol } = metadataOf(token)
      const path = `/v1/tokens/${token}?include=totalSupply,holderCount,transferStats,admin,quoteToken`
      if (name === null || symbol === null) {
        expect((await api.get(path)).status, token).toBe(404)
        continue
      }
      const facts = oracle.at(lastBlock).get(token)
      const body = await get(path, '/v1/tokens/{token}')
      expect(body).toMatchObject({
        address: token,
        name: name.replaceAll('\0', ''),
        symbol: symbol.replaceAll('\0', ''),
        decimals: decimalsShown(token),
        currency: '',
        verified: token === oldCoin,
        transferStats: { count: facts?.transferCount },
        holderCount: [...(facts?.holders.values() ?? [])].filter((balance) => balance > 0n).length,
      })
      if (facts && facts.supply >= 0n) expect(body.totalSupply).toBe(`${facts.supply}`)
    }
  })

  test('say when a transaction created them, and nothing where a contract did', async () => {
    const createdAt = new Map(
      readRecording(recording).flatMap(({ block, receipts }) => {
        const { timestamp } = block as { readonly timestamp: string }
        const at = new Date(Number(timestamp) * 1000).toISOString().replace('.000', '')
        return (receipts as readonly RecordedReceipt[]).flatMap(
          ({ contractAddress, status }): [string, string][] =>
            contractAddress && status === '0x1' ? [[contractAddress, at]] : [],
        )
      }),
    )
    const rows = await walk(api, '/v1/tokens?limit=50&include=createdAt')
    const told = rows.filter((row) => row.createdAt !== undefined)
    expect(told.length).toBeGreaterThan(3)
    for (const row of rows) expect(row.createdAt, row.address).toBe(createdAt.get(row.address))
    const [{ address, createdAt: at }] = told
    const one = await get(`/v1/tokens/${address}?include=createdAt`, '/v1/tokens/{token}')
    expect(one.createdAt).toBe(at)
    const past = await get(
      `/v1/tokens/${address}?include=createdAt&atBlock=${lastBlock}`,
      '/v1/tokens/{token}',
    )
    expect(past.createdAt).toBe(at)
  })
})

describe('ERC-20 tokens, by what nodes and operators say of them,', () => {
  onceTest('balances count in their decimals', async () => {
    const holders = new Set(
      tokens.flatMap((token) => [...(oracle.at(lastBlock).get(token)?.holders.keys() ?? [])]),
    )
    const seen = new Set<number | null>()
    for (const holder of holders)
      for (const atBlock of [lastBlock, 70]) {
        const rows = await walk(api, `/v1/addresses/${holder}/balances?limit=50&atBlock=${atBlock}`)
        const expected = tokens.flatMap((token) => {
          const amount = oracle.at(atBlock).get(token)?.holders.get(holder) ?? 0n
          const decimals = decimalsShown(token)
          const formatted = decimals === null ? null : formatUnits(amount, decimals)
          return amount > 0n ? [[token, `${amount}`, formatted]] : []
        })
        expect(rows.map(({ id, amount, formatted }) => [id, amount, formatted]).sort()).toEqual(
          expected.sort(),
        )
        for (const row of rows) {
          seen.add(row.token.decimals)
          expect(row.token.decimals).toBe(decimalsShown(row.id))
          expect(row).not.toHaveProperty('feeEligible')
        }
      }
    expect(seen.size).toBeGreaterThan(3)
    expect(seen).toContain(null)
    const [holder = ''] = holders
    expect(await walk(api, `/v1/addresses/${holder}/balances?feeEligible=true`)).toEqual([])
    expect((await walk(api, `/v1/addresses/${holder}/balances?feeEligible=false`)).length).toBeGreaterThan(0)
    await get(`/v1/addresses/${holder}/balances?include=totalCount`, '/v1/addresses/{address}/balances')
  })

  test('decimals that nobody knows are null in every answer', async () => {
    for (const token of [oldCoin, nameless]) {
      const [moved] = (await get(`/v1/transfers?token=${token}&include=token`, '/v1/transfers')).data
      expect(moved.sourceToken).toMatchObject({ address: token, decimals: null })
      const path = `/v1/transactions/${moved.transactionHash}/activities`
      const { data: activities } = await get(path, '/v1/transactions/{transactionHash}/activities')
      const told = activities.flatMap(({ data }: { data: object }) => Object.values(data))
      const ofToken = told.filter((value: unknown) => Object(value).address === token)
      expect(ofToken.length).toBeGreaterThan(0)
      for (const amount of ofToken) expect(amount).toMatchObject({ decimals: null })
    }
    const { asset } = await get(`/feed/${api.chainId}/assets/${oldCoin}`, '/feed/{chainId}/assets/{address}')
    expect(asset).toMatchObject({ symbol: 'OLD', decimals: null, totalSupply: null })
    const { meta } = await get(`/v1/tokens/${oldCoin}/holders?include=token`, '/v1/tokens/{token}/holders')
    expect(meta.token).toMatchObject({ symbol: 'OLD', decimals: null })
    expect((await get('/v1/tokenlist', '/v1/tokenlist')).tokens).toEqual([])
  })

  test('are found by symbol, in any case, where the operator lists them', async () => {
    const bySymbol = Map.groupBy(tokens, (token) => metadataOf(token).symbol?.toLowerCase() ?? '')
    const shown = [...bySymbol].filter(
      ([symbol, [token = '']]) => /^[a-z][a-z0-9._]{0,63}$/.test(symbol) && metadataOf(token).name !== null,
    )
    expect(shown.length).toBeGreaterThan(1)
    expect(bySymbol.get('old')).toEqual([oldCoin])
    for (const [symbol] of shown) {
      const answer = await api.get(`/v1/tokens/${symbol.toUpperCase()}`)
      expect([answer.status, answer.body.address]).toEqual(
        symbol === 'old' ? [200, oldCoin] : [404, undefined],
      )
    }
  })

  fullTest('are asked about once, however many blocks follow, and again when no node answered', async () => {
    const other = await openChainApi({ kind: 'evm', services: { curatedTokens: listing(oldCoin) } })
    onTestFinished(() => other.close())
    const batches = recordedBatches(recording, 10)
    let answering = false
    const asked: string[] = []
    const callContracts: CallContracts = async (calls, at, signal) => {
      if (!answering) throw new Error('no node answers')
      asked.push(...calls.map(({ to, data }) => `${to}:${data}`))
      return node(calls, at, signal)
    }
    const { settle } = followersOf(other.store, { kind: 'evm', callContracts })
    for (const [index, batch] of batches.entries()) {
      await other.append([batch])
      answering = index > 3
      if (answering) await settle()
      else await expect(settle()).rejects.toThrow('no node answers')
    }
    expect(new Set(asked).size).toBe(asked.length)
    const rows = await walk(other, '/v1/tokens?limit=200')
    expect(rows).toEqual(await walk(api, '/v1/tokens?limit=200'))
  })
})

onceDescribe('ERC-20 tokens on a Tempo chain', () => {
  test('are found by address beside standard tokens, and asked about once', async () => {
    const oracle = readBalances(recording)
    const api = await openChainApi()
    afterAll(() => api.close())
    const { chains, curatedTokens } = api.services
    Object.assign(api.services, { tokenNames: tokenNamesOf(chains, curatedTokens) })
    await api.append(recordedBatches(recording, 10))
    const asked: string[] = []
    const answer = recordedCalls(recording, oracle)
    const callContracts: CallContracts = (calls, at, signal) => {
      asked.push(...calls.filter(({ data }) => data === nameSelector).map(({ to }) => to))
      return answer(calls, at, signal)
    }
    const { settle } = followersOf(api.store, {
      callContracts,
      only: ['tokens', 'balances', 'erc20_metadata'],
    })
    await settle()
    await settle()
    const others = [...oracle.at(lastBlock).keys()].filter(isOther)
    expect(asked.filter(isOther).sort()).toEqual(others.sort())
    const standard = (await walk(api, '/v1/tokens?limit=200')).map(({ address: token }) => token)
    expect(standard.filter(isOther)).toEqual([])
    const holders = await walk(api, `/v1/tokens/${oldCoin}/holders`)
    expect(holders.length).toBeGreaterThan(0)
    const found = await api.get(`/v1/tokens/${oldCoin}?include=holderCount,createdAt,totalSupply`)
    expect([found.status, found.body]).toMatchObject([
      200,
      { address: oldCoin, name: 'Old Coin', symbol: 'OLD', decimals: null, holderCount: holders.length },
    ])
    const past = await api.get(`/v1/tokens/${oldCoin}?atBlock=${lastBlock}&include=holderCount`)
    expect(past.body.holderCount).toBe(holders.length)
    const both = await api.get(`/v1/tokens?addresses=${oldCoin},${standard[0]}`)
    expect(both.body.data.map((row: { address: string }) => row.address)).toEqual([oldCoin, standard[0]])
    const named = await api.get(`/v1/tokens/${oldCoin}/holders?include=token`)
    expect(named.body.meta.token).toMatchObject({ symbol: 'OLD', verified: false })
  })
})
