// Goal: orders, levels, pairs, fills, fee pools and their mints are those of the branch that stands,
// where other blocks took the place of theirs: taken back step by step, or regrown before a fold
// looked.
// Method: two branches written by hand; a store that saw both against one that saw the last alone.
import type { Hex } from 'viem'
import { afterAll, expect, test } from 'vitest'
import { createFollowers } from '#store/follow/followers.ts'
import {
  events,
  exchange,
  fill,
  genesisToken,
  logOf,
  maker,
  pair,
  pathUsd,
  place,
  taker,
  token,
} from '../api/support/writtenBook.ts'
import { batchesOf, type WrittenTransaction, writtenChain } from '../api/support/writtenChain.ts'
import { describeWithShared } from '../support/shared.ts'
import { type ChainStore, openChainStore } from './support/chainStore.ts'
import { followersOf, recordedAnswers } from './support/followers.ts'

const recording = 'tempo-dev-2k'
const alpha = genesisToken(1)
const base: Hex = `0x20c000000000000000000000${'b'.repeat(16)}`
const feeManager: Hex = '0xfeec000000000000000000000000000000000000'
const minted = (amountValidatorToken: bigint) =>
  logOf(
    feeManager,
    'event Mint(address sender, address indexed to, address indexed userToken, address indexed validatorToken, uint256 amountValidatorToken, uint256 liquidity)',
    {
      sender: maker,
      to: maker,
      userToken: base,
      validatorToken: pathUsd,
      amountValidatorToken,
      liquidity: 1n,
    },
  )
const cancelled = (orderId: bigint) => logOf(exchange, events.cancelled, { orderId })

type Block = readonly WrittenTransaction[]
const common: readonly Block[] = [
  [{ from: maker, logs: [token(base, 'Base', 'BASE', pathUsd), pair(base, pathUsd), minted(1_000n)] }],
  [{ from: maker, logs: [place(1n, base, 1_000n, true, 10), place(2n, base, 2_000n, false, 20)] }],
]
/** Fills an order up, cancels the other, adds a pair and liquidity. */
const left: readonly Block[] = [
  [{ from: taker, logs: [fill(1n, 400n, true)] }],
  [
    { from: taker, logs: [fill(1n, 600n, false), minted(5n)] },
    { from: maker, logs: [cancelled(2n)] },
  ],
  [{ from: maker, logs: [pair(base, alpha), place(3n, base, 7n, true, 0)] }],
]
/** The same blocks otherwise: the other order is filled, the first one is cancelled. */
const right: readonly Block[] = [
  [
    { from: taker, logs: [fill(2n, 300n, true)] },
    { from: taker, logs: [fill(1n, 1n, true)] },
  ],
  [{ from: maker, logs: [cancelled(1n)] }],
  [
    { from: maker, logs: [place(3n, base, 9n, false, -10)] },
    { from: maker, logs: [minted(77n)] },
    { from: taker, logs: [fill(3n, 9n, false)] },
  ],
  [{ from: maker, logs: [place(4n, base, 50n, true, 30)] }],
]

const tables = {
  exchange_orders_history: 'order_id, block_num',
  exchange_orders_current: 'order_id',
  exchange_levels_history: 'level, block_num',
  exchange_levels_current: 'level',
  exchange_pairs_history: 'pair, block_num',
  exchange_pairs_current: 'pair',
  exchange_fills: 'block_num, log_idx',
  fee_pools_history: 'pool, block_num',
  fee_pools_current: 'pool',
  fee_pool_mints: 'block_num, log_idx',
}

describeWithShared('folds over two branches', () => {
  const [leftChain, rightChain] = [left, right].map((blocks) =>
    batchesOf(writtenChain(recording, [...common, ...blocks])),
  )
  const answers = recordedAnswers(recording)
  const callContracts = async (calls: readonly { to: Hex; data: Hex }[]) =>
    calls.map(({ to, data }): Hex | null => {
      const answer = answers[`${to}:${data.slice(0, 10)}`]
      return typeof answer === 'string' ? (answer as Hex) : null
    })

  async function open() {
    const store = await openChainStore({ headFrom: 0 })
    afterAll(() => store.close())
    const followers = createFollowers({ kind: 'tempo', callContracts }).filter(({ name }) =>
      ['tokens', 'exchange', 'fee_pools'].includes(name),
    )
    return { store, settle: followersOf(store, { callContracts, followers }).settle }
  }
  async function append({ head }: ChainStore, batches: typeof leftChain, from: number) {
    for (const batch of batches?.slice(from) ?? expect.fail()) await head.append(batch)
  }
  async function held({ postgres, schema }: ChainStore) {
    const rows = Object.entries(tables).map(async ([table, order]) => {
      const found = await postgres.pool.query(`SELECT * FROM ${schema}.${table} ORDER BY ${order}`)
      return [table, found.rows] as const
    })
    return Object.fromEntries(await Promise.all(rows))
  }

  test('are those of the branch that stands', async () => {
    const alone = await open()
    await append(alone.store, rightChain, 0)
    await alone.settle()
    const expected = await held(alone.store)
    for (const table of Object.keys(tables)) expect(expected[table]?.length, table).toBeGreaterThan(0)
    for (const seesTheGap of [true, false]) {
      const { store, settle } = await open()
      await append(store, leftChain, 0)
      await settle()
      expect(await held(store)).not.toEqual(expected)
      await store.head.revert(await store.head.refAt(common.length))
      if (seesTheGap) await settle()
      await append(store, rightChain, common.length + 1)
      await settle()
      expect(await held(store), `the fold saw the gap: ${seesTheGap}`).toEqual(expected)
    }
  })
})
