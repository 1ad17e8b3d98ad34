// Goal: after a rewind both stores hold the chain up to the block asked for and nothing else, and
// going on from there gives what was held before; what is final goes only when it is said so.
// Method: the recorded chain as history and head lane in both engines; rewound by the real
// function, then continued.
// Invariant: I5.
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { PARTITION_BLOCKS } from '#store/clickhouse/lane.ts'
import { readCommits } from '#store/ledger/commits.ts'
import { readCoverage, readLane } from '#store/ledger/lane.ts'
import { RewindBelowFinalizedError, rewindLedger } from '#store/maintain/rewind.ts'
import type { EncodedBatch } from '#transform/batch.ts'
import { few, fullTest } from '../../support/breadth.ts'
import { type ChainStore, openChainStore, recordedBatches, writeAll } from '../support/chainStore.ts'
import { expectInClickHouse, expectInPostgres } from '../support/expectHeld.ts'
import { followersOf, silentCalls } from '../support/followers.ts'

const HISTORY_END = 59
const FINALIZED = 89
const TIP = 99

describe('a rewind', () => {
  let batches: EncodedBatch[]
  beforeAll(() => {
    batches = recordedBatches('tempo-dev-2k', 5)
  })

  const upTo = (block: number) => batches.filter((batch) => batch.range.to <= block)
  const between = (from: number, to: number) => upTo(to).filter((batch) => batch.range.from >= from)

  /** History up to 59 in a chunk, the head lane from 60 to 99; ClickHouse up to 89. */
  async function openFilled(): Promise<ChainStore> {
    const store = await openChainStore({ headFrom: HISTORY_END + 1 })
    onTestFinished(() => store.close())
    for (const batch of between(HISTORY_END + 1, TIP)) await store.head.append(batch)
    await store.head.finalize(FINALIZED)
    await fillHistory(store)
    await writeAll(store)
    await expectInPostgres(store, upTo(TIP))
    await expectInClickHouse(store, upTo(FINALIZED))
    return store
  }

  async function fillHistory(store: ChainStore): Promise<void> {
    const [chunk] = await store.history.openChunks({ from: 0, to: HISTORY_END })
    if (!chunk) throw new Error('no chunk was opened')
    for (const batch of upTo(HISTORY_END)) await store.history.appendToChunk(chunk, batch)
    await store.history.attachChunk({ ...chunk, tip: HISTORY_END })
  }

  const rewind = ({ postgres, schema, fence }: ChainStore, to: number, belowFinalized = false) =>
    rewindLedger({
      postgres,
      schema,
      fence,
      startBlock: 0,
      partitionBlocks: PARTITION_BLOCKS,
      to,
      belowFinalized,
    })

  /**
   * The next process of the same chain: it takes the lease, compares ClickHouse with the journal,
   * and goes on.
   */
  async function goOn(store: ChainStore, from: number): Promise<ChainStore> {
    const next = await openChainStore({ headFrom: 999, beside: store, fence: store.fence + 1n })
    onTestFinished(() => next.close())
    for (const batch of between(from, TIP)) await next.head.append(batch)
    await next.head.finalize(FINALIZED)
    await writeAll(next)
    await expectInPostgres(next, upTo(TIP))
    await expectInClickHouse(next, upTo(FINALIZED))
    return next
  }

  test('above the finalized block is a revert that followers can follow; ClickHouse is left alone', async () => {
    const store = await openFilled()
    const followers = followersOf(store, { callContracts: silentCalls })
    await followers.settle()
    const { seq } = (await readLane(store.postgres.pool, store.schema)) ?? { seq: 0 }
    expect(await rewind(store, 94)).toEqual({ from: 95, to: TIP })
    await expectInPostgres(store, upTo(94))
    expect(await readLane(store.postgres.pool, store.schema)).toMatchObject({ tip: 94, finalized: FINALIZED })
    const [commit] = await readCommits(store.postgres.pool, store.schema, seq)
    expect(commit).toMatchObject({ kind: 'revert', range: { from: 95, to: TIP } })
    await followers.settle()
    expect(await readCoverage(store.postgres.pool, store.schema, 'postgres', 'tokens')).toEqual([
      { from: 0, to: 94 },
    ])
    await expectInClickHouse(store, upTo(FINALIZED))
    await goOn(store, 95)
  })

  fullTest('to the tip, or above it, changes nothing', async () => {
    const store = await openFilled()
    expect(await rewind(store, TIP)).toBeNull()
    expect(await rewind(store, 5_000)).toBeNull()
    await goOn(store, TIP + 1)
  })

  test('below the finalized block is refused, and nothing is deleted', async () => {
    const store = await openFilled()
    await expect(rewind(store, FINALIZED - 1)).rejects.toThrow(RewindBelowFinalizedError)
    await expect(rewind(store, FINALIZED - 1)).rejects.toThrow(/finalized block 89.*--below-finalized/)
    await goOn(store, TIP + 1)
  })

  const depths: [where: string, to: number][] = [
    ['inside the head lane', 74],
    ['to the last block of history', HISTORY_END],
    ['into history', 29],
    ['to block 4', 4],
  ]
  test.each(few(depths, 1))('below the finalized block, when told to, %s', async (_where, to) => {
    const store = await openFilled()
    await followersOf(store, { callContracts: silentCalls }).settle()
    expect(await rewind(store, to, true)).toEqual({ from: to + 1, to: TIP })
    await expectInPostgres(store, upTo(to))
    const { pool } = store.postgres
    expect(await readLane(pool, store.schema)).toMatchObject({ tip: to, finalized: to })
    expect(await readCoverage(pool, store.schema, 'postgres')).toEqual([{ from: 0, to }])
    const next = await openChainStore({ headFrom: 999, beside: store, fence: store.fence + 1n })
    onTestFinished(() => next.close())
    await writeAll(next)
    await expectInClickHouse(next, upTo(to))
    const last = await goOn(next, to + 1)
    await followersOf(last, { callContracts: silentCalls, fence: last.fence }).settle()
    expect(await readCoverage(pool, store.schema, 'postgres', 'tokens')).toEqual([{ from: 0, to: TIP }])
  })

  fullTest('a chunk that reaches above the block goes as well, and what ClickHouse had of it', async () => {
    const store = await openChainStore({ headFrom: HISTORY_END + 1 })
    onTestFinished(() => store.close())
    for (const batch of between(HISTORY_END + 1, TIP)) await store.head.append(batch)
    await store.head.finalize(FINALIZED)
    const [chunk] = await store.history.openChunks({ from: 0, to: HISTORY_END })
    if (!chunk) throw new Error('no chunk was opened')
    for (const batch of upTo(34)) await store.history.appendToChunk(chunk, batch)
    await writeAll(store)
    await expectInClickHouse(store, [...upTo(34), ...between(HISTORY_END + 1, FINALIZED)])
    await rewind(store, 49, true)
    const next = await openChainStore({ headFrom: 999, beside: store, fence: 2n })
    onTestFinished(() => next.close())
    await writeAll(next)
    await expectInPostgres(next, [])
    await expectInClickHouse(next, [])
    // The lane goes on above the block; below it everything is history again.
    for (const batch of between(50, TIP)) await next.head.append(batch)
  })
})
