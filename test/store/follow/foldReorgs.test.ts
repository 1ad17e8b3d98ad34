// Goal: what the folds and the balances hold is what the chain says that stands, whenever other
// blocks took the place of some: before a fold looks, between two folds, and within a step of one.
// Method: two chains written by hand that part; after each statement of the followers the one is
// taken back and the other one grows instead. Expectations are the rows of a store that never
// held another chain.
// Invariant: I3.
import type { Hex } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { BlockFollower, FollowerTransaction } from '#store/follow/follower.ts'
import { createFollowers } from '#store/follow/followers.ts'
import type { EncodedBatch } from '#transform/batch.ts'
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
  sent,
  taker,
  token,
} from '../../api/support/writtenBook.ts'
import { batchesOf, type WrittenTransaction, writtenChain } from '../../api/support/writtenChain.ts'
import { chosen, fee, mint } from '../../api/support/writtenFees.ts'
import type { RecordedBlock } from '../../chain/recordings.ts'
import { few } from '../../support/breadth.ts'
import { type ChainStore, openChainStore } from '../support/chainStore.ts'
import { followersOf, recordedNode } from '../support/followers.ts'

const recording = 'tempo-dev-2k'
const [alpha, beta] = [genesisToken(1), genesisToken(2)]
const base: Hex = `0x20c000000000000000000000${'b'.repeat(16)}`
/** Made by both chains, of the same address and another quote token. */
const late: Hex = `0x20c000000000000000000000${'d'.repeat(16)}`
const validator: Hex = `0x${'e'.repeat(40)}`
const cancelled = (orderId: bigint) => logOf(exchange, events.cancelled, { orderId })
const requoted = (one: Hex, newQuoteToken: Hex) =>
  logOf(one, events.quoteTokenUpdate, { updater: maker, newQuoteToken })
const shown = (one: Hex, newLogoURI: string) =>
  logOf(one, 'event LogoURIUpdated(address indexed updater, string newLogoURI)', {
    updater: maker,
    newLogoURI,
  })
const from = (sender: Hex, ...logs: WrittenTransaction['logs']): WrittenTransaction => ({
  from: sender,
  logs,
})

const both: readonly (readonly WrittenTransaction[])[] = [
  [
    from(maker, token(base, 'Base', 'BASE', pathUsd), pair(base, pathUsd), shown(base, 'https://logo')),
    from(maker, place(1n, base, 1_000n, true, 10), place(2n, base, 2_000n, false, 20)),
    from(maker, mint(maker, alpha, pathUsd, 100_000n)),
  ],
  [from(taker, sent(base), fill(1n, 333n, true), fee(taker, alpha, 1_000n))],
]
const parted = both.length
const chains: readonly (readonly (readonly WrittenTransaction[])[])[] = [
  [
    [
      from(maker, token(late, 'Late', 'LATE', pathUsd), pair(late, pathUsd), place(3n, late, 500n, false, 0)),
      from(maker, requoted(base, alpha), pair(base, alpha), shown(base, ''), shown(alpha, 'https://a')),
      from(maker, mint(maker, beta, pathUsd, 5_000n), fee(maker, alpha, 77n)),
    ],
    [
      from(maker, place(4n, base, 700n, true, -5)),
      from(taker, sent(pathUsd), fill(2n, 100n, true), fee(taker, beta, 1_001n)),
      from(validator, chosen(validator, alpha)),
    ],
    [from(maker, cancelled(1n)), from(taker, sent(pathUsd), fill(3n, 500n, false), fee(taker, pathUsd, 9n))],
  ],
  [
    [
      from(maker, place(3n, base, 50n, true, 10)),
      from(taker, sent(base), sent(base), fill(1n, 667n, false), fee(taker, alpha, 2_002n)),
    ],
    [
      from(
        maker,
        token(late, 'Later', 'LATE', alpha),
        shown(late, 'https://late'),
        pair(late, alpha),
        place(4n, late, 300n, true, 0),
      ),
      from(maker, mint(maker, alpha, beta, 9_000n), mint(maker, alpha, pathUsd, 1n)),
    ],
    [
      from(maker, cancelled(2n)),
      from(taker, sent(late), fill(4n, 300n, false), fee(taker, alpha, 5n)),
      from(validator, chosen(validator, beta)),
    ],
    [from(taker, sent(base), fill(3n, 1n, true), fee(taker, alpha, 3_333n))],
  ],
]

const followed = ['tokens', 'fee_pools', 'exchange', 'balances']

/** Blocks of the validator whose choice is written. */
const minedByIt = (chain: readonly RecordedBlock[]): RecordedBlock[] =>
  chain.map(({ block, receipts }) => ({ block: { ...Object(block), miner: validator }, receipts }))

describe('folds of a chain that others blocks take the place of', () => {
  let batches: readonly (readonly EncodedBatch[])[]
  let expected: readonly unknown[]
  const callContracts = recordedNode(recording)

  beforeAll(async () => {
    batches = chains.map((blocks) => batchesOf(minedByIt(writtenChain(recording, [...both, ...blocks]))))
    expected = await Promise.all(
      batches.map(async (chain) => {
        const store = await openStore()
        for (const batch of chain) await store.head.append(batch)
        await followersOf(store, { callContracts, followers: followersThat() }).settle()
        return rowsOf(store)
      }),
    )
    expect(expected[0]).not.toEqual(expected[1])
  })

  async function openStore(): Promise<ChainStore> {
    const store = await openChainStore({ headFrom: 0 })
    afterAll(() => store.close())
    return store
  }

  /** Everything that is moved by blocks, without what only a node tells. */
  function followersThat(visit: (follower: string) => Promise<void> = async () => {}): BlockFollower[] {
    const seen = (name: string, { client, ...transaction }: FollowerTransaction): FollowerTransaction => {
      const query = async (...statement: Parameters<typeof client.query>) => {
        await visit(name)
        return client.query(...statement)
      }
      return { ...transaction, client: Object.create(client, { query: { value: query } }) }
    }
    return createFollowers({ kind: 'tempo', chainId: 0, callContracts, hotBlocks: 4_096 })
      .filter(({ name }) => followed.includes(name))
      .map(({ complete: _, ...follower }) => ({
        ...follower,
        apply: (transaction, range) => follower.apply(seen(follower.name, transaction), range),
        revert: (transaction, block) => follower.revert(seen(follower.name, transaction), block),
      }))
  }

  async function rowsOf({ postgres, schema }: ChainStore): Promise<unknown> {
    const rows = async (table: string) => {
      const found = await postgres.pool.query(
        `SELECT array_agg(row ORDER BY row) AS rows FROM (SELECT to_jsonb(t) AS row FROM ${schema}.${table} AS t) AS each_row
         WHERE row -> 'balance' IS DISTINCT FROM '0'`,
      )
      return [table, found.rows[0].rows]
    }
    const tables = await postgres.pool.query(
      `SELECT tablename FROM pg_tables WHERE schemaname = $1 AND tablename ~ $2 ORDER BY tablename`,
      [schema, '^(tokens|fee_pools|fee_validators|fee_pool_mints|exchange|balances|balance_changes|token_)'],
    )
    return Object.fromEntries(await Promise.all(tables.rows.map(({ tablename }) => rows(tablename))))
  }

  /** Takes back the blocks of one chain and appends those of the other. */
  async function replace(store: ChainStore, by: number): Promise<void> {
    await store.head.revert(await store.head.refAt(parted))
    for (const batch of batches[by]?.slice(parted + 1) ?? []) await store.head.append(batch)
  }

  /** Resolves when something in the store's database waits for a lock. */
  async function lockWaitedFor({ postgres }: ChainStore): Promise<void> {
    for (;;) {
      const { rowCount } = await postgres.pool.query(
        `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      )
      if (rowCount !== 0) return
    }
  }

  test('other blocks in the place of some are taken in, at whatever statement they came', async () => {
    const store = await openStore()
    for (const batch of batches[0] ?? []) await store.head.append(batch)
    let current = 0
    let reorg = Promise.resolve()
    const begin = () => {
      current = 1 - current
      reorg = replace(store, current)
      return reorg
    }
    const visits = new Map<string, number>()
    let at: readonly [follower: string, statement: number] = ['', 0]
    const followers = followersThat(async (name) => {
      const nth = (visits.get(name) ?? 0) + 1
      visits.set(name, nth)
      if (name === at[0] && nth === at[1]) await Promise.race([begin(), lockWaitedFor(store)])
    })
    const { settle } = followersOf(store, { callContracts, followers })
    const expectCurrent = async (when: string) => expect(await rowsOf(store), when).toEqual(expected[current])
    await settle()
    await expectCurrent('first')
    await store.head.revert(await store.head.refAt(parted))
    await settle()
    visits.clear()
    await begin()
    await settle()
    await expectCurrent('with a gap that the folds saw')
    visits.clear()
    await begin()
    await settle()
    await expectCurrent('without a gap')
    const places = [...visits].flatMap(([name, count]) =>
      Array.from({ length: count }, (_, index) => [name, index + 1] as const),
    )
    expect([...visits.keys()].sort()).toEqual(followed.toSorted())
    for (const place of few(places, 8)) {
      await begin()
      visits.clear()
      const before = current
      at = place
      await settle()
      expect(current, String(place)).not.toBe(before)
      await reorg
      await settle()
      await expectCurrent(`at statement ${place[1]} of ${place[0]}`)
    }
  })
})
