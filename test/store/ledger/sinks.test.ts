// Goal: what was appended is there once, in both stores, equal byte for byte; what was reverted is
// nowhere.
// Method: the recorded chain through the real sinks on the real engines; counts and digests per
// block come from the encoder and are recomputed by each engine in SQL.
// Invariant: I3.
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { readCommits } from '#store/ledger/commits.ts'
import { readCoverage } from '#store/ledger/lane.ts'
import type { EncodedBatch } from '#transform/batch.ts'
import { openChainStore, recordedBatches, writeAll } from '../support/chainStore.ts'
import { expectInClickHouse, expectInPostgres } from '../support/expectHeld.ts'

const recording = 'tempo-dev-2k'

describe('sinks', () => {
  let batches: EncodedBatch[]
  beforeAll(() => {
    batches = recordedBatches(recording, 10)
  })

  test('the head lane holds what was appended, in both stores, block by block', async () => {
    const store = await openChainStore({ headFrom: 0 })
    afterAll(() => store.close())
    for (const batch of batches) await store.head.append(batch)
    const last = batches.at(-1)?.refs.at(-1)
    expect(await store.head.tip()).toEqual(last)
    await store.head.finalize(last?.number ?? 0)
    await writeAll(store)
    const range = { from: 0, to: last?.number ?? 0 }
    await expectInPostgres(store, batches)
    await expectInClickHouse(store, batches)
    expect(await readCoverage(store.postgres.pool, store.schema, 'postgres')).toEqual([range])
    expect(await readCoverage(store.postgres.pool, store.schema, 'clickhouse')).toEqual([range])
    const commits = await readCommits(store.postgres.pool, store.schema, 0)
    expect(commits.map(({ seq }) => seq)).toEqual(batches.map((_, index) => index + 1))
  })

  test('a revert leaves nothing of the orphaned blocks, and the same blocks can come again', async () => {
    const store = await openChainStore({ headFrom: 0 })
    onTestFinished(() => store.close())
    for (const batch of batches) await store.head.append(batch)
    const fork = await store.head.refAt(59)
    await store.head.revert(fork)
    expect(await store.head.tip()).toEqual(fork)
    await expectInPostgres(store, batches.slice(0, 6))
    for (const batch of batches.slice(6)) await store.head.append(batch)
    expect(await store.head.tip()).toEqual(batches.at(-1)?.refs.at(-1))
  })

  test('a revert below the finalized block is refused and deletes nothing', async () => {
    const store = await openChainStore({ headFrom: 0 })
    onTestFinished(() => store.close())
    for (const batch of batches.slice(0, 3)) await store.head.append(batch)
    await store.head.finalize(20)
    await expect(store.head.revert(await store.head.refAt(10))).rejects.toMatchObject({
      code: 'finality_violated',
    })
    expect((await store.head.tip())?.number).toBe(29)
  })

  test('history below the head lane is attached chunk by chunk and both lanes make one chain', async () => {
    const store = await openChainStore({ headFrom: 100 })
    onTestFinished(() => store.close())
    for (const batch of batches.slice(10)) await store.head.append(batch)
    const [chunk] = await store.history.openChunks({ from: 0, to: 99 })
    expect(chunk?.range).toEqual({ from: 0, to: 99 })
    let loaded = chunk
    for (const batch of batches.slice(0, 10)) {
      if (!loaded) throw new Error('no chunk was opened')
      await store.history.appendToChunk(loaded, batch)
      loaded = { ...loaded, tip: batch.range.to, tipHash: batch.refs.at(-1)?.hash ?? null }
    }
    expect(await readCoverage(store.postgres.pool, store.schema, 'postgres')).toEqual([
      { from: 100, to: 122 },
    ])
    if (loaded) await store.history.attachChunk(loaded)
    expect(await readCoverage(store.postgres.pool, store.schema, 'postgres')).toEqual([{ from: 0, to: 122 }])
    expect(await store.history.openChunks({ from: 0, to: 99 })).toEqual([])
    await store.head.finalize(122)
    await writeAll(store)
    await expectInPostgres(store, batches)
    await expectInClickHouse(store, batches)
  })

  test('ClickHouse made anew from the archive is the same, byte for byte', async () => {
    const store = await openChainStore({ headFrom: 0, cacheBytes: 0 })
    onTestFinished(() => store.close())
    for (const batch of batches) await store.head.append(batch)
    await store.head.finalize(122)
    await writeAll(store)
    await expectInClickHouse(store, batches)
  })
})
