// Goal: what the ledger writes down about its own work stays bounded, and who needed what is gone
// begins anew.
// Method: the recorded chain in small batches through the real sinks; rows of the journal and the
// commit log are counted.
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { sealNextPartition } from '#store/clickhouse/seal.ts'
import { holdsCommitsAfter } from '#store/ledger/commits.ts'
import { readCoverage } from '#store/ledger/lane.ts'
import { PostgresHeadSink } from '#store/ledger/PostgresHeadSink.ts'
import type { EncodedBatch } from '#transform/batch.ts'
import { type ChainStore, openChainStore, recordedBatches, writeAll } from '../support/chainStore.ts'
import { ClickHouseDamage } from '../support/damage.ts'
import { expectInClickHouse } from '../support/expectHeld.ts'
import { followersOf, silentCalls } from '../support/followers.ts'

const PARTITION_BLOCKS = 20

describe('the journal of ClickHouse', () => {
  let batches: EncodedBatch[]
  beforeAll(() => {
    batches = recordedBatches('tempo-dev-2k', 5).slice(0, 9)
  })

  /** Every batch its own entry: two partitions of four batches, and one batch of the third. */
  async function openWritten(): Promise<ChainStore> {
    const store = await openChainStore({ headFrom: 0 })
    onTestFinished(() => store.close())
    for (const batch of batches) {
      await store.head.append(batch)
      await store.head.finalize(batch.range.to)
      await writeAll(store)
    }
    return store
  }

  const rangesOf = async ({ postgres, schema }: ChainStore) =>
    (await postgres.pool.query(`SELECT from_block, to_block, state FROM ${schema}.ch_batches ORDER BY 1`))
      .rows

  test('has one entry for a sealed partition, with the sums of its batches', async () => {
    const store = await openWritten()
    expect(await rangesOf(store)).toHaveLength(9)
    const first = { from: 0, to: 19 }
    const before = await store.journal.expected(first)
    const seal = () => sealNextPartition({ ...store, partitionBlocks: PARTITION_BLOCKS })
    expect([await seal(), await seal(), await seal()]).toEqual([
      { partition: 0, agreed: true },
      { partition: 1, agreed: true },
      null,
    ])
    expect(await rangesOf(store)).toEqual([
      { from_block: 0, to_block: 19, state: 'written' },
      { from_block: 20, to_block: 39, state: 'written' },
      { from_block: 40, to_block: 44, state: 'written' },
    ])
    expect(await store.journal.expected(first)).toEqual(before)
  })

  test('still tells what ClickHouse lost of a sealed partition', async () => {
    const store = await openWritten()
    await sealNextPartition({ ...store, partitionBlocks: PARTITION_BLOCKS })
    await new ClickHouseDamage(store).drop('logs', 9)
    const next = await openChainStore({ headFrom: 0, beside: store, fence: 2n, cacheBytes: 0 })
    onTestFinished(() => next.close())
    await writeAll(next)
    await expectInClickHouse(next, batches)
  })

  test('keeps the batches of a partition that does not hold what was sent', async () => {
    const store = await openWritten()
    await new ClickHouseDamage(store).drop('logs', 9)
    const sealed = await sealNextPartition({ ...store, partitionBlocks: PARTITION_BLOCKS })
    expect(sealed).toEqual({ partition: 0, agreed: false })
    expect(await rangesOf(store)).toHaveLength(9)
  })
})

describe('the commit log', () => {
  const KEPT = 10
  let batches: EncodedBatch[]
  beforeAll(() => {
    batches = recordedBatches('tempo-dev-2k', 1)
  })

  async function open() {
    const store = await openChainStore({ headFrom: 0 })
    onTestFinished(() => store.close())
    const { postgres, schema, fence } = store
    const listener = { appended: async () => {}, reverted: () => {}, withdraw: async () => {} }
    const head = new PostgresHeadSink({
      postgres,
      schema,
      fence,
      listener,
      failpoint: () => {},
      commitsKept: KEPT,
    })
    const append = async (from: number, to: number) => {
      for (const batch of batches.slice(from, to + 1)) await head.append(batch)
    }
    return { store, head, append }
  }

  test('holds the newest commits only', async () => {
    const { store, append } = await open()
    await append(0, 59)
    const { rows } = await store.postgres.pool.query<{ low: number; high: number }>(
      `SELECT min(seq) AS low, max(seq) AS high FROM ${store.schema}.commits`,
    )
    expect(rows).toEqual([{ low: 51, high: 60 }])
    expect(await holdsCommitsAfter(store.postgres.pool, store.schema, 50)).toBe(true)
    expect(await holdsCommitsAfter(store.postgres.pool, store.schema, 49)).toBe(false)
  })

  test('that has forgotten where a follower stood makes it begin anew, though blocks were taken back meanwhile', async () => {
    const { store, head, append } = await open()
    await append(0, 39)
    await followersOf(store, { callContracts: silentCalls }).settle()
    await head.revert(await head.refAt(29))
    await append(30, 79)
    await followersOf(store, { callContracts: silentCalls }).settle()
    const { pool } = store.postgres
    expect(await readCoverage(pool, store.schema, 'postgres', 'tokens')).toEqual([{ from: 0, to: 79 }])
    const tokens = async (of: ChainStore) =>
      (
        await of.postgres.pool.query(
          `SELECT * FROM ${of.schema}.tokens_history ORDER BY token, block_num, log_idx`,
        )
      ).rows
    const plain = await openChainStore({ headFrom: 0 })
    onTestFinished(() => plain.close())
    for (const batch of batches.slice(0, 80)) await plain.head.append(batch)
    await followersOf(plain, { callContracts: silentCalls }).settle()
    expect(await tokens(store)).toEqual(await tokens(plain))
  })
})
