// Goal: a seal costs the same at any size and holds up no read, outages leave no partitions behind,
// and what fills their gaps may die at any piece (W1).
// Method: the recorded chain through the real sinks; locks and rows looked at are those that
// Postgres itself counts for the transaction of the seal.
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { Chunk } from '#ingest/sink.ts'
import { readArchive } from '#store/ledger/archive.ts'
import { readCoverage } from '#store/ledger/lane.ts'
import { historyTarget } from '#store/ledger/ledger.ts'
import { dropDetached, headPartitionEnd, listPartitions } from '#store/ledger/partitions.ts'
import { sealSegment } from '#store/ledger/segments.ts'
import type { EncodedBatch } from '#transform/batch.ts'
import { ledgerTableNames } from '#transform/tables.ts'
import { isFull, onceDescribe, onceTest } from '../../support/breadth.ts'
import { loadRecordedChain, type RecordedChain } from '../../support/recordedChain.ts'
import {
  type ChainStore,
  type ChainStoreOptions,
  decode,
  openChainStore,
  writeAll,
} from '../support/chainStore.ts'
import { expectInClickHouse, expectInPostgres } from '../support/expectHeld.ts'

/** A piece of one block. */
const SMALLEST_PIECE_BYTES = 1

let chain: RecordedChain
beforeAll(async () => {
  chain = await loadRecordedChain('tempo-dev-2k', 122, 0)
})
const batchOf = (from: number, to: number): EncodedBatch => decode(chain.range({ from, to }), 'links')

async function open(options: ChainStoreOptions): Promise<ChainStore> {
  const store = await openChainStore({ checks: 'links', ...options })
  onTestFinished(() => store.close())
  return store
}

async function load(store: ChainStore, { range }: Chunk): Promise<Chunk> {
  const batch = batchOf(range.from, range.to)
  const chunk = { range, tip: range.to, tipHash: batch.refs.at(-1)?.hash ?? null }
  await store.history.appendToChunk({ range, tip: range.from - 1, tipHash: null }, batch)
  return chunk
}

const openChunks = async (store: ChainStore): Promise<readonly Chunk[]> =>
  store.history.openChunks(await historyTarget(store.postgres, store.chainId, 0))

async function fill(store: ChainStore): Promise<void> {
  for (const chunk of await openChunks(store)) await store.history.attachChunk(await load(store, chunk))
}

const rangesOf = async (store: ChainStore, table: string) =>
  (await listPartitions(store.postgres.pool, store.schema))
    .filter(({ parent }) => parent === table)
    .map(({ range }) => range)
    .sort((a, b) => a.from - b.from)

describe('a segment that ends while it holds rows', () => {
  onceTest('is sealed without a look at its rows, beside readers that do not wait', async () => {
    const { postgres, schema, head } = await open({ headFrom: 0 })
    await head.append(batchOf(0, 49))
    await postgres.transaction(async (client) => {
      await sealSegment(client, schema, 1n, 100)
      const locks = await client.query(
        `SELECT DISTINCT mode FROM pg_locks JOIN pg_class ON pg_class.oid = relation
         WHERE pid = pg_backend_pid() AND relnamespace = $1::regnamespace AND relname <> 'lanes' AND relname NOT LIKE 'lanes%'
           AND mode NOT IN ('AccessShareLock', 'RowShareLock', 'RowExclusiveLock')`,
        [schema],
      )
      expect(locks.rows).toEqual([])
      const looked = await client.query<{ rows: number }>(
        `SELECT coalesce(sum(seq_tup_read), 0)::int AS rows FROM pg_stat_xact_user_tables
         WHERE schemaname = $1 AND relname LIKE '%\\_head\\_%'`,
        [schema],
      )
      expect(looked.rows).toEqual([{ rows: 0 }])
      const reader = await postgres.pool.query(`SELECT count(*)::int AS blocks FROM ${schema}.blocks`)
      expect(reader.rows).toEqual([{ blocks: 50 }])
    })
    expect(await head.emptyFrom()).toBe(100)
  })

  test('leaves no partition behind, over many outages, and history fills every gap', async () => {
    const store = await open({ headFrom: 0 })
    // Forty outages in the whole breadth, else eight.
    const apart = isFull ? 3 : 15
    for (let from = 0; from < 120; from += apart) {
      await store.head.append(batchOf(from, from))
      await store.head.finalize(from)
      await store.head.seal(from + apart)
      if (from % 30 === 0) await fill(store)
    }
    await store.head.append(batchOf(120, 122))
    await store.head.finalize(122)
    await fill(store)
    await writeAll(store)
    for (const name of ledgerTableNames)
      expect(await rangesOf(store, name), name).toEqual([{ from: 0, to: headPartitionEnd(0) }])
    const { rows } = await store.postgres.pool.query<{ relname: string }>(
      `SELECT relname FROM pg_class WHERE relnamespace = $1::regnamespace AND relkind = 'r' AND (relname LIKE '%\\_from\\_%' OR relname LIKE '%\\_head\\_%')`,
      [store.schema],
    )
    expect(rows).toHaveLength(ledgerTableNames.length)
    expect(await readCoverage(store.postgres.pool, store.schema, 'postgres')).toEqual([{ from: 0, to: 122 }])
    await expectInPostgres(store, [batchOf(0, 122)])
    await expectInClickHouse(store, [batchOf(0, 122)])
  })

  onceTest(
    'gets its gap in pieces from the top, each covered as it comes, whatever writer goes on after one',
    async () => {
      const died = new Error('died')
      let pieces = 0
      let diesAt = 'postgres.chunk.move'
      const failpoint = (name: string) => {
        if (name === 'postgres.chunk.moved') pieces++
        if (name === diesAt && pieces >= 3) throw died
      }
      const first = await open({ headFrom: 0, failpoint, pieceBytes: SMALLEST_PIECE_BYTES })
      await first.head.append(batchOf(0, 9))
      await first.head.finalize(9)
      await first.head.seal(30)
      await first.head.append(batchOf(30, 39))
      const [chunk] = await openChunks(first)
      if (!chunk) throw new Error('no chunk was opened')
      const loaded = await load(first, chunk)
      await expect(first.history.attachChunk(loaded)).rejects.toMatchObject({ cause: died })
      const covered = (store: ChainStore) => readCoverage(store.postgres.pool, store.schema, 'postgres')
      expect(await covered(first)).toEqual([
        { from: 0, to: 9 },
        { from: 27, to: 39 },
      ])
      // A moved block is final: nobody takes it back.
      await expect(first.history.revertChunk(loaded, null)).rejects.toMatchObject({ code: 'chunk_mismatch' })
      diesAt = 'postgres.chunk.moved'
      const [rest] = await openChunks(first)
      expect(rest).toMatchObject({ range: { from: 10, to: 26 }, tip: 26, tipHash: chain.refAt(26).hash })
      if (rest) await expect(first.history.attachChunk(rest)).rejects.toBe(died)
      const second = await open({ headFrom: 0, beside: first, fence: 2n })
      await expect(first.history.attachChunk(loaded)).rejects.toMatchObject({ code: 'fenced_out' })
      const [last] = await openChunks(second)
      expect(last?.range).toEqual({ from: 10, to: 25 })
      expect((await readArchive(second.postgres.pool, second.schema, { from: 0, to: 39 })).range.to).toBe(39)
      if (last) await second.history.attachChunk(last)
      expect(await covered(second)).toEqual([{ from: 0, to: 39 }])
      expect(await openChunks(second)).toEqual([])
      await expectInPostgres(second, [batchOf(0, 39)])
    },
  )
})

onceDescribe('a gap beside partitions of an older version', () => {
  /** A lane that began at block 10 in partitions named as versions before named them, and was emptied. */
  async function openOlder(): Promise<ChainStore> {
    const store = await open({ headFrom: 10 })
    await store.head.append(batchOf(10, 19))
    for (const name of ledgerTableNames)
      await store.postgres.pool.query(`ALTER TABLE ${store.schema}.${name}_head_10 RENAME TO ${name}_from_10`)
    await store.head.revert(null)
    await store.head.seal(40)
    await store.head.append(batchOf(40, 49))
    return store
  }

  test('gets a gap that begins where a partition of an older version does', async () => {
    const store = await openOlder()
    await fill(store)
    await expectInPostgres(store, [batchOf(0, 49)])
    for (const name of ledgerTableNames)
      expect(await rangesOf(store, name), name).toEqual([
        { from: 0, to: 9 },
        { from: 10, to: headPartitionEnd(10) },
      ])
  })

  test('keeps such a partition when a chunk that was only planned there is dropped', async () => {
    const store = await openOlder()
    const planned = (await openChunks(store)).map(({ range }) => range.from)
    expect(planned).toContain(10)
    for (const from of planned)
      await store.postgres.transaction((client) => dropDetached(client, store.schema, from))
    await expectInPostgres(store, [batchOf(40, 49)])
  })

  test('does not get a gap that links to neither neighbour', async () => {
    const other = await loadRecordedChain('tempo-dev-2k', 39, 0)
    other.reorg(20)
    const store = await open({ headFrom: 0 })
    await store.head.append(batchOf(0, 9))
    await store.head.finalize(9)
    await store.head.seal(30)
    await store.head.append(batchOf(30, 39))
    const [chunk] = await openChunks(store)
    if (!chunk) throw new Error('no chunk was opened')
    const orphans = decode(other.range(chunk.range), 'links')
    await store.history.appendToChunk(chunk, orphans)
    const full = { ...chunk, tip: 29, tipHash: orphans.refs.at(-1)?.hash ?? null }
    await expect(store.history.attachChunk(full)).rejects.toMatchObject({ code: 'chunk_unlinked' })
    await store.history.revertChunk(full, null)
    await fill(store)
    await expectInPostgres(store, [batchOf(0, 39)])
  })
})
