// Goal: what anybody writes with a token of their own, or lets it answer, stops no projection and
// bounds what each event costs.
// Method: logs of thousands of admin grants and of very long texts beside the recorded chain's own,
// in a real store.
import { encodeAbiParameters, type Hex, numberToHex, toFunctionSelector } from 'viem'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { RpcCall } from '#ingest/rpc/client/client.ts'
import { contractCalls } from '#ingest/rpc/contractCalls.ts'
import { eventFollower, foldFollower } from '#store/follow/foldFollower.ts'
import { insertRows } from '#store/follow/foldTables.ts'
import { readGenesisTokens } from '#store/follow/tokens/genesisTokens.ts'
import { tokensFold } from '#store/follow/tokens/tokens.ts'
import { toBytes, toHex } from '#store/sql.ts'
import type { WrittenLog } from '../../api/support/writtenChain.ts'
import { readBalances } from '../support/balanceOracle.ts'
import { type ChainStore, openChainStore, recordedRuns } from '../support/chainStore.ts'
import { followersOf, recordedCalls, type TestFollowers } from '../support/followers.ts'
import { writeLogs } from '../support/writeLogs.ts'
import {
  account,
  created,
  granted,
  logo,
  longToken,
  moveTokens,
  nodeOf,
  ofToken,
  poisoning,
  token,
} from './support/hostileTokens.ts'

const recording = 'tempo-dev-2k'
const blocks = 20
const run = recordedRuns(recording)
/** A block of the recording, whose own logs come first. */
const block = 12
async function rowsOf(store: ChainStore, sql: string) {
  const { rows } = await store.postgres.pool.query(sql.replaceAll('$schema', store.schema))
  return rows
}

describe('hostile tokens', () => {
  const callContracts = recordedCalls(recording, readBalances(recording))
  const random = Array.from({ length: 100_000 }, (_, index) =>
    String.fromCodePoint(0x4e00 + ((index * 7_919) % 20_000)),
  )
  let store: ChainStore
  let tokens: TestFollowers

  beforeAll(async () => {
    store = await openChainStore({ headFrom: 0 })
    for (const batch of run(0, blocks - 1)) await store.head.append(batch)
    const grants = Array.from({ length: 5_000 }, (_, index) => granted(index + 1, true))
    const text = random.join('')
    await writeLogs(
      store,
      [
        created(token, 'Hostile', 'HOST'),
        ...[...grants, granted(1, false), granted(2, false), granted(2, true)],
        ...[created(longToken, text, text), logo(`https://x/${text}`)],
      ],
      block,
    )
    const follower = foldFollower(tokensFold, (context) => readGenesisTokens(callContracts, context))
    tokens = followersOf(store, { callContracts, followers: [follower] })
    await tokens.settle()
  })
  afterAll(() => store.close())

  test('5,000 admins of one token are 5,000 short rows, and the one that had the role longest is told', async () => {
    const [row] = await rowsOf(store, `SELECT * FROM $schema.tip20_current WHERE ${ofToken(token)}`)
    expect(toHex(row.admin)).toBe(account(3))
    const count = (table: string) =>
      rowsOf(store, `SELECT count(*)::int AS n FROM $schema.${table} WHERE ${ofToken(token)}`)
    expect(await count('tokens_history')).toEqual([{ n: 1 }])
    // Taken from two, given back to one of them.
    expect(await count('token_admins_history')).toEqual([{ n: 5_003 }])
    expect(await count('token_admins_current')).toEqual([{ n: 5_000 }])
  })

  test('names, symbols and addresses of 300 KB are stored short, and fit an index', async () => {
    const [row] = await rowsOf(store, `SELECT * FROM $schema.tip20_current WHERE ${ofToken(longToken)}`)
    const short = random.slice(0, 512).join('')
    expect(row).toMatchObject({ name: short, symbol: short, logo_uri: null })
  })

  test('a piece of logs ends where they have many bytes, and none is lost', async () => {
    const long: WrittenLog = { ...logo(''), data: `0x${'00'.repeat(3 << 20)}` }
    for (const at of [block + 1, block + 3])
      await writeLogs(
        store,
        Array.from({ length: 4 }, () => long),
        at,
      )
    const pieces: number[][] = []
    const follower = eventFollower({
      ...{ name: 'witness', version: 1, needs: [], tables: [] },
      events: tokensFold.reducers.map(({ event }) => event),
      prepare: async () => async () => {},
      take: async (_transaction, logs) => {
        pieces.push(logs.filter(({ log }) => log.data.length > 1 << 22).map(({ place }) => place.blockNumber))
      },
    })
    await followersOf(store, { callContracts, followers: [follower] }).settle()
    expect(pieces.filter((piece) => piece.length > 0)).toEqual([
      [block + 1, block + 1, block + 1, block + 1],
      [block + 3, block + 3, block + 3, block + 3],
    ])
  })

  test('a token whose events cannot be stored stops alone, marked, and a revert lets it go on', async () => {
    const [bad, worse, good] = [0xa1n, 0xa2n, 0xa3n].map((nth) =>
      toHex(toBytes(numberToHex(nth + 0x20c0n * 2n ** 144n, { size: 20 }))),
    )
    if (!bad || !worse || !good) throw new Error('three tokens')
    await writeLogs(
      store,
      [created(bad, 'BAD', 'B'), created(worse, 'WORSE', 'W'), created(good, 'GOOD', 'G')],
      block + 5,
    )
    await writeLogs(store, [created(good, 'BETTER', 'G')], block + 6)
    const poisoned = { ...tokensFold, reducers: tokensFold.reducers.map(poisoning) }
    const follower = foldFollower(poisoned, async () => [])
    const { settle, driver } = followersOf(store, { callContracts, followers: [follower] })
    await store.postgres.pool.query(`DELETE FROM ${store.schema}.followers WHERE name = 'tokens'`)
    await settle()
    const names = () =>
      rowsOf(
        store,
        `SELECT name FROM $schema.tip20_current WHERE token = ANY (ARRAY['\\x${bad.slice(2)}', '\\x${worse.slice(2)}', '\\x${good.slice(2)}']::bytea[])`,
      )
    expect(await names()).toEqual([{ name: 'BETTER' }])
    const found = await follower.inspect?.(store.postgres.pool, store.schema)
    expect(found?.differs).toMatch(new RegExp(`^2 stand still: ${bad} from block ${block + 5} on .*${worse}`))
    expect(driver.status).toMatchObject([{ state: 'following', problem: null }])
    await store.head.revert(await store.head.refAt(block + 4))
    await settle()
    expect(await follower.inspect?.(store.postgres.pool, store.schema)).toEqual({ strays: 0, differs: null })
  })

  test('a revert takes the admins back', async () => {
    await store.head.revert(await store.head.refAt(block - 1))
    await tokens.settle()
    expect(
      await rowsOf(store, `SELECT token FROM $schema.token_admins_history WHERE ${ofToken(token)}`),
    ).toEqual([])
  })
})

describe('hostile ERC-20s', () => {
  let store: ChainStore
  beforeEach(async () => {
    store = await openChainStore({ headFrom: 0 })
    for (const batch of run(0, blocks - 1)) await store.head.append(batch)
  })
  afterEach(() => store.close())

  test('nine names of a MiB are asked once, cut, and hold up no later token (L26)', async () => {
    const [hostile, honest] = [Array.from({ length: 9 }, (_, nth) => account(0x1000 + nth)), account(0x2000)]
    await moveTokens(store, block, [...hostile, honest])
    const node = nodeOf((to) => (to === honest ? 'Honest' : 'x'.repeat(1 << 20)))
    const { settle } = followersOf(store, { kind: 'evm', callContracts: contractCalls(node) })
    await settle()
    const told = await rowsOf(
      store,
      `SELECT token, length(name) AS length FROM $schema.erc20_metadata
       WHERE token >= '\\x${hostile[0]?.slice(2)}' AND token <= '\\x${honest.slice(2)}' ORDER BY token`,
    )
    expect(told.map(({ length }) => length)).toEqual([...hostile.map(() => 256), 'Honest'.length])
    const spent = node.sentBytes()
    await settle()
    expect(node.sentBytes()).toBe(spent)
  })

  test('decimals that no uint8 holds are unknown, and hold up no other token', async () => {
    const word = (value: bigint): Hex => numberToHex(value, { size: 32 })
    const asked: readonly (readonly [Hex, number | null])[] = [
      [word(2n ** 32n), null],
      [word(2n ** 31n), null],
      [word(2n ** 53n + 1n), null],
      [word(2n ** 256n - 1n), null],
      [word(150_000_000n), null],
      [word(256n), null],
      ['0x', null],
      ['0x06', null],
      [word(255n), 255],
      [word(78n), 78],
      [`${word(18n)}${'ff'.repeat(32)}`, 18],
      [word(0n), 0],
    ]
    const moved = asked.map((_, nth) => account(0x3000 + nth))
    await moveTokens(store, block, moved)
    const decimals = toFunctionSelector('decimals()')
    const node = {
      callAll: async (calls: readonly RpcCall[]) =>
        calls.map(({ params: [call] }): Hex | null => {
          const { to, data } = Object(call)
          if (data !== decimals) return encodeAbiParameters([{ type: 'string' }], ['T'])
          return asked[moved.indexOf(to)]?.[0] ?? null
        }),
    }
    const { settle, driver } = followersOf(store, { kind: 'evm', callContracts: contractCalls(node) })
    await settle()
    expect(driver.status.find(({ name }) => name === 'erc20_metadata')).toMatchObject({
      ...{ state: 'following', problem: null },
    })
    const told = await rowsOf(
      store,
      `SELECT name, decimals FROM $schema.erc20_metadata
       WHERE token BETWEEN '\\x${moved[0]?.slice(2)}' AND '\\x${moved.at(-1)?.slice(2)}' ORDER BY token`,
    )
    expect(told).toEqual(asked.map(([, expected]) => ({ name: 'T', decimals: expected })))
  })

  test('a token that Postgres refuses is left out and told, and the others are stored', async () => {
    const [refused, good] = [account(0x4000), account(0x4001)]
    await moveTokens(store, block, [refused, good])
    await store.postgres.pool.query(
      `ALTER TABLE ${store.schema}.erc20_metadata ADD CHECK (1 / (name <> 'Refused')::int = 1)`,
    )
    const node = nodeOf((to) => (to === refused ? 'Refused' : 'Good'))
    const { settle, followers } = followersOf(store, { kind: 'evm', callContracts: contractCalls(node) })
    await settle()
    const told = await rowsOf(
      store,
      `SELECT token, name FROM $schema.erc20_metadata WHERE token IN ('\\x${refused.slice(2)}', '\\x${good.slice(2)}')`,
    )
    expect(told).toEqual([{ token: Buffer.from(good.slice(2), 'hex'), name: 'Good' }])
    const follower = followers.find(({ name }) => name === 'erc20_metadata')
    const found = await follower?.inspect?.(store.postgres.pool, store.schema)
    expect(found?.differs).toMatch(new RegExp(`^1 stand still: ${refused} from block ${block} on `))
  })
})

test('rows go in statements of bounded length', async () => {
  const texts: string[] = []
  const client = {
    query: async (_sql: string, [json]: readonly string[]) => {
      texts.push(String(json))
      return { rows: [] }
    },
  }
  const rows = Array.from({ length: 100 }, (_, nth) => ({ nth, text: 'x'.repeat(90) }))
  await insertRows(client as never, 'somewhere', rows, 1_000)
  expect(texts.length).toBeGreaterThan(9)
  expect(Math.max(...texts.map(({ length }) => length))).toBeLessThanOrEqual(1_002)
  expect(texts.flatMap((text) => JSON.parse(text))).toEqual(rows)
})
