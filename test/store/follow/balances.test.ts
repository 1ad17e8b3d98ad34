// Goal: what everybody has is genesis and all transfers, whatever was reverted, killed or loaded at
// once on the way.
// Method: the recorded chain in a real store; expectations summed from the raw recording, and the
// recorded node's supplies.
// Invariant: I9.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { CallContracts } from '#ingest/rpc/contractCalls.ts'
import { balancesProjection } from '#store/follow/balances/balances.ts'
import { GenesisUnreadableError } from '#store/follow/balances/genesis.ts'
import { readFollower } from '#store/follow/follower.ts'
import { toHex } from '#store/sql.ts'
import { readCalls } from '../../chain/recordings.ts'
import { few, fullTest, onceDescribe, onceTest } from '../../support/breadth.ts'
import {
  type BalanceOracle,
  readBalances,
  type TokenFacts,
  transferSumsOf,
  transferTotalsOf,
} from '../support/balanceOracle.ts'
import { type ChainStore, openChainStore, recordedRuns } from '../support/chainStore.ts'
import { balanceOf, followersOf, recordedCalls, totalSupply } from '../support/followers.ts'

const recording = 'tempo-dev-2k'
const lastBlock = 122

/** The tables as the oracle tells them. */
async function storedFacts({ postgres, schema }: ChainStore): Promise<Map<string, TokenFacts>> {
  const balances = await postgres.pool.query(
    `SELECT token, holder, balance FROM ${schema}.balances WHERE balance <> 0`,
  )
  const totals = await postgres.pool.query(`SELECT * FROM ${schema}.token_totals`)
  const byToken = Map.groupBy(balances.rows, (row) => toHex(row.token))
  return new Map(
    totals.rows.map((row) => {
      const token = toHex(row.token)
      const holders = new Map<string, bigint>(
        (byToken.get(token) ?? []).map(({ holder, balance }) => [toHex(holder), BigInt(balance)]),
      )
      expect(row.holder_count, token).toBe([...holders.values()].filter((balance) => balance > 0n).length)
      expect(row.genesis_missing, token).toBe('0')
      const facts = {
        holders,
        supply: BigInt(row.total_supply),
        transferCount: row.transfer_count,
        firstAtSeconds: row.first_transfer_at && row.first_transfer_at.getTime() / 1000,
        lastAtSeconds: row.last_transfer_at && row.last_transfer_at.getTime() / 1000,
      }
      return [token, facts]
    }),
  )
}

/** The rows of old blocks, as reads take them: the last row that is not newer. */
async function storedCheckpoints({ postgres, schema }: ChainStore) {
  const rowsOf = async (table: string) =>
    (await postgres.pool.query(`SELECT * FROM ${schema}.${table} ORDER BY block_num`)).rows
  const [blocks, balances, totals] = [
    await rowsOf('checkpoints'),
    await rowsOf('balance_checkpoints'),
    await rowsOf('token_totals_history'),
  ]
  const until = (rows: typeof balances, block: number) => rows.filter((row) => row.block_num <= block)
  return {
    blocks: blocks.map((row) => row.block_num),
    sumsAt: (block: number) => {
      const last = new Map(
        until(balances, block).map((row) => [
          `${toHex(row.token)} ${toHex(row.holder)}`,
          BigInt(row.balance),
        ]),
      )
      return new Map([...last].filter(([, sum]) => sum !== 0n))
    },
    totalsAt: (block: number) =>
      new Map(
        until(totals, block).map((row) => [
          toHex(row.token),
          [row.holder_count, BigInt(row.total_supply), row.transfer_count],
        ]),
      ),
  }
}

async function nextOf({ postgres, schema }: ChainStore): Promise<number> {
  const found = await postgres.pool.query(`SELECT tip FROM ${schema}.lanes`)
  return found.rows[0].tip + 1
}

const depths = Array.from({ length: 20 }, (_, index) => index + 1)

const run = recordedRuns(recording)
let oracle: BalanceOracle
beforeAll(() => {
  oracle = readBalances(recording)
})

async function openStore() {
  const store = await openChainStore({ headFrom: 0 })
  afterAll(() => store.close())
  return store
}
async function append(store: ChainStore, from: number, to: number) {
  for (const batch of run(from, to)) await store.head.append(batch)
}
const follow = (store: ChainStore, options = {}) =>
  followersOf(store, { callContracts: recordedCalls(recording, oracle), ...options })

describe('balances', () => {
  onceTest('are genesis and all transfers, and their sums are the supplies the node answers', async () => {
    const store = await openStore()
    await append(store, 0, lastBlock)
    await follow(store).settle()
    const stored = await storedFacts(store)
    expect(stored).toEqual(oracle.at(lastBlock))
    const answers = readCalls(recording)
    let compared = 0
    for (const [token, { supply }] of stored) {
      const answer = answers[`${token}:${totalSupply}`]
      if (typeof answer !== 'string' || answer === '0x') continue
      expect(supply, token).toBe(BigInt(answer))
      compared++
    }
    expect(compared).toBeGreaterThan(30)
  })

  fullTest('are the same loaded at once, or block by block from the first on', async () => {
    const [atOnce, stepwise] = [await openStore(), await openStore()]
    await append(atOnce, 0, lastBlock)
    await atOnce.head.finalize(lastBlock - 3)
    await follow(atOnce).settle()
    const { settle } = follow(stepwise)
    for (let block = 0; block <= lastBlock; block += 7) {
      const to = Math.min(lastBlock, block + 6)
      await append(stepwise, block, to)
      await stepwise.head.finalize(Math.max(0, to - 10))
      await settle()
      expect(await storedFacts(stepwise), `${to}`).toEqual(oracle.at(to))
    }
    expect(await storedFacts(atOnce)).toEqual(oracle.at(lastBlock))
  })

  test('follow reverts of any depth up to 20', async () => {
    const store = await openStore()
    await append(store, 0, lastBlock)
    await store.head.finalize(lastBlock - 21)
    const { settle } = follow(store)
    await settle()
    for (const depth of few(depths, 4)) {
      const tip = lastBlock - depth
      await store.head.revert(await store.head.refAt(tip))
      // Every other time the chain has grown again before the balances look.
      if (depth % 2 === 1) {
        await settle()
        expect(await storedFacts(store), `${depth}`).toEqual(oracle.at(tip))
      }
      await append(store, tip + 1, lastBlock)
      await settle()
      expect(await storedFacts(store), `${depth}`).toEqual(oracle.at(lastBlock))
    }
  })

  onceTest('a revert down to the first blocks leaves what genesis gave', async () => {
    const store = await openStore()
    await append(store, 0, 40)
    const { settle } = follow(store)
    await settle()
    await store.head.revert(await store.head.refAt(0))
    await settle()
    expect(await storedFacts(store)).toEqual(oracle.at(0))
  })

  onceTest('a writer that dies before its commit loses nothing and doubles nothing', async () => {
    const store = await openStore()
    await append(store, 0, lastBlock)
    await store.head.finalize(90)
    for (const place of ['postgres.follower.rows', 'postgres.follower.commit'])
      for (const nth of [1, 2, 3, 4]) {
        let visits = 0
        const failpoint = (name: string) => {
          if (name === place && ++visits === nth) throw new Error('killed')
        }
        await follow(store, { failpoint })
          .settle()
          .catch(() => {})
      }
    await follow(store).settle()
    expect(await storedFacts(store)).toEqual(oracle.at(lastBlock))
  })
})

describe('changes and checkpoints of balances', () => {
  onceTest(
    'keep the changes of blocks that may be reverted, and of no more than the newest final ones',
    async () => {
      const store = await openStore()
      await append(store, 0, lastBlock)
      await store.head.finalize(100)
      await follow(store).settle()
      const { rows } = await store.postgres.pool.query(
        `SELECT block_num, token, holder, delta FROM ${store.schema}.balance_changes WHERE block_num = $1`,
        [lastBlock],
      )
      const before = oracle.at(lastBlock - 1)
      for (const { token, holder, delta } of rows) {
        const of = (facts: typeof before) => facts.get(toHex(token))?.holders.get(toHex(holder)) ?? 0n
        expect(BigInt(delta)).toBe(of(oracle.at(lastBlock)) - of(before))
      }
      expect(rows.length).toBeGreaterThan(0)
    },
  )

  fullTest('checkpoints are sums of transfers, written at once or after every kind of revert', async () => {
    const [atOnce, stepwise] = [await openStore(), await openStore()]
    await append(atOnce, 0, lastBlock)
    await atOnce.head.finalize(lastBlock - 3)
    await follow(atOnce, { checkpointBlocks: 8 }).settle()
    const { settle } = follow(stepwise, { checkpointBlocks: 8 })
    // Back into the span before, to its last block and to its first, and within one; the last time
    // unseen.
    for (const [to, back] of [
      [29, 20],
      [40, 31],
      [60, 55],
      [70, 69],
      [lastBlock, 111],
    ] as const) {
      await append(stepwise, await nextOf(stepwise), to)
      await settle()
      await stepwise.head.revert(await stepwise.head.refAt(back))
      if (to !== lastBlock) await settle()
    }
    await append(stepwise, await nextOf(stepwise), lastBlock)
    await settle()
    for (const store of [atOnce, stepwise]) {
      const stored = await storedCheckpoints(store)
      expect(stored.blocks).toEqual(Array.from({ length: 15 }, (_, index) => index * 8 + 7))
      for (const block of stored.blocks) expect(stored.sumsAt(block)).toEqual(transferSumsOf(oracle, block))
      for (let block = 0; block <= 119; block++)
        expect(stored.totalsAt(block), `${block}`).toEqual(transferTotalsOf(oracle, block))
    }
  })
})

onceDescribe('balances of genesis', () => {
  test('wait for a node that tells what genesis gave, and take no silence for nothing', async () => {
    const store = await openStore()
    await append(store, 0, 30)
    const honest = recordedCalls(recording, oracle)
    for (const silent of [totalSupply, balanceOf]) {
      const refusing: CallContracts = async (calls, at, signal) =>
        (await honest(calls, at, signal)).map((answer, index) =>
          calls[index]?.data.startsWith(silent) ? null : answer,
        )
      await expect(follow(store, { callContracts: refusing }).settle()).rejects.toThrow(
        GenesisUnreadableError,
      )
      expect(await readFollower(store.postgres.pool, store.schema, balancesProjection)).toMatchObject({
        completed: false,
      })
    }
    await follow(store).settle()
    expect(await storedFacts(store)).toEqual(oracle.at(30))
  })

  test('a genesis holder nobody knows of is told, not guessed', async () => {
    const store = await openStore()
    await append(store, 0, 30)
    const honest = recordedCalls(recording, oracle)
    const [token = ''] = oracle.at(0).keys()
    await follow(store, {
      callContracts: async (...[calls, at, signal]: Parameters<typeof honest>) => {
        const told = await honest(calls, at, signal)
        // A thousand more than anybody who can be asked has.
        return told.map((answer, index) =>
          calls[index]?.to === token && calls[index]?.data === totalSupply && answer
            ? `0x${(BigInt(answer) + 1_000n).toString(16).padStart(64, '0')}`
            : answer,
        )
      },
    }).settle()
    const { rows } = await store.postgres.pool.query(
      `SELECT token, genesis_missing, total_supply FROM ${store.schema}.token_totals WHERE genesis_missing <> 0`,
    )
    expect(rows.map((row) => [toHex(row.token), row.genesis_missing])).toEqual([[token, '1000']])
    expect(BigInt(rows[0].total_supply)).toBe((oracle.at(30).get(token)?.supply ?? 0n) + 1_000n)
  })
})
