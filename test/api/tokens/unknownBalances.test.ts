// Goal: a number that logs alone cannot tell is never told as the chain's own: a balance whose
// transfers once summed up to less than nothing is marked for good, and what the native coin logs
// (EIP-7708) is no token's.
// Method: a chain of a few blocks written by hand, indexed as a plain EVM chain, read over HTTP.
import type { Hex } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { balancesFollower } from '#store/follow/balances/balances.ts'
import { createFollowers } from '#store/follow/followers.ts'
import { toHex } from '#store/sql.ts'
import { type ChainStore, openChainStore } from '../../store/support/chainStore.ts'
import { followersOf, silentCalls } from '../../store/support/followers.ts'
import { type ChainApi, openChainApi } from '../support/chainApi.ts'
import { events, logOf } from '../support/writtenBook.ts'
import { batchesOf, type WrittenTransaction, writtenChain } from '../support/writtenChain.ts'

const nobody: Hex = `0x${'0'.repeat(40)}`
const coin: Hex = `0x${'f'.repeat(39)}e`
const [rebasing, honest, flash]: readonly [Hex, Hex, Hex] = [
  `0x${'7'.repeat(40)}`,
  `0x${'8'.repeat(40)}`,
  `0x${'9'.repeat(40)}`,
]
const [alice, bob]: readonly [Hex, Hex] = [`0x${'a'.repeat(40)}`, `0x${'b'.repeat(40)}`]
const sent = (token: Hex, from: Hex, to: Hex, amount: bigint) =>
  logOf(token, events.transfer, { from, to, amount })

const block = (...logs: WrittenTransaction['logs'][number][]): readonly WrittenTransaction[] => [
  { from: alice, logs },
]
const blocks = [
  block(sent(rebasing, nobody, alice, 10n), sent(honest, nobody, alice, 10n), sent(coin, alice, bob, 1_000n)),
  block(sent(rebasing, alice, bob, 12n), sent(honest, alice, alice, 10n), sent(honest, alice, bob, 10n)),
  block(sent(rebasing, nobody, alice, 5n), sent(honest, bob, alice, 4n)),
  // Below zero within a block alone.
  block(sent(flash, alice, bob, 3n), sent(flash, nobody, alice, 9n), sent(coin, alice, bob, 7n)),
  block(sent(rebasing, bob, alice, 1n)),
]
const marked = { rebasing: 2, flash: 4 }
const recording = 'tempo-dev-2k'
const batches = () => batchesOf(writtenChain(recording, blocks))
const last = blocks.length

/** Marked accounts, and since which block. */
async function marksOf({ postgres, schema }: ChainStore): Promise<Record<string, number>> {
  const { rows } = await postgres.pool.query<{ token: Buffer; holder: Buffer; below_since: number }>(
    `SELECT token, holder, below_since FROM ${schema}.balances WHERE below_since IS NOT NULL`,
  )
  return Object.fromEntries(
    rows.map((row) => [`${toHex(row.token)} ${toHex(row.holder)}`, Number(row.below_since)]),
  )
}
const expectedMarks = { [`${rebasing} ${alice}`]: marked.rebasing, [`${flash} ${alice}`]: marked.flash }

describe('told balances', () => {
  let api: ChainApi
  beforeAll(async () => {
    api = await openChainApi({ kind: 'evm' })
    await api.append(batches())
    await followersOf(api.store, { kind: 'evm', callContracts: silentCalls }).settle()
    await api.finalize(last)
    await api.fillClickHouse()
  })
  afterAll(() => api?.close())

  const rowsOf = async (path: string) => {
    const { status, body } = await api.get(path)
    expect([status, body.error]).toEqual([200, undefined])
    return body.data
  }

  test('are marked since they were below zero, in both lists', async () => {
    const ofAlice = await rowsOf(`/v1/addresses/${alice}/balances`)
    const told = ofAlice.map((row: Record<string, unknown>) => [row['id'], row['amount'], row['approximate']])
    expect(told).toEqual([
      [flash, '6', true],
      [rebasing, '4', true],
      [honest, '4', undefined],
    ])
    const holders = await rowsOf(`/v1/tokens/${rebasing}/holders`)
    expect(holders).toEqual([
      { id: bob, address: bob, balance: '11' },
      { id: alice, address: alice, balance: '4', approximate: true },
    ])
    for (const atBlock of [1, 3]) {
      const rows = await rowsOf(`/v1/addresses/${alice}/balances?atBlock=${atBlock}`)
      const row = rows.find(({ id }: { id: string }) => id === rebasing)
      expect(row.approximate).toBe(atBlock < marked.rebasing ? undefined : true)
    }
  })

  test('are marked in SQL', async () => {
    for (const table of ['token_balances', 'address_balances']) {
      const sql = `SELECT token, holder, balance, approximate FROM ${table} WHERE holder = '${alice}' ORDER BY token`
      const { body } = await api.get(`/v1/indexer/query?engine=clickhouse&sql=${encodeURIComponent(sql)}`)
      expect(body.rows ?? body.error).toEqual([
        [rebasing, alice, '4', true],
        [honest, alice, '4', false],
        [flash, alice, '6', true],
      ])
    }
  })

  test('hold nothing of the native coin, whose logs stay', async () => {
    expect((await api.get(`/v1/tokens/${coin}/holders`)).status).toBe(404)
    expect(await rowsOf(`/v1/transfers?token=${coin}`)).toEqual([])
    const count = async (engine: string, sql: string) =>
      (await api.get(`/v1/indexer/query?engine=${engine}&sql=${encodeURIComponent(sql)}`)).body.rows[0][0]
    for (const engine of ['postgres', 'clickhouse'])
      expect(await count(engine, `SELECT count(*) FROM logs WHERE address = '${coin}'`)).toBe('2')
    for (const table of ['token_transfers', 'token_holder_deltas'])
      expect(await count('clickhouse', `SELECT count(*) FROM ${table} WHERE token = '${coin}'`)).toBe('0')
    const [{ tx_hash: hash }] = (
      await api.store.postgres.pool.query(
        `SELECT '0x' || encode(tx_hash, 'hex') AS tx_hash FROM ${api.store.schema}.logs WHERE address = '\\x${coin.slice(2)}' LIMIT 1`,
      )
    ).rows
    const activities = await rowsOf(`/v1/transactions/${hash}/activities?logs=true`)
    const ofCoin = activities[0].events.find((event: { address: string }) => event.address === coin)
    expect(ofCoin).not.toHaveProperty('eventName')
  })
})

describe('marks', () => {
  test('are the same loaded in pieces, and block by block', async () => {
    const chain = batches()
    for (const pieces of [true, false]) {
      const store = await openChainStore({ headFrom: 0 })
      const tokens = createFollowers({
        kind: 'evm',
        chainId: store.chainId,
        callContracts: silentCalls,
      }).filter(({ name }) => name === 'tokens')
      const followers = [
        ...tokens,
        balancesFollower({ kind: 'evm', callContracts: silentCalls, hotBlocks: 1, pieceTransfers: 2 }),
      ]
      const { settle } = followersOf(store, { callContracts: silentCalls, followers })
      for (const batch of chain) {
        await store.head.append(batch)
        if (!pieces) await settle()
      }
      await store.head.finalize(last - 1)
      await settle()
      expect(await marksOf(store), `${pieces}`).toEqual(expectedMarks)
      await store.close()
    }
  })

  test('go with the blocks that made them', async () => {
    const store = await openChainStore({ headFrom: 0 })
    const { settle } = followersOf(store, { kind: 'evm', callContracts: silentCalls })
    for (const batch of batches()) await store.head.append(batch)
    await settle()
    expect(await marksOf(store)).toEqual(expectedMarks)
    await store.head.revert(await store.head.refAt(3))
    await settle()
    expect(await marksOf(store)).toEqual({ [`${rebasing} ${alice}`]: marked.rebasing })
    await store.head.revert(await store.head.refAt(1))
    await settle()
    expect(await marksOf(store)).toEqual({})
    await store.close()
  })
})
