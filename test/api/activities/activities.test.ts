// Goal: both feeds show what accounts did, each thing once, whatever the length of the pages it is
// read in.
// Method: the recorded chain in a real store behind a real server; every row, its data and its
// events compared with what an oracle of the test's own makes of the raw recording.
import { type Abi, type Hex, parseEventLogs, toEventSelector } from 'viem'
import { Abis } from 'viem/tempo'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { CuratedTokens } from '#api/operator/curatedTokens.ts'
import type { TokenName, TokenNames } from '#present/tokenNames.ts'
import { address } from '#primitives.ts'
import { activities } from '#transform/activities/index.ts'
import { readRecording } from '../../chain/recordings.ts'
import { recordedBatches } from '../../store/support/chainStore.ts'
import { few, isFull, onceTest } from '../../support/breadth.ts'
import { type ChainApi, namedToken, openChainApi, walk } from '../support/chainApi.ts'
import { type ResponseCheck, responseCheck } from '../support/openapi.ts'
import { commonest } from '../support/oracle.ts'
import type { ActivityTx } from './support/activityEvents.ts'
import { ActivityOracle, type ExpectedActivity } from './support/activityOracle.ts'

const recording = 'tempo-dev-2k'
const feed = '/v1/addresses/{address}/activities'
const feeManager = '0xfeec000000000000000000000000000000000000'
const exchange = '0xdec0000000000000000000000000000000000000'
const zero = `0x${'0'.repeat(40)}`
const READS_AT_ONCE = 8
/** How many feeds `npm test` reads: of one transaction each, and whole ones of accounts. */
const [TRANSACTIONS_FEW, ACCOUNTS_FEW] = [250, 40]

interface Decoded {
  readonly address: string
  readonly topics: readonly Hex[]
  readonly eventName?: string
  readonly args?: object
  readonly title?: string
}

/** Integers as decimal strings, addresses in lowercase. */
const inJson = (value: unknown): unknown => {
  if (typeof value === 'bigint' || typeof value === 'number') return `${value}`
  return typeof value === 'string' && value.startsWith('0x') ? value.toLowerCase() : value
}

const tokenOf = (data: ExpectedActivity['data']): string => Object(data['sourceToken']).address ?? ''

/** An item without its events, which are compared apart. */
const withoutEvents = ({ events: _, ...item }: { readonly events?: unknown }) => item

/** Receivers of tokens in movements other than fees. */
const recipientsOf = ({ events }: ActivityTx): readonly string[] =>
  events.filter(({ name }) => name === 'erc20.Transfer').map(({ args }) => args['to'])

let api: ChainApi
let oracle: ActivityOracle
let check: ResponseCheck
let accounts: Readonly<Record<string, string>>

beforeAll(async () => {
  oracle = new ActivityOracle(readRecording(recording))
  const { transactions } = oracle
  const others = (tx: ActivityTx) => recipientsOf(tx).filter((to) => to !== tx.from)
  accounts = {
    sender: commonest(transactions.map(({ from }) => from)),
    sponsor: commonest(transactions.map(({ from, feePayer }) => (feePayer === from ? null : feePayer))),
    recipient: commonest(transactions.flatMap(others)),
    exchange,
    feeManager,
    zero,
    nobody: `0x${'12'.repeat(20)}`,
  }
  api = await openChainApi()
  await api.append(recordedBatches(recording, 10))
  await api.finalize(100)
  check = await responseCheck(api)
})
afterAll(() => api.close())

const of = (name: string): string => {
  const account = accounts[name]
  if (!account) throw new Error(`no account ${name}`)
  return account
}
const pathOf = (name: string, query = '') => `${feed.replace('{address}', of(name))}?${query}`

describe('the feed of activities', () => {
  test.each([
    ['sender', 7],
    ['sender', 200],
    ['sponsor', 11],
    ['recipient', 5],
    ['exchange', 50],
    ['feeManager', 5],
    ['zero', 13],
    ['nobody', 5],
  ])('the feed of the %s in pages of %i is all it took part in, page by page full', async (name, limit) => {
    const expected = oracle.feedOf(of(name))
    expect(expected.length > 0).toBe(name !== 'nobody')
    const lengths: number[] = []
    const rows = await walk(api, pathOf(name, `limit=${limit}`), async (page) => {
      expect(check(feed, page)).toEqual([])
      lengths.push(page.body.data.length)
    })
    expect(rows.map(withoutEvents)).toEqual(expected)
    expect(lengths.slice(0, -1).every((length) => length === limit)).toBe(true)
  })
})

describe('the feed where the operator lists tokens', () => {
  const listed = namedToken
  const isShown = (token: string) => token === listed || token.startsWith('0x20c000000000000000000000')
  const idsOf = (rows: readonly { readonly id: string }[]) => rows.map(({ id }) => id)
  const changed: { curatedTokens?: CuratedTokens; tokenNames?: TokenNames } = {}
  const nothing: ReadonlyMap<string, string> = new Map()
  let names = nothing

  beforeAll(() => {
    const entry = { address: address(listed), logo: null }
    const { curatedTokens, tokenNames } = api.services
    Object.assign(changed, { curatedTokens, tokenNames })
    Object.assign(api.services, {
      curatedTokens: {
        changedAtSeconds: 0,
        of: () => [entry],
        find: (_chainId: number, token: string) => (token === listed ? entry : undefined),
      },
      tokenNames: {
        read: async (chainId, tokens, signal) => {
          const known = await tokenNames.read(chainId, tokens, signal)
          const more = tokens.flatMap((token): [string, TokenName][] => {
            const symbol = names.get(token)
            const rest = { currency: 'USD', decimals: 6, logoUri: null, verified: false }
            return symbol === undefined ? [] : [[token, { name: symbol, symbol, ...rest }]]
          })
          return new Map([...known, ...more])
        },
      } satisfies TokenNames,
    })
  })
  afterAll(() => Object.assign(api.services, changed))

  test('every movement of a standard token is in the feed of both its sides, whoever moved it', async () => {
    const moves = new Map<string, Set<string>>()
    for (const tx of oracle.transactions)
      for (const { name, log, args } of tx.events)
        if (name === 'erc20.Transfer' && isShown(log.address))
          for (const account of [args['from'], args['to']])
            moves.set(account, (moves.get(account) ?? new Set()).add(tx.hash))
    const lacking: string[] = []
    const asked = few([...moves], ACCOUNTS_FEW)
    for (let from = 0; from < asked.length; from += READS_AT_ONCE)
      await Promise.all(
        asked.slice(from, from + READS_AT_ONCE).map(async ([account, hashes]) => {
          const rows = await walk(api, `${feed.replace('{address}', account)}?limit=200`)
          const told = new Set(rows.map(({ transactionHash }) => transactionHash))
          lacking.push(...[...hashes].filter((hash) => !told.has(hash)))
        }),
      )
    expect(lacking).toEqual([])
  })

  test('what foreign contracts say they moved is left out where the account neither sent nor paid', async () => {
    const said = oracle.transactions.flatMap(({ from, feePayer, events }) =>
      events
        .filter(({ name, log }) => name === 'erc20.Transfer' && !isShown(log.address))
        .map(({ args }): string => args['to'])
        .filter((to) => ![from, feePayer, zero].includes(to)),
    )
    accounts = { ...accounts, holder: commonest(said) }
    const all = oracle.feedOf(of('holder'))
    const shown = oracle.feedOf(of('holder'), isShown)
    expect(shown.length).toBeGreaterThan(0)
    expect(shown.length).toBeLessThan(all.length)
    const rows = await walk(api, pathOf('holder', 'limit=7'))
    expect(idsOf(rows)).toEqual(idsOf(shown))
    expect(idsOf(await walk(api, pathOf('holder', 'limit=50&unverified=true')))).toEqual(idsOf(all))
    for (const { data } of rows)
      if (data.sourceToken) expect(data.sourceToken.verified).toBe(data.sourceToken.address === listed)
  })

  test('a token that is not listed has no name that looks like a verified one', async () => {
    const unlisted = [...new Set(oracle.feedOf(of('recipient')).map(({ data }) => tokenOf(data)))]
    const [imitating, own] = unlisted.filter((token) => token !== listed && isShown(token))
    names = new Map([
      [imitating ?? '', 'pa\u0442h U\u0405D\u3164'],
      [own ?? '', 'ownUSD'],
    ])
    onTestFinished(() => {
      names = nothing
    })
    const rows = await walk(api, pathOf('recipient', 'limit=200'))
    const tokens = new Map(rows.map(({ data: { sourceToken } }) => [sourceToken?.address, sourceToken]))
    const { amount: _, ...shown } = tokens.get(imitating)
    expect(shown).toEqual({ address: imitating, verified: false, currency: 'USD', decimals: 6 })
    expect(tokens.get(own)).toMatchObject({ verified: false, name: 'ownUSD', symbol: 'ownUSD' })
    expect(tokens.get(listed)).toMatchObject({ verified: true, symbol: 'pathUSD' })
  })
})

describe('activities of one transaction', () => {
  test('a page can end between two activities of one transaction, and the next goes on there', async () => {
    const split = (expected: readonly ExpectedActivity[], limit: number) =>
      expected.some(
        ({ transactionHash }, index) =>
          index % limit === limit - 1 && transactionHash === expected[index + 1]?.transactionHash,
      )
    const found = [...new Set(oracle.transactions.flatMap(recipientsOf))]
      .map((account) => ({ account, expected: oracle.feedOf(account) }))
      .flatMap((one) => [5, 6, 7, 8, 9].map((limit) => ({ ...one, limit })))
      .find(({ expected, limit }) => split(expected, limit))
    if (!found) throw new Error('no account of the recording has such a feed')
    const path = `${feed.replace('{address}', found.account)}?limit=${found.limit}`
    expect((await walk(api, path)).map(withoutEvents)).toEqual(found.expected)
  })

  test("a transaction's feed is its sender's view, whatever the transaction", async () => {
    const asked = few(oracle.transactions, TRANSACTIONS_FEW)
    const types = new Set<string>()
    const compare = async (tx: ActivityTx) => {
      const answer = await api.get(`/v1/transactions/${tx.hash}/activities`)
      expect(check('/v1/transactions/{transactionHash}/activities', answer)).toEqual([])
      const expected = oracle.activitiesOf(tx, tx.from)
      expect(answer.body.data.map(withoutEvents)).toEqual(expected)
      for (const { type } of expected) types.add(type)
    }
    for (let from = 0; from < asked.length; from += READS_AT_ONCE)
      await Promise.all(asked.slice(from, from + READS_AT_ONCE).map(compare))
    expect(types.size).toBeGreaterThan(isFull ? 25 : 10)
    const cacheOf = async (tx: ActivityTx | undefined) =>
      (await api.get(`/v1/transactions/${tx?.hash}/activities`)).headers.get('cache-control')
    expect(await cacheOf(oracle.transactions[0])).toContain('max-age=86400')
    expect(await cacheOf(oracle.transactions.at(-1))).toBe('no-store')
  })

  test('bids paid from a balance inside the exchange are named by their book, not unknown', async () => {
    const bids = oracle.transactions.filter(
      ({ events }) =>
        events.some(({ name, args }) => name === 'dex.OrderPlaced' && args['isBid']) &&
        !events.some(({ name, args }) => name === 'erc20.Transfer' && args['to'] === exchange),
    )
    expect(bids.length).toBeGreaterThan(5)
    for (const { hash } of bids) {
      const { body } = await api.get(`/v1/transactions/${hash}/activities`)
      expect(body.data[0]).toMatchObject({ type: 'order-placed', data: { side: 'bid' } })
    }
  })
})

describe('what activities carry', () => {
  test('amounts carry the names of their tokens, memos their text, attributions a service', async () => {
    const rows = await walk(api, pathOf('sender', 'limit=200'))
    const transfers = rows.filter(({ type }) => type === 'transfer')
    for (const { data } of transfers)
      expect(data.sourceToken.symbol).toBe(data.sourceToken.address === namedToken ? 'pathUSD' : undefined)
    const all = await Promise.all(
      ['sender', 'sponsor', 'exchange', 'recipient'].map((name) => walk(api, pathOf(name, 'limit=200'))),
    )
    const shown = all.flat().filter(({ type }) => type === 'transfer')
    expect(shown.filter(({ data }) => data.sourceToken.symbol === 'pathUSD').length).toBeGreaterThan(0)
    expect(shown.filter(({ data }) => typeof data.memo === 'string').length).toBeGreaterThan(0)
    const services = new Set(shown.map(({ data }) => data.attribution).filter(Boolean))
    expect(['Example', 'MPP Service']).toEqual(expect.arrayContaining([...services]))
  })

  test('events come with `logs=true`, and always with what is unknown', async () => {
    const [plain, full] = [
      await walk(api, pathOf('sender', 'limit=200')),
      await walk(api, pathOf('sender', 'limit=200&logs=true')),
    ]
    expect(plain.filter(({ events }) => events).every(({ type }) => type === 'unknown')).toBe(true)
    expect(plain.filter(({ type }) => type === 'unknown').every(({ events }) => events.length > 0)).toBe(true)
    const byHash = new Map(oracle.transactions.map((tx) => [tx.hash, tx]))
    const all: Abi = Abis.all
    const byTopic = Map.groupBy(
      all.filter((item) => item.type === 'event'),
      (event) => toEventSelector(event),
    )
    let decoded = 0
    for (const { transactionHash, events } of full) {
      const logs = byHash.get(transactionHash)?.logs ?? []
      expect(events.map(({ eventName: _, args: __, title: ___, ...raw }: Decoded) => raw)).toEqual(logs)
      for (const { eventName, args, ...log } of events as Decoded[]) {
        if (eventName === undefined) continue
        const abi = byTopic.get(log.topics[0] ?? '0x') ?? []
        const [found] = parseEventLogs({ abi, eventName, logs: [log as never] }) as { args?: object }[]
        const expected = Object.entries(found?.args ?? {}).map(([name, value]) => [name, inJson(value)])
        expect(args).toEqual(Object.fromEntries(expected))
        decoded += 1
      }
    }
    expect(decoded).toBeGreaterThan(100)
  })

  test('`include=zones` names the chain of every item, and nothing else does', async () => {
    const { body } = await api.get(pathOf('sender', 'include=zones'))
    expect(body.data.map((item: { chainId: number }) => item.chainId)).toEqual(Array(10).fill(api.chainId))
    expect((await api.get(pathOf('sender'))).body.data[0].chainId).toBeUndefined()
    const hash = oracle.transactions[0]?.hash
    const one = await api.get(`/v1/transactions/${hash}/activities?include=zones`)
    expect(one.body.data[0].chainId).toBe(api.chainId)
  })
})

describe('groups of activities', () => {
  test('what one access key did in a row on one day is a group, and unfolds to the feed', async () => {
    const keyUser = commonest(
      oracle.transactions.map((tx) => {
        const signer = oracle.activitiesOf(tx, tx.from)[0]?.data['signer']
        return signer === undefined || signer === 'self' ? null : tx.from
      }),
    )
    accounts = { ...accounts, keyUser }
    const expected = oracle.feedOf(of('keyUser'))
    for (const limit of [5, 200]) {
      const lengths: number[] = []
      const rows = await walk(api, pathOf('keyUser', `group=true&limit=${limit}`), async (page) => {
        expect(check(feed, page)).toEqual([])
        lengths.push(page.body.data.length)
      })
      expect(lengths.slice(0, -1).every((length) => length === limit)).toBe(true)
      const groups = rows.filter(({ type }) => type === 'group')
      expect(groups.length).toBeGreaterThan(0)
      for (const { id, data, title } of groups) {
        const signers = new Set(data.items.map((item: { data: { signer: string } }) => item.data.signer))
        expect([...signers]).toEqual([data.signer])
        expect(data.signer).toMatch(/^0x/)
        expect(data.items.length).toBeGreaterThan(1)
        expect(data.items.length).toBeLessThanOrEqual(50)
        expect(title).toBe('Group')
        expect(id).toBe(`${data.items[0].id}..${data.items.at(-1).id}:${data.items.length}`)
      }
      const unfolded = rows.flatMap((row) => (row.type === 'group' ? row.data.items : [row]))
      expect(unfolded.map(withoutEvents)).toEqual(expected)
    }
  })
})

describe('pages of the feed, and what it refuses', () => {
  test.each([
    ['page=1', 'page'],
    ['order=asc', 'order'],
    ['limit=4', 'limit'],
    ['limit=201', 'limit'],
    ['limit=ten', 'limit'],
    ['group=1', 'group'],
    ['logs=yes', 'logs'],
    ['logs=true&logs=true', 'logs'],
    ['include=chain', 'include'],
    ['sender=0x', 'sender'],
  ])('the feed refuses ?%s and says where', async (query, name) => {
    const { status, body } = await api.get(pathOf('sender', query))
    expect([status, body.error.code, body.error.details[0].path]).toEqual([
      400,
      'query_invalid',
      ['query', name],
    ])
  })

  test('bad and unknown names are told apart', async () => {
    expect((await api.get('/v1/addresses/0x12/activities')).body.error.code).toBe('address_invalid')
    expect((await api.get('/v1/transactions/0x12/activities')).body.error.code).toBe('transaction_invalid')
    const unknown = await api.get(`/v1/transactions/0x${'12'.repeat(32)}/activities`)
    expect([unknown.status, unknown.body.error.code]).toEqual([404, 'transaction_not_found'])
  })

  test('transactions without activities end a page early, never the feed', async () => {
    const account = `0x${'77'.repeat(20)}`
    const { schema, postgres } = api.store
    const columns =
      '"from", type, input, gas_limit, call_count, gas_used, cumulative_gas_used, log_count, value, block_timestamp'
    await postgres.pool.query(
      `INSERT INTO ${schema}.txs (block_num, idx, hash, ${columns})
       SELECT 122, 10000 + n, sha256(n::text::bytea), $1, 0, '', 0, 1, 0, 0, 0, 0, now() FROM generate_series(1, 2500) AS n`,
      [Buffer.from(account.slice(2), 'hex')],
    )
    const path = `/v1/addresses/${account}/activities?limit=5`
    const first = await api.get(path)
    expect(first.body.data).toEqual([])
    expect(first.body.nextCursor).not.toBeNull()
    expect(await walk(api, path)).toEqual([])
    await postgres.pool.query(`DELETE FROM ${schema}.txs WHERE idx > 10000`)
  })
})

onceTest('the document has every type of the registry, and every title', async () => {
  const api = await openChainApi()
  afterAll(() => api.close())
  const { body } = await api.get('/openapi.json')
  const shapes: { properties: Record<string, { enum?: string[] }> }[] = Object.values(body.components.schemas)
  const documented = shapes.map(({ properties }) => [
    properties?.['type']?.enum?.[0],
    properties?.['title']?.enum?.[0],
  ])
  for (const { type, title } of activities) expect(documented).toContainEqual([type, title])
  expect(documented).toContainEqual(['group', 'Group'])
})
