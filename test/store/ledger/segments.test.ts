// Goal: head partitions, segments and chunks tile the chain without overlap or hole, over
// downtimes, restarts and boundaries, and what joins is checked from either side.
// Method: the recorded chain, also shown at heights far above its own, through the real sinks; the
// bounds are read back from the catalog.
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { BlockRange } from '#ingest/range.ts'
import type { Chunk } from '#ingest/sink.ts'
import { indexDetached } from '#store/ledger/chunkIndexes.ts'
import { readCoverage, readLane } from '#store/ledger/lane.ts'
import { historyTarget } from '#store/ledger/ledger.ts'
import { chunkBlocks, headPartitionEnd } from '#store/ledger/partitions.ts'
import type { EncodedBatch } from '#transform/batch.ts'
import { ledgerTableNames } from '#transform/tables.ts'
import { fullDescribe, fullTest, onceDescribe, onceTest } from '../../support/breadth.ts'
import { loadRecordedChain, type RecordedChain } from '../../support/recordedChain.ts'
import { type ChainStore, decode, openChainStore, writeAll } from '../support/chainStore.ts'
import { expectInClickHouse, expectInPostgres } from '../support/expectHeld.ts'

/** Attached partitions of a table as block ranges, ascending. */
async function partitionsOf(store: ChainStore, table: string): Promise<BlockRange[]> {
  const { rows } = await store.postgres.pool.query<{ bound: string }>(
    `SELECT pg_get_expr(c.relpartbound, c.oid) AS bound FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
     WHERE i.inhparent = $1::regclass`,
    [`${store.schema}.${table}`],
  )
  return rows
    .map(({ bound }) => (bound.match(/\d+/g) ?? []).map(Number))
    .map(([from = 0, end = 0]) => ({ from, to: end - 1 }))
    .sort((a, b) => a.from - b.from)
}

/**
 * Indexes of the tables whose names are like this, those of their out-of-line values aside, and the
 * index each belongs to.
 */
async function indexesOf(
  store: ChainStore,
  tables: string,
): Promise<{ index: number; parent: number | null }[]> {
  const { rows } = await store.postgres.pool.query<{ index: number; parent: number | null }>(
    `SELECT indexrelid::int AS index, inhparent::int AS parent
     FROM pg_index JOIN pg_class t ON t.oid = indrelid LEFT JOIN pg_inherits ON inhrelid = indexrelid
     WHERE t.relnamespace = $1::regnamespace AND t.relname LIKE $2 ORDER BY 1`,
    [store.schema, tables],
  )
  return rows
}

/** Columns of a table's indexes that look for no equal entries. */
async function singleEntries(store: ChainStore, table: string): Promise<string[]> {
  const { rows } = await store.postgres.pool.query<{ definition: string }>(
    `SELECT pg_get_indexdef(indexrelid) AS definition FROM pg_index JOIN pg_class AS i ON i.oid = indexrelid
     WHERE indrelid = $1::regclass AND 'deduplicate_items=off' = ANY (i.reloptions) ORDER BY indexrelid`,
    [`${store.schema}.${table}`],
  )
  return rows.map(({ definition }) => /\(.*?\)/.exec(definition)?.[0] ?? '').sort()
}

/**
 * Storage settings of the tables whose names are like this, and of the tables of their out-of-line
 * values.
 */
async function vacuumSettings(store: ChainStore, tables: string): Promise<(string | null)[]> {
  const { rows } = await store.postgres.pool.query<{ settings: string | null }>(
    `SELECT array_to_string(held.reloptions, ',') AS settings FROM pg_class AS t
     JOIN pg_class AS held ON held.oid IN (t.oid, t.reltoastrelid)
     WHERE t.relnamespace = $1::regnamespace AND t.relkind = 'r' AND t.relname LIKE $2`,
    [store.schema, tables],
  )
  return rows.map(({ settings }) => settings)
}

let chain: RecordedChain
beforeAll(async () => {
  chain = await loadRecordedChain('tempo-dev-2k', 122, 0)
})
const batchOf = (from: number, to: number): EncodedBatch =>
  decode(chain.range({ from, to }), to > 122 ? 'links' : 'roots')

async function open(headFrom: number, beside?: ChainStore): Promise<ChainStore> {
  const fence = (beside?.fence ?? 0n) + 1n
  const store = await openChainStore({ headFrom, checks: 'links', fence, ...(beside && { beside }) })
  onTestFinished(() => store.close())
  return store
}

async function load(store: ChainStore, begun: Chunk, width: number): Promise<void> {
  let chunk = begun
  for (let from = chunk.tip + 1; from <= chunk.range.to; from += width) {
    const batch = batchOf(from, Math.min(chunk.range.to, from + width - 1))
    await store.history.appendToChunk(chunk, batch)
    chunk = { ...chunk, tip: batch.range.to, tipHash: batch.refs.at(-1)?.hash ?? null }
  }
  await store.history.attachChunk(chunk)
}

onceDescribe('segments, and chunks between them', () => {
  test('after each downtime the segment ends, another begins, and chunks fill what lies between', async () => {
    const first = await open(10)
    await first.head.append(batchOf(10, 19))
    await first.head.finalize(19)
    await first.head.seal(40)
    expect(await first.head.tip()).toBeNull()
    expect(await first.head.emptyFrom()).toBe(40)
    // A restart between sealing and the first block of the new segment changes nothing.
    const second = await open(999, first)
    expect(await second.head.emptyFrom()).toBe(40)
    await second.head.append(batchOf(40, 49))
    expect(await historyTarget(second.postgres, second.chainId, 0)).toEqual({ from: 0, to: 39 })
    await second.head.finalize(49)
    await second.head.seal(100)
    const third = await open(999, second)
    await third.head.append(batchOf(100, 109))
    await third.head.finalize(109)
    const opened = await third.history.openChunks({ from: 0, to: 99 })
    expect(opened.map((chunk) => chunk.range)).toEqual([
      { from: 0, to: 9 },
      { from: 20, to: 39 },
      { from: 50, to: 99 },
    ])
    for (const chunk of [...opened].reverse()) await load(third, chunk, 25)
    await third.head.append(batchOf(110, 122))
    await third.head.finalize(122)
    await writeAll(third)
    for (const name of ledgerTableNames)
      expect(await partitionsOf(third, name), name).toEqual([
        { from: 0, to: 9 },
        { from: 10, to: headPartitionEnd(10) },
      ])
    expect(await readCoverage(third.postgres.pool, third.schema, 'postgres')).toEqual([{ from: 0, to: 122 }])
    await expectInPostgres(third, [batchOf(0, 122)])
    await expectInClickHouse(third, [batchOf(0, 122)])
  })

  test('a lane that a false head had sent away begins again where finality is, and history ends there (L21)', async () => {
    const store = await open(2 ** 40 + 1)
    const misled = await historyTarget(store.postgres, store.chainId, 0)
    const [chunk] = await store.history.openChunks(misled)
    if (!chunk) throw new Error('no chunk was opened')
    await store.history.appendToChunk(chunk, batchOf(0, 59))
    // All of history passed for final.
    await writeAll(store)
    expect(await readCoverage(store.postgres.pool, store.schema, 'clickhouse')).toEqual([{ from: 0, to: 59 }])
    // A node that lacks what is held is behind, and says nothing of where the chain ends.
    expect(await store.head.restart(40, 49)).toBe(false)
    expect(await store.head.restart(50, 62)).toBe(true)
    expect(await readLane(store.postgres.pool, store.schema)).toMatchObject({ fromBlock: 50, finalized: 49 })
    const target = await historyTarget(store.postgres, store.chainId, 0)
    expect(await store.history.openChunks(misled)).toEqual(await store.history.openChunks(target))
    const [ended] = await store.history.openChunks(target)
    expect(ended).toMatchObject({ range: { from: 0, to: 49 }, tip: 49, tipHash: chain.refAt(49).hash })
    await expect(store.history.appendToChunk(chunk, batchOf(60, 61))).rejects.toMatchObject({
      code: 'chunk_mismatch',
    })
    if (ended) await store.history.attachChunk(ended)
    await store.head.append(batchOf(50, 69))
    await store.head.finalize(60)
    await writeAll(store)
    await expectInPostgres(store, [batchOf(0, 69)])
    await expectInClickHouse(store, [batchOf(0, 60)])
    // One that stands on what it holds stays.
    expect(await store.head.restart(30, 69)).toBe(false)
  })

  test('a chunk half loaded goes on from its tip after a restart, and is not begun again', async () => {
    const first = await open(60)
    const [chunk] = await first.history.openChunks({ from: 0, to: 59 })
    if (!chunk) throw new Error('no chunk was opened')
    await first.history.appendToChunk(chunk, batchOf(0, 29))
    const second = await open(60, first)
    const [resumed] = await second.history.openChunks({ from: 0, to: 59 })
    expect(resumed).toMatchObject({ range: { from: 0, to: 59 }, tip: 29, tipHash: chain.refAt(29).hash })
    await expect(second.history.appendToChunk(chunk, batchOf(0, 29))).rejects.toMatchObject({
      code: 'chunk_mismatch',
      remedy: 'retry',
    })
    if (resumed) await load(second, resumed, 25)
    await expectInPostgres(second, [batchOf(0, 59)])
  })
})

fullDescribe('attaching a chunk', () => {
  test('attaching takes the indexes that were built before it, also when some were there already, and builds none', async () => {
    const store = await open(60)
    const [chunk] = await store.history.openChunks({ from: 0, to: 59 })
    if (!chunk) throw new Error('no chunk was opened')
    await store.history.appendToChunk(chunk, batchOf(0, 59))
    const { pool } = store.postgres
    // As a writer leaves it that ended midway, between a key's index and the key.
    await pool.query(
      `CREATE UNIQUE INDEX logs_from_0_pkey ON ${store.schema}.logs_from_0 (block_num, log_idx)`,
    )
    const mayWrite = () => Promise.resolve()
    // Two at a time, as when one took over from another that was paused.
    await Promise.all([1, 2].map(() => indexDetached(store.postgres, store.schema, 0, mayWrite)))
    const built = await indexesOf(store, '%_from_0')
    expect(built.length).toBeGreaterThan(40)
    expect(built.filter(({ parent }) => parent !== null)).toEqual([])
    const tipHash = chain.refAt(59).hash
    await store.head.append(batchOf(60, 69))
    await store.history.attachChunk({ ...chunk, tip: 59, tipHash })
    const attached = await indexesOf(store, '%_from_0')
    expect(attached.map(({ index }) => index)).toEqual(built.map(({ index }) => index))
    expect(attached.filter(({ parent }) => parent === null)).toEqual([])
    expect(await singleEntries(store, 'logs_from_0')).toEqual([
      '(address, topic0, block_num, log_idx)',
      '(topic0, block_num, log_idx)',
    ])
  })

  test('vacuum leaves the tables of a chunk alone while it is loaded, and takes them up once it is attached', async () => {
    const store = await open(60)
    const [chunk] = await store.history.openChunks({ from: 0, to: 59 })
    if (!chunk) throw new Error('no chunk was opened')
    await store.history.appendToChunk(chunk, batchOf(0, 59))
    expect(new Set(await vacuumSettings(store, '%_from_0'))).toEqual(new Set(['autovacuum_enabled=off']))
    await store.history.attachChunk({ ...chunk, tip: 59, tipHash: chain.refAt(59).hash })
    expect(new Set(await vacuumSettings(store, '%_from_0'))).toEqual(new Set([null]))
  })

  test('a writer that was replaced builds no further index', async () => {
    const store = await open(60)
    const [chunk] = await store.history.openChunks({ from: 0, to: 59 })
    if (!chunk) throw new Error('no chunk was opened')
    await store.history.appendToChunk(chunk, batchOf(0, 59))
    const before = await indexesOf(store, '%_from_0')
    const replaced = new Error('replaced')
    await expect(indexDetached(store.postgres, store.schema, 0, () => Promise.reject(replaced))).rejects.toBe(
      replaced,
    )
    expect(await indexesOf(store, '%_from_0')).toEqual(before)
  })

  test('a chunk that does not link to a neighbour is not attached, from either side', async () => {
    const other = await loadRecordedChain('tempo-dev-2k', 59, 0)
    other.reorg(20)
    const store = await open(60)
    await store.head.append(batchOf(60, 69))
    const [chunk] = await store.history.openChunks({ from: 30, to: 59 })
    if (!chunk) throw new Error('no chunk was opened')
    const orphans = decode(other.range({ from: 30, to: 59 }), 'links')
    await store.history.appendToChunk(chunk, orphans)
    const full = { ...chunk, tip: 59, tipHash: orphans.refs.at(-1)?.hash ?? null }
    // Either of the two may be the one that is on another branch, and will take it back.
    const unlinked = { code: 'chunk_unlinked', remedy: 'retry' }
    await expect(store.history.attachChunk(full)).rejects.toMatchObject(unlinked)
    await store.head.finalize(60)
    await expect(store.history.attachChunk(full)).rejects.toMatchObject(unlinked)
    expect(await readCoverage(store.postgres.pool, store.schema, 'postgres')).toEqual([{ from: 60, to: 69 }])
  })
})

describe('edges of segments and partitions', () => {
  async function fill(store: ChainStore): Promise<void> {
    const target = await historyTarget(store.postgres, store.chainId, 0)
    for (const chunk of await store.history.openChunks(target)) await load(store, chunk, 25)
  }

  onceTest('the first block of a segment must continue the history that is held below it', async () => {
    const other = await loadRecordedChain('tempo-dev-2k', 69, 0)
    other.reorg(40)
    const store = await open(60)
    await fill(store)
    const orphans = decode(other.range({ from: 60, to: 69 }), 'links')
    await expect(store.head.append(orphans)).rejects.toMatchObject({ code: 'lane_unlinked', remedy: 'retry' })
    await store.head.append(batchOf(60, 69))
    await expectInPostgres(store, [batchOf(0, 69)])
  })

  fullTest(
    'a revert takes nothing from below the segment, and an emptied one may begin elsewhere',
    async () => {
      const store = await open(60)
      await fill(store)
      await store.head.append(batchOf(60, 69))
      await store.head.revert(await store.head.refAt(40))
      expect(await store.head.tip()).toBeNull()
      expect(await store.head.emptyFrom()).toBe(60)
      await store.head.seal(80)
      expect(await store.head.emptyFrom()).toBe(80)
      await store.head.append(batchOf(80, 89))
      await fill(store)
      expect(await partitionsOf(store, 'logs')).toEqual([
        { from: 0, to: 59 },
        { from: 60, to: headPartitionEnd(60) },
      ])
      await expectInPostgres(store, [batchOf(0, 89)])
    },
  )

  onceTest('the head lane crosses from partition to partition where their width grows', async () => {
    // Up to block 2^24 a partition spans 2^20 blocks, above it 2^21: asked from inside it, the
    // partition seems to end later.
    const width = 2 ** 20
    const from = 16 * width
    expect([headPartitionEnd(from), headPartitionEnd(from + 1)]).toEqual([17 * width - 1, 18 * width - 1])
    const store = await open(from)
    const tip = 17 * width - 5
    for (const number of [from, tip]) for (let k = 0; k < 16; k++) chain.stamp(number + k, 1_800_000_000 + k)
    await store.head.append(batchOf(from, from + 4))
    await store.head.finalize(from + 4)
    // A million blocks later, in the same process.
    await store.postgres.pool.query(`UPDATE ${store.schema}.lanes SET tip = $1, tip_hash = $2`, [
      tip,
      Buffer.from(chain.refAt(tip).hash.slice(2), 'hex'),
    ])
    for (let next = tip + 1; next < tip + 13; next += 3) await store.head.append(batchOf(next, next + 2))
    for (const name of ledgerTableNames)
      expect(await partitionsOf(store, name), name).toEqual([
        { from, to: 17 * width - 1 },
        { from: 17 * width, to: 18 * width - 1 },
      ])
    expect((await readLane(store.postgres.pool, store.schema))?.tip).toBe(tip + 12)
  })

  fullTest('one batch may cross a partition', async () => {
    const boundary = 2 ** 20
    const store = await open(boundary - 3)
    const batch = batchOf(boundary - 3, boundary + 2)
    await store.head.append(batch)
    await store.head.append(batchOf(boundary + 3, boundary + 4))
    expect(await partitionsOf(store, 'logs')).toEqual([
      { from: boundary - 3, to: boundary - 1 },
      { from: boundary, to: 2 * boundary - 1 },
    ])
    await store.head.revert(await store.head.refAt(boundary - 2))
    await store.head.append(batchOf(boundary - 1, boundary + 2))
    await expectInPostgres(store, [batch])
  })

  fullTest('ClickHouse is written up to a boundary of its partitions and from it, never across', async () => {
    const boundary = 65_536
    const store = await open(boundary - 20)
    for (let from = boundary - 20; from < boundary + 20; from += 10)
      await store.head.append(batchOf(from, from + 9))
    await store.head.finalize(boundary + 19)
    await writeAll(store)
    const { rows } = await store.postgres.pool.query<{ from_block: number; to_block: number }>(
      `SELECT from_block, to_block FROM ${store.schema}.ch_batches ORDER BY from_block`,
    )
    expect(rows.map((row) => [row.from_block, row.to_block])).toEqual([
      [boundary - 20, boundary - 1],
      [boundary, boundary + 19],
    ])
    await expectInClickHouse(store, [batchOf(boundary - 20, boundary + 19)])
  })

  onceTest('chunks of a target that grew nest into those of the smaller one', () => {
    expect(chunkBlocks({ from: 0, to: 99 })).toBe(16_384)
    for (const to of [1_000, 200_000, 1_000_000, 20_000_000]) {
      const width = chunkBlocks({ from: 0, to })
      expect(Math.log2(width) % 1).toBe(0)
      expect(Math.ceil((to + 1) / width)).toBeLessThanOrEqual(32)
    }
  })
})
