// Goal: no amount that a contract can log stops what follows balances, supplies and holders, and a
// contract that logs what the exchange and the fee manager would moves neither.
// Method: a chain of a few blocks written by hand, beside tokens that mean well.
import type { Hex } from 'viem'
import { afterAll, describe, expect, test } from 'vitest'
import { toHex } from '#store/sql.ts'
import { events, fill, logOf, maker, pair, pathUsd, place, taker } from '../api/support/writtenBook.ts'
import { batchesOf, type WrittenTransaction, writtenChain } from '../api/support/writtenChain.ts'
import { type ChainStore, openChainStore } from './support/chainStore.ts'
import { followersOf, silentCalls } from './support/followers.ts'

const recording = 'tempo-dev-2k'
const nobody: Hex = `0x${'0'.repeat(40)}`
const [hostile, honest]: readonly Hex[] = [`0x${'e'.repeat(40)}`, `0x${'7'.repeat(40)}`]
const max = 2n ** 256n - 1n
const TIMES = 40
const sent = (token: Hex | undefined, from: Hex, to: Hex, amount: bigint) =>
  logOf(token ?? nobody, events.transfer, { from, to, amount })
const many = (log: WrittenTransaction['logs'][number]) => Array.from({ length: TIMES }, () => log)

const blocks: readonly (readonly WrittenTransaction[])[] = [
  [{ from: maker, logs: [sent(honest, nobody, maker, 100n), ...many(sent(hostile, nobody, maker, max))] }],
  // What was never given, and what was burned and never made.
  [{ from: taker, logs: [...many(sent(hostile, taker, maker, max)), sent(hostile, taker, nobody, max)] }],
  [{ from: maker, logs: [sent(honest, maker, taker, 40n), sent(hostile, maker, maker, max)] }],
]

async function open(chain: readonly (readonly WrittenTransaction[])[]): Promise<ChainStore> {
  const store = await openChainStore({ headFrom: 0 })
  afterAll(() => store.close())
  for (const batch of batchesOf(writtenChain(recording, chain))) await store.head.append(batch)
  return store
}

describe('amounts that a contract makes up', () => {
  test('stop nobody: sums are exact, below zero too, and other tokens are as they are', async () => {
    const store = await open(blocks)
    const { driver, settle } = followersOf(store, { kind: 'evm', callContracts: silentCalls })
    await settle()
    expect(driver.status.map(({ state, problem }) => [state, problem])).toEqual(
      driver.status.map(() => ['following', null]),
    )
    const { rows } = await store.postgres.pool.query<{ token: Buffer; holder: Buffer; balance: string }>(
      `SELECT token, holder, balance FROM ${store.schema}.balances WHERE token = ANY ($1)`,
      [[hostile, honest].map((token) => Buffer.from((token ?? '').slice(2), 'hex'))],
    )
    const held = new Map(
      rows.map(({ token, holder, balance }) => [`${toHex(token)} ${toHex(holder)}`, BigInt(balance)]),
    )
    expect(held.get(`${honest} ${maker}`)).toBe(60n)
    expect(held.get(`${honest} ${taker}`)).toBe(40n)
    expect(held.get(`${hostile} ${maker}`)).toBe(2n * BigInt(TIMES) * max)
    expect(held.get(`${hostile} ${taker}`)).toBe(-(BigInt(TIMES) + 1n) * max)
  })

  test('and what looks like orders, fills and liquidity is nobody’s', async () => {
    const imitated = (log: WrittenTransaction['logs'][number]) => ({ ...log, address: hostile ?? nobody })
    const logs = [
      pair(pathUsd, maker),
      place(1n, pathUsd, 5n, true, 0),
      fill(1n, 6n, false),
      fill(9n, max % 2n ** 128n, true),
      logOf(
        nobody,
        'event Burn(address indexed sender, address indexed userToken, address indexed validatorToken, uint256 amountUserToken, uint256 amountValidatorToken, uint256 liquidity, address to)',
        {
          ...{ sender: maker, userToken: pathUsd, validatorToken: maker, amountUserToken: max },
          ...{ amountValidatorToken: max, liquidity: 1n, to: maker },
        },
      ),
    ].map(imitated)
    const store = await open([[{ from: maker, logs }]])
    await followersOf(store, {
      callContracts: silentCalls,
      only: ['tokens', 'exchange', 'fee_pools'],
    }).settle()
    const counted = async (table: string) => {
      const { rows } = await store.postgres.pool.query(`SELECT count(*) AS n FROM ${store.schema}.${table}`)
      return Number(rows[0].n)
    }
    for (const table of [
      'exchange_orders_history',
      'exchange_fills',
      'exchange_strays',
      'exchange_pairs_history',
    ])
      expect([table, await counted(table)]).toEqual([table, 0])
    expect(await counted('fee_pools_history')).toBe(0)
  })
})
