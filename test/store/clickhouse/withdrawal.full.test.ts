// Goal: when the end of a chunk turns out to be of a branch that was left, both stores give it
// back, ClickHouse first, and nothing of it is left or comes later, whatever dies on the way.
// Method: the recorded chain and a branch of it through the real sinks and the real lane;
// failpoints and a client that is down or slow; what is held is compared with the encoder, block by
// block.
import { beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import type { Chunk } from '#ingest/sink.ts'
import type { BlockRef } from '#primitives.ts'
import { PARTITION_BLOCKS } from '#store/clickhouse/lane.ts'
import { readCoverage } from '#store/ledger/lane.ts'
import type { EncodedBatch } from '#transform/batch.ts'
import { few, fullTest } from '../../support/breadth.ts'
import { loadRecordedChain } from '../../support/recordedChain.ts'
import {
  type ChainStore,
  type ChainStoreOptions,
  decode,
  openChainStore,
  writeAll,
} from '../support/chainStore.ts'
import { expectInClickHouse, expectInPostgres } from '../support/expectHeld.ts'
import { withExec } from '../support/withExec.ts'

const HISTORY = { from: 0, to: 59 }
/** Above it the branch differs from the chain. */
const FORK = 39
const ORPHANS = { from: 40, to: 49 }

let batchOf: (from: number, to: number) => EncodedBatch
let orphans: () => EncodedBatch
let fork: BlockRef
beforeAll(async () => {
  const chain = await loadRecordedChain('tempo-dev-2k', 69, 0)
  const branch = await loadRecordedChain('tempo-dev-2k', 59, 0)
  branch.reorg(20)
  // Decoded once: every test writes the same few batches, and decoding them was a quarter of the
  // file's CPU.
  const [known, branched] = [new Map<string, EncodedBatch>(), decode(branch.range(ORPHANS), 'links')]
  batchOf = (from, to) =>
    known.getOrInsertComputed(`${from}-${to}`, () => decode(chain.range({ from, to }), 'links'))
  orphans = () => branched
  fork = chain.refAt(FORK)
})

/** Throws at the named place while it is set. */
let dieAt = ''
beforeEach(() => {
  dieAt = ''
})

async function open(options: Partial<ChainStoreOptions> = {}): Promise<ChainStore> {
  const failpoint = (name: string) => {
    if (name === dieAt) throw new Error(`died at ${name}`)
  }
  const store = await openChainStore({ headFrom: 60, checks: 'links', failpoint, ...options })
  onTestFinished(() => store.close())
  return store
}

/** A head above history, and a chunk whose end is of the other branch. */
async function loadOrphans(store: ChainStore): Promise<Chunk> {
  await store.head.append(batchOf(60, 69))
  await store.head.finalize(69)
  const chunk = await chunkOf(store)
  await store.history.appendToChunk(chunk, batchOf(0, FORK))
  await store.history.appendToChunk(chunk, orphans())
  return chunkOf(store)
}

async function chunkOf(store: ChainStore): Promise<Chunk> {
  const [chunk] = await store.history.openChunks(HISTORY)
  if (!chunk) throw new Error('there is no chunk')
  return chunk
}

const covered = (store: ChainStore) => readCoverage(store.postgres.pool, store.schema, 'clickhouse')

async function completeHistory(store: ChainStore): Promise<void> {
  const { tip } = await chunkOf(store)
  await store.history.appendToChunk(await chunkOf(store), batchOf(tip + 1, HISTORY.to))
  await store.history.attachChunk(await chunkOf(store))
  await writeAll(store)
  await expectInPostgres(store, [batchOf(0, 69)])
  await expectInClickHouse(store, [batchOf(0, 69)])
  expect(await covered(store)).toEqual([{ from: 0, to: 69 }])
}

describe('blocks of history that are withdrawn', () => {
  test('are gone from ClickHouse, and from Postgres above the fork; what lies below is written again', async () => {
    const store = await open()
    const chunk = await loadOrphans(store)
    await writeAll(store)
    await expectInClickHouse(store, [batchOf(0, FORK), orphans(), batchOf(60, 69)])
    await store.history.revertChunk(chunk, await store.history.refInChunk(chunk, FORK))
    await expectInClickHouse(store, [batchOf(60, 69)])
    expect(await covered(store)).toEqual([{ from: 60, to: 69 }])
    expect(await chunkOf(store)).toEqual({ range: HISTORY, tip: FORK, tipHash: fork.hash })
    expect(await store.history.refInChunk(chunk, FORK + 1)).toBeNull()
    await writeAll(store)
    await expectInClickHouse(store, [batchOf(0, FORK), batchOf(60, 69)])
    await completeHistory(store)
  })

  test('may be all that was loaded of a chunk, which then begins anew', async () => {
    const store = await open()
    const chunk = await loadOrphans(store)
    await writeAll(store)
    await store.history.revertChunk(chunk, null)
    expect(await chunkOf(store)).toEqual({ range: HISTORY, tip: -1, tipHash: null })
    await completeHistory(store)
  })

  test.each(few(['clickhouse.withdrawn', 'clickhouse.deleted', 'postgres.chunk.revert'], 2))(
    'are in both stores or in neither when a process dies at %s and another goes on',
    async (place) => {
      const first = await open()
      const chunk = await loadOrphans(first)
      await writeAll(first)
      dieAt = place
      await expect(first.history.revertChunk(chunk, fork)).rejects.toThrow(`died at ${place}`)
      dieAt = ''
      const second = await open({ beside: first, fence: 2n })
      // Postgres holds them still, and so does ClickHouse again.
      expect(await chunkOf(second)).toEqual(chunk)
      await writeAll(second)
      await expectInClickHouse(second, [batchOf(0, FORK), orphans(), batchOf(60, 69)])
      expect(await covered(second)).toEqual([
        { from: 0, to: ORPHANS.to },
        { from: 60, to: 69 },
      ])
      await second.history.revertChunk(chunk, fork)
      await expectInClickHouse(second, [batchOf(60, 69)])
      await completeHistory(second)
    },
  )

  test('stay in Postgres while ClickHouse cannot give them back', async () => {
    let down = false
    const store = await open({
      wrapClickHouse: (client) =>
        new Proxy(client, {
          get(target, property) {
            if (down) throw new Error('no connection')
            const value: unknown = Reflect.get(target, property)
            return typeof value === 'function' ? value.bind(target) : value
          },
        }),
    })
    const chunk = await loadOrphans(store)
    await writeAll(store)
    down = true
    await expect(store.history.revertChunk(chunk, fork)).rejects.toThrow()
    expect(await chunkOf(store)).toEqual(chunk)
    down = false
    await store.history.revertChunk(chunk, fork)
    await completeHistory(store)
  })

  test('need no ClickHouse where it holds none of them', async () => {
    const store = await open({
      wrapClickHouse: (client) =>
        withExec(client, () => () => {
          throw new Error('no connection')
        }),
    })
    const chunk = await loadOrphans(store)
    await store.history.revertChunk(chunk, fork)
    expect(await chunkOf(store)).toMatchObject({ tip: FORK })
    expect(store.cache.at(ORPHANS.from)).toBeUndefined()
  })
})

describe('blocks of history that are withdrawn while written, or again,', () => {
  test('and are being written: the batch is finished first', async () => {
    const [begun, go] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const store = await open({
      wrapClickHouse: (client) =>
        withExec(client, (insert) => async (parameters) => {
          begun.resolve()
          await go.promise
          return insert(parameters)
        }),
    })
    const chunk = await loadOrphans(store)
    const written = store.lane.step()
    await begun.promise
    const reverted = store.history.revertChunk(chunk, fork)
    go.resolve()
    expect(await written).toBe(true)
    await reverted
    await completeHistory(store)
  })

  fullTest('and were left half written: the batch is finished first', async () => {
    let failures = 0
    const store = await open({
      wrapClickHouse: (client) =>
        withExec(client, (insert) => async (parameters) => {
          if (failures++ === 3) throw new Error('the connection was reset')
          return insert(parameters)
        }),
    })
    const chunk = await loadOrphans(store)
    await expect(store.lane.step()).rejects.toThrow()
    await store.history.revertChunk(chunk, fork)
    expect(await store.journal.open()).toEqual([])
    await completeHistory(store)
  })

  fullTest('may come and go many times: the engine meets no token again', async () => {
    const store = await open()
    let chunk = await loadOrphans(store)
    for (let times = 0; times < 6; times++) {
      await writeAll(store)
      await store.history.revertChunk(chunk, fork)
      await store.history.appendToChunk(await chunkOf(store), orphans())
      chunk = await chunkOf(store)
    }
    await store.history.revertChunk(chunk, fork)
    await completeHistory(store)
    const { rows } = await store.postgres.pool.query(
      `SELECT DISTINCT attempt FROM ${store.schema}.ch_batches WHERE state = 'written'`,
    )
    expect(rows).toEqual([{ attempt: 0 }])
  })

  fullTest('take the seal of their partition with them', async () => {
    const store = await open()
    const chunk = await loadOrphans(store)
    await writeAll(store)
    const { pool } = store.postgres
    for (const partition of [0, 1])
      await pool.query(
        `INSERT INTO ${store.schema}.seals (partition, table_name, rows, digest, agreed) VALUES ($1, 'logs', 1, 1, true)`,
        [partition],
      )
    await store.journal.withdraw({ from: chunk.tip, to: chunk.tip }, PARTITION_BLOCKS)
    const { rows } = await pool.query(`SELECT partition FROM ${store.schema}.seals`)
    expect(rows).toEqual([{ partition: 1 }])
    expect(await covered(store)).toEqual([{ from: 60, to: 69 }])
  })

  test('are not dropped by who saw another tip', async () => {
    const store = await open()
    const chunk = await loadOrphans(store)
    await expect(store.history.revertChunk({ ...chunk, tip: 45 }, fork)).rejects.toMatchObject({
      code: 'chunk_mismatch',
      remedy: 'retry',
    })
    expect(await chunkOf(store)).toEqual(chunk)
  })
})
