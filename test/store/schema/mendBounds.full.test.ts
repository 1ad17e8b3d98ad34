// Goal: bounds of validity above 2^63 - 1 that a version before stored as 2^63 - 1 become exact in
// both engines, in chunks too, while nothing else is written anew; and what was taken back meanwhile
// stays so.
// Method: a recorded chain whose transactions have such bounds, as the version before stored it
// beside its archive; its own migration; the real sinks and lane.
import { readFileSync } from 'node:fs'
import { expect, onTestFinished, test } from 'vitest'
import { PARTITION_BLOCKS } from '#store/clickhouse/lane.ts'
import { type MendBoundsOptions, mendBounds } from '#store/maintain/mendBounds.ts'
import type { EncodedBatch } from '#transform/batch.ts'
import { readRecording } from '../../chain/recordings.ts'
import { rangeOf } from '../../transform/ranges.ts'
import { type ChainStore, decode, openChainStore, writeAll } from '../support/chainStore.ts'
import { expectInClickHouse, expectInPostgres } from '../support/expectHeld.ts'

const migration = new URL('../../../sql/postgres/chain/0038_mend_bounds.sql', import.meta.url)
const BEFORE_2_63 = '0x7fffffffffffffff'
const recording = readRecording('tempo-dev-2k')
const never = new AbortController().signal

interface Recorded {
  readonly transactions: readonly Readonly<Record<string, unknown>>[]
}

/** Blocks whose number is even and that have a 0x76 transaction, with a bound in each of these. */
function batchOf(from: number, to: number, bound: string): EncodedBatch {
  const blocks = recording.slice(from, to + 1).map(({ block, receipts }, index) => {
    const recorded = block as Recorded
    const transactions = recorded.transactions.map((tx) =>
      tx['type'] === '0x76' && (from + index) % 2 === 0
        ? { ...tx, validBefore: bound, validAfter: bound }
        : tx,
    )
    return { block: { ...recorded, transactions }, receipts }
  })
  return decode({ ...rangeOf(blocks), endpoint: 'test' }, 'links')
}

const exact = (from: number, to: number) => batchOf(from, to, '0xffffffffffffffff')

/** As the version before made it: the archive has what the node said. */
function older(from: number, to: number): EncodedBatch {
  const rows = batchOf(from, to, BEFORE_2_63)
  return { ...rows, tables: { ...rows.tables, raw: exact(from, to).tables.raw } }
}

async function openOlder(): Promise<ChainStore> {
  const store = await openChainStore({ headFrom: 20, checks: 'links' })
  onTestFinished(() => store.close())
  await store.head.append(older(20, 59))
  const chunk = { range: { from: 0, to: 19 }, tip: -1, tipHash: null }
  await store.history.openChunks(chunk.range)
  await store.history.appendToChunk(chunk, older(0, 9))
  await store.head.finalize(49)
  await writeAll(store)
  const { postgres, schema } = store
  await postgres.pool.query(
    `UPDATE ${schema}.ch_batches SET encoder = 1; DROP TABLE ${schema}.bounds_to_mend`,
  )
  await postgres.pool.query(readFileSync(migration, 'utf8').replaceAll('{schema}', schema))
  return store
}

const optionsOf = (store: ChainStore): MendBoundsOptions => ({
  ...store,
  partitionBlocks: PARTITION_BLOCKS,
  decode: async (raw) => decode(raw, 'links'),
  withdraw: (range, mend) => store.lane.withdraw(range, mend),
  pause: async () => {},
})

const leftOf = async ({ postgres, schema }: ChainStore) =>
  (await postgres.pool.query(`SELECT * FROM ${schema}.bounds_to_mend`)).rows

test('a store of before is made exact in both engines, and only where it has to be', async () => {
  const store = await openOlder()
  const { postgres, schema } = store
  const versionsOf = async (remainder: number) =>
    (
      await postgres.pool.query(
        `SELECT block_num, idx, xmin::text FROM ${schema}.txs WHERE block_num % 2 = ${remainder} ORDER BY 1, 2`,
      )
    ).rows
  const [even, odd] = [await versionsOf(0), await versionsOf(1)]
  // The version before was killed while it wrote these.
  await store.journal.begin({ range: { from: 50, to: 54 }, encoder: 1, attempt: 0, tables: {} })
  await store.head.finalize(59)

  expect(await leftOf(store)).toEqual([{ below: 60, chunks_done: false }])
  await mendBounds(optionsOf(store), never)
  expect(await leftOf(store)).toEqual([])
  await expectInPostgres(store, [exact(20, 59)])
  expect(await versionsOf(1)).toEqual(odd)
  expect(await versionsOf(0)).not.toEqual(even)

  const [chunk] = await store.history.openChunks({ from: 0, to: 19 })
  if (!chunk) throw new Error('no chunk was opened')
  const rest = exact(10, 19)
  await store.history.appendToChunk(chunk, rest)
  await store.history.attachChunk({ ...chunk, tip: 19, tipHash: rest.refs.at(-1)?.hash ?? null })
  await writeAll(store)
  await expectInPostgres(store, [exact(0, 59)])
  await expectInClickHouse(store, [exact(0, 59)])
})

test('a block that is taken back while it is made again stays so', async () => {
  const store = await openOlder()
  let reverted = false
  const options = {
    ...optionsOf(store),
    decode: async (raw: Parameters<MendBoundsOptions['decode']>[0]) => {
      const batch = decode(raw, 'links')
      if (raw.range.from === 58 && !reverted) {
        reverted = true
        await store.head.revert(await store.head.refAt(55))
      }
      return batch
    },
  }
  await mendBounds(options, never)
  expect(reverted).toBe(true)
  await expectInPostgres(store, [exact(20, 55)])
})

test('a new store has nothing to make again', async () => {
  const store = await openChainStore({ headFrom: 0 })
  onTestFinished(() => store.close())
  expect(await leftOf(store)).toEqual([])
})
