// Goal: no amount that a contract can log stops what follows balances, supplies and holders, and a
// contract that logs what the exchange and the fee manager would moves neither; book and pools are
// exact at every edge of what their own events hold.
// Method: a chain of a few blocks written by hand, beside tokens that mean well.
import type { Hex } from 'viem'
import { afterAll, describe, expect, test } from 'vitest'
import { toHex } from '#store/sql.ts'
import {
  events,
  fill,
  logOf,
  maker,
  pair,
  pathUsd,
  place,
  taker,
  token,
} from '../../api/support/writtenBook.ts'
import { batchesOf, type WrittenTransaction, writtenChain } from '../../api/support/writtenChain.ts'
import { mint } from '../../api/support/writtenFees.ts'
import { numberEdges } from '../../transform/numberEdges.ts'
import { type ChainStore, openChainStore } from '../support/chainStore.ts'
import { followersOf, silentCalls } from '../support/followers.ts'

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
  // Tokens that were never given, and tokens that were burned and never made.
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

  test('are exact in the book and the pools at every edge of what their events hold', async () => {
    const base: Hex = `0x20c000000000000000000000${'b'.repeat(16)}`
    const inOrders = [...numberEdges, 2n ** 128n - 1n].filter((amount) => amount < 2n ** 128n)
    const ids = inOrders.map((_, index) => BigInt(index + 1))
    const inPools = numberEdges.map((amount, index) => ({
      amount,
      token: `0x20c000000000000000000000${index.toString(16).padStart(16, '0')}` as Hex,
    }))
    const store = await open([
      [{ from: maker, logs: [token(base, 'B', 'B', pathUsd), pair(base, pathUsd)] }],
      [{ from: maker, logs: ids.map((id, nth) => place(id, base, inOrders[nth] ?? 0n, nth % 2 === 0, 10)) }],
      [{ from: taker, logs: ids.map((id, nth) => fill(id, (inOrders[nth] ?? 0n) - 1n, true)) }],
      [{ from: maker, logs: inPools.map(({ token: of, amount }) => mint(maker, of, base, amount)) }],
      [{ from: maker, logs: inPools.map(({ token: of, amount }) => mint(maker, of, base, amount)) }],
    ])
    const { driver, settle } = followersOf(store, {
      callContracts: silentCalls,
      only: ['tokens', 'exchange', 'fee_pools'],
    })
    await settle()
    expect(driver.status.map(({ problem }) => problem)).toEqual(driver.status.map(() => null))
    const numbers = async (sql: string) => {
      const { rows } = await store.postgres.pool.query<{ n: string }>(sql.replaceAll('$', `${store.schema}.`))
      return rows.map(({ n }) => BigInt(n))
    }
    expect(await numbers('SELECT amount AS n FROM $exchange_orders_current ORDER BY order_id')).toEqual(
      inOrders,
    )
    expect(await numbers('SELECT remaining AS n FROM $exchange_orders_current')).toEqual(
      inOrders.map(() => 1n),
    )
    expect(await numbers('SELECT amount AS n FROM $exchange_fills ORDER BY log_idx')).toEqual(
      inOrders.map((amount) => amount - 1n),
    )
    const asQuote = inOrders.map((amount, nth) => {
      const exact = (amount - 1n) * 100_010n
      return nth % 2 === 0 ? exact / 100_000n : (exact + 99_999n) / 100_000n
    })
    expect(await numbers('SELECT quote_amount AS n FROM $exchange_fills ORDER BY log_idx')).toEqual(asQuote)
    const isAsk = (nth: number) => nth % 2 === 1
    const asks = inOrders.filter((_, nth) => isAsk(nth)).length
    expect(await numbers('SELECT reserve0 AS n FROM $exchange_pairs_current WHERE reserve0 > 0')).toEqual([
      BigInt(asks),
    ])
    const pools = 'FROM $fee_pools_current WHERE reserve_validator > 0 ORDER BY user_token'
    expect(await numbers(`SELECT reserve_validator AS n ${pools}`)).toEqual(
      inPools.map(({ amount }) => 2n * amount),
    )
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
