// Goal: the fee pools are those of genesis and those somebody added liquidity to, with the mints
// and reserves that the chain's events and fees make, whatever was reverted on the way.
// Method: the recorded chain in a real store; expectations by viem over the raw recording, fee by
// fee.
import type { Hex } from 'viem'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import { MillraceError } from '#errors.ts'
import { poolAudit } from '#store/follow/feePools/auditPools.ts'
import { toHex } from '#store/sql.ts'
import { batchesOf } from '../../api/support/writtenChain.ts'
import { readBalances } from '../support/balanceOracle.ts'
import { openChainStore, recordedBatches } from '../support/chainStore.ts'
import { feeManager, idOf } from '../support/feeRouteOracle.ts'
import { followersOf, genesisReserve, recordedCalls } from '../support/followers.ts'
import { lastBlock, madeByTwo, poolsAt, recording, storedPools } from './support/feePoolOracle.ts'

/** A node that went away. */
class NodeLostError extends MillraceError {
  readonly code = 'lost'
  readonly remedy = 'retry'
}

describe('fee pools', () => {
  test('are those of genesis and those of the events, with what fees made of them, after reverts too', async () => {
    const store = await openChainStore({ headFrom: 0 })
    afterAll(() => store.close())
    const batches = recordedBatches(recording, 1)
    for (const batch of batches) await store.head.append(batch)
    const { settle } = followersOf(store, {
      callContracts: recordedCalls(recording, readBalances(recording)),
    })
    await settle()
    const { pools, feeSwaps } = poolsAt(lastBlock)
    expect(pools.size).toBeGreaterThan(12)
    expect(feeSwaps).toBeGreaterThan(500)
    expect(await storedPools(store)).toEqual(pools)
    const tip = Math.max(...[...pools.values()].map(({ created }) => created)) - 1
    await store.head.revert(await store.head.refAt(tip))
    await settle()
    const before = poolsAt(tip).pools
    expect(await storedPools(store)).toEqual(before)
    expect(before.size).toBeLessThan(pools.size)
  })

  test('are those that each validator chose at that block, of two that make blocks in turn', async () => {
    const store = await openChainStore({ headFrom: 0 })
    onTestFinished(() => store.close())
    const chain = madeByTwo()
    for (const batch of batchesOf(chain)) await store.head.append(batch)
    await followersOf(store, {
      callContracts: recordedCalls(recording, readBalances(recording)),
      only: ['tokens', 'fee_pools'],
    }).settle()
    const { pools, feeSwaps } = poolsAt(lastBlock, chain)
    expect(feeSwaps).toBeGreaterThan(500)
    // The result if every block's validator took the first one's token.
    expect(pools).not.toEqual(poolsAt(lastBlock).pools)
    expect(await storedPools(store)).toEqual(pools)
  })
})

describe('fee pools beside what nodes tell', () => {
  test('are compared with the node: one that differs is marked, a node that does not tell holds nothing up', async () => {
    const store = await openChainStore({ headFrom: 0 })
    onTestFinished(() => store.close())
    const [first, second] = recordedBatches(recording, 10)
    await store.head.append(first ?? expect.fail())
    const honest = recordedCalls(recording, readBalances(recording))
    let asked = 0
    const told = followersOf(store, {
      callContracts: async (calls, at, signal) => {
        const [call] = calls
        if (call?.to !== feeManager || at === 'latest' || at === (await store.head.refAt(0))?.hash)
          return honest(calls, at, signal)
        asked += 1
        // One unit more than genesis gave, of every token.
        const word = (genesisReserve + 1n).toString(16).padStart(64, '0')
        return calls.map((): Hex => `0x${word}${word}`)
      },
    })
    await told.settle()
    const marked = async () => {
      const { rows } = await store.postgres.pool.query(
        `SELECT pool FROM ${store.schema}.fee_pool_checks WHERE differs`,
      )
      return rows.length
    }
    expect([asked, (await marked()) >= 12]).toEqual([1, true])
    const inspect = async () =>
      told.followers.find(({ name }) => name === 'fee_pools')?.inspect?.(store.postgres.pool, store.schema)
    expect(await inspect()).toMatchObject({
      strays: 0,
      differs: expect.stringMatching(/^1\d fee pools had other/),
    })
    // The next round is many blocks later.
    await store.head.append(second ?? expect.fail())
    await told.settle()
    expect(asked).toBe(1)
    const lost = followersOf(store, {
      callContracts: async (calls, at, signal) => {
        if (calls[0]?.to === feeManager) throw new NodeLostError()
        return honest(calls, at, signal)
      },
    })
    await lost.settle()
  })

  test('that final blocks changed are compared by the audit as of the last of them, and marked under its fence', async () => {
    const store = await openChainStore({ headFrom: 0 })
    onTestFinished(() => store.close())
    for (const batch of recordedBatches(recording, 10)) await store.head.append(batch)
    await followersOf(store, {
      callContracts: recordedCalls(recording, readBalances(recording)),
    }).settle()
    const [from, to] = [20, 60]
    const { pools } = poolsAt(to)
    const last = (await store.head.refAt(to)) ?? expect.fail()
    const wrong = [...pools].find(
      ([id, { reserveUser }]) => reserveUser !== poolsAt(from).pools.get(id)?.reserveUser,
    )
    const [wrongId] = wrong ?? expect.fail('no pool changed')
    const asked: unknown[] = []
    const { signal } = new AbortController()
    /** The chain's reserves after the block, but for one pool a unit more. */
    const audit = (fence: bigint, lie: bigint) =>
      poolAudit({
        ...{ postgres: store.postgres, schema: store.schema, fence },
        call: async (calls, at) => {
          asked.push(at)
          return calls.map(({ data }): Hex => {
            const [user, validator] = [data.slice(34, 74), data.slice(98)].map((hex) => `0x${hex}`)
            const id = idOf(user ?? '', validator ?? '')
            const { reserveUser = 0n, reserveValidator = 0n } = pools.get(id) ?? {}
            const words = [reserveUser + (id === wrongId ? lie : 0n), reserveValidator]
            return `0x${words.map((word) => word.toString(16).padStart(64, '0')).join('')}`
          })
        },
      })({ from, to }, signal)
    const marked = async () => {
      const { rows } = await store.postgres.pool.query(
        `SELECT pool, block_num FROM ${store.schema}.fee_pool_checks WHERE differs`,
      )
      return rows.map((row) => [toHex(row.pool), row.block_num])
    }
    await audit(1n, 0n)
    expect([asked, await marked()]).toEqual([[last.hash], []])
    await expect(audit(7n, 1n)).rejects.toMatchObject({ code: 'fenced_out' })
    expect(await marked()).toEqual([])
    await audit(1n, 1n)
    expect(await marked()).toEqual([[wrongId, to]])
    const lost = poolAudit({
      ...{ postgres: store.postgres, schema: store.schema, fence: 1n },
      call: async () => {
        throw new NodeLostError()
      },
    })
    await lost({ from, to }, signal)
  })

  test('of genesis have no reserves where no node tells of them', async () => {
    const store = await openChainStore({ headFrom: 0 })
    onTestFinished(() => store.close())
    await store.head.append(recordedBatches(recording, 10)[0] ?? expect.fail())
    const honest = recordedCalls(recording, readBalances(recording))
    const silent = followersOf(store, {
      callContracts: async (calls, at, signal) =>
        (await honest(calls, at, signal)).map((answer, index) =>
          calls[index]?.to === feeManager ? null : answer,
        ),
    })
    await silent.settle()
    const { rows } = await store.postgres.pool.query(
      `SELECT * FROM ${store.schema}.fee_pools_current WHERE created_block = 0`,
    )
    expect(rows.length).toBe(12)
    expect(rows.every((row) => row.reserve_user === null && row.reserve_validator === null)).toBe(true)
  })
})
