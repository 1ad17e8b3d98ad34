// Goal: headers of Amsterdam arrive in both stores proved, with their two columns; a store of before
// keeps its rows, their digests and chunks, and rows are made again only where they may have them.
// Method: blocks of a devnet and of the specification's tests through the real sinks; the store of
// before is one whose columns are dropped, and its own migrations.
import { readFileSync } from 'node:fs'
import { expect, onTestFinished, test } from 'vitest'
import { parseBlock } from '#ingest/read/block.ts'
import { selectRows } from '#store/clickhouse/client.ts'
import { expandTemplate } from '#store/clickhouse/template.ts'
import { readOutdated } from '#store/ledger/projectionVersions.ts'
import { blockRow } from '#transform/rows/blockRow.ts'
import { tables } from '#transform/tables.ts'
import type { RecordedBlock } from '../../chain/recordings.ts'
import { amsterdamBlocks, amsterdamHeader } from '../../support/amsterdam.ts'
import { ethereumProfile, rangeOf } from '../../transform/ranges.ts'
import { encodeSlowly } from '../../transform/slowEncoder.ts'
import { type ChainStore, decode, openChainStore, recordedBatches, writeAll } from '../support/chainStore.ts'
import { openChunkBelowHead } from '../support/chunkBelowHead.ts'
import { expectInClickHouse, expectInPostgres } from '../support/expectHeld.ts'

const sqlOf = (file: string) => readFileSync(new URL(`../../../sql/${file}`, import.meta.url), 'utf8')
const bare = (name: Parameters<typeof amsterdamHeader>[0]) => ({ block: amsterdamHeader(name), receipts: [] })
const devnet = [bare('devnet191prague'), bare('devnet192amsterdam')]
const LIST = '0x1d33a17375e8dd0aef5da65c3f51422043f1c40d52eceaaca238cc92501aa32e'

const batchOf = (blocks: readonly RecordedBlock[]) =>
  decode({ ...rangeOf(blocks), endpoint: 'test' }, 'roots', ethereumProfile)

async function openStore(headFrom: number): Promise<ChainStore> {
  const store = await openChainStore({ headFrom, startBlock: headFrom })
  onTestFinished(() => store.close())
  return store
}

async function heldIn({ postgres, schema, clickhouse, database }: ChainStore) {
  const inPostgres = await postgres.pool.query(
    `SELECT num, encode(block_access_list_hash, 'hex') AS list, slot_number AS slot FROM ${schema}.blocks ORDER BY num`,
  )
  const inClickHouse = await selectRows(
    clickhouse,
    `SELECT toUInt32(num) AS num, lower(hex(block_access_list_hash)) AS list, toUInt32(slot_number) AS slot
     FROM ${database}.blocks ORDER BY num`,
  )
  return { postgres: inPostgres.rows, clickhouse: inClickHouse }
}

test('the two fields are columns of both stores from the fork on', async () => {
  const store = await openStore(191)
  const batch = batchOf(devnet)
  expect(batch.proofs).toMatchObject({ provedBlocks: 2, unprovableBlocks: 0 })
  await store.head.append(batch)
  await store.head.finalize(192)
  await writeAll(store)
  await expectInPostgres(store, [batch])
  await expectInClickHouse(store, [batch])
  const rows = [
    { num: 191, list: null, slot: null },
    { num: 192, list: LIST.slice(2), slot: 192 },
  ]
  expect(await heldIn(store)).toEqual({ postgres: rows, clickhouse: rows })
})

test.each(amsterdamBlocks().map((block, index) => [index, block] as const))(
  'a block of one payment and its log is proved whole, slot 0 is no absent one (%i)',
  async (_, block) => {
    const store = await openStore(1)
    const batch = batchOf([block])
    expect(batch.proofs).toMatchObject({ provedBlocks: 1, unprovableBlocks: 0 })
    await store.head.append(batch)
    await store.head.finalize(1)
    await writeAll(store)
    await expectInPostgres(store, [batch])
    await expectInClickHouse(store, [batch])
    const list = String(Object(block.block).blockAccessListHash).slice(2)
    const rows = [{ num: 1, list, slot: 0 }]
    expect(await heldIn(store)).toEqual({ postgres: rows, clickhouse: rows })
  },
)

test('a row without them has the digest that it had before there were such columns', () => {
  const row = blockRow(parseBlock(amsterdamHeader('devnet191prague')), [])
  const columns = tables.blocks.columns.filter(({ isAdded }) => !isAdded)
  expect(tables.blocks.columns.length - columns.length).toBe(2)
  const { digest } = encodeSlowly({ ...tables.blocks, columns }, [row])
  expect([...batchOf(devnet.slice(0, 1)).tables.blocks.blockDigests]).toEqual([digest])
})

/** The store as the version before left it, with a chunk that is being loaded. */
async function makeOlder({ postgres, schema, clickhouse, database }: ChainStore): Promise<void> {
  await postgres.pool.query(`
    ALTER TABLE ${schema}.blocks DROP COLUMN block_access_list_hash, DROP COLUMN slot_number;
    ALTER TABLE ${schema}.blocks_from_0 DROP COLUMN block_access_list_hash, DROP COLUMN slot_number;
    UPDATE ${schema}.coverage SET version = 2 WHERE projection = 'base'`)
  await clickhouse.command({
    query: `ALTER TABLE ${database}.blocks DROP COLUMN block_access_list_hash, DROP COLUMN slot_number`,
  })
}

async function migrate({ postgres, schema, clickhouse, database }: ChainStore): Promise<void> {
  await postgres.pool.query(sqlOf('postgres/chain/0044_add_header_fields.sql').replaceAll('{schema}', schema))
  const sql = sqlOf('clickhouse/chain/0011_add_header_fields.sql')
  const twice = [1, 2]
  for (const _ of twice) await clickhouse.command({ query: expandTemplate(sql, database, { cluster: null }) })
}

test('a store of before goes on with its rows, its digests and its chunks', async () => {
  const { store, goOn } = await openChunkBelowHead()
  await store.postgres.pool.query(`UPDATE ${store.schema}.ch_batches SET encoder = 2`)
  await makeOlder(store)
  await migrate(store)

  expect(await readOutdated(store.postgres.pool, store.schema)).toEqual([])
  await goOn()
})

test.each([
  ['of Ethereum, which has not forked', 1, 1, '2026-11-01', []],
  ['of Tempo', 42_431, 2, '2026-11-01', []],
  ['whose headers were all proved', 560_048, 1, '2026-11-01', []],
  ['that ended before there was such a header', 560_048, 2, '2026-07-01', []],
  ['with headers that were not proved', 7_000, 2, '2026-11-01', ['base']],
  ['of Sepolia before the fork', 11_155_111, 1, '2026-10-06 13:50:00Z', []],
  ['of Sepolia since, proved by its blocks bytes', 11_155_111, 1, '2026-10-06 14:00:00Z', ['base']],
])('rows of a chain %s are made again or not', async (_, chainId, header, time, outdated) => {
  const store = await openChainStore({ headFrom: 0 })
  onTestFinished(() => store.close())
  const { pool } = store.postgres
  for (const batch of recordedBatches('tempo-dev-2k', 10).slice(0, 2)) await store.head.append(batch)
  await pool.query(`UPDATE ${store.schema}.blocks SET timestamp = $1`, [time])
  await pool.query(`UPDATE ${store.schema}.block_proofs SET header = $1`, [header])
  await pool.query(`UPDATE ${store.schema}.chain SET chain_id = $1`, [chainId])
  await pool.query(`
    ALTER TABLE ${store.schema}.blocks DROP COLUMN block_access_list_hash, DROP COLUMN slot_number;
    UPDATE ${store.schema}.coverage SET version = 2 WHERE projection = 'base'`)
  await migrate(store)
  expect((await readOutdated(pool, store.schema)).map(({ name }) => name)).toEqual(outdated)
})
