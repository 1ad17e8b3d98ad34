// Goal: a store of before gets the table of the native coin with all of its partitions and goes on;
// where there may be rows, they are made from the archive, and nowhere else.
// Method: stores whose table is dropped, their own migration, and the recorded chain through the real
// sinks; digests of both engines must be the encoder's afterwards.
import { readFileSync } from 'node:fs'
import { expect, onTestFinished, test } from 'vitest'
import { readOutdated } from '#store/ledger/projectionVersions.ts'
import { rederiveRows } from '#store/maintain/rederive.ts'
import { amsterdamBlocks } from '../../support/amsterdam.ts'
import { ethereumProfile, rangeOf } from '../../transform/ranges.ts'
import { type ChainStore, decode, openChainStore, writeAll } from '../support/chainStore.ts'
import { openChunkBelowHead } from '../support/chunkBelowHead.ts'
import { expectInPostgres } from '../support/expectHeld.ts'

const migration = readFileSync(
  new URL('../../../sql/postgres/chain/0046_create_native_transfers.sql', import.meta.url),
  'utf8',
)

/** The store as the version before left it, and then its migration. */
async function upgrade({ postgres, schema }: ChainStore): Promise<void> {
  const { pool } = postgres
  const { rows } = await pool.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class WHERE relnamespace = '${schema}'::regnamespace
       AND relkind = 'r' AND NOT relispartition AND relname ~ '^native_transfers_from_'`,
  )
  for (const { name } of rows) await pool.query(`DROP TABLE ${schema}.${name}`)
  await pool.query(`
    DROP TABLE ${schema}.native_transfers;
    DELETE FROM ${schema}.coverage WHERE projection = 'native_transfers'`)
  await pool.query(migration.replaceAll('{schema}', schema))
}

const outdatedIn = async ({ postgres, schema }: ChainStore) =>
  (await readOutdated(postgres.pool, schema)).map(({ name }) => name)

test('elsewhere a chunk that is being loaded may have rows, though the head has none', async () => {
  const { store } = await openChunkBelowHead()
  await store.postgres.pool.query(`UPDATE ${store.schema}.chain SET header_rule = 'ethereum'`)
  await upgrade(store)
  expect(await outdatedIn(store)).toEqual(['native_transfers'])
})

test('a store of Tempo goes on with its partitions and with a chunk that is being loaded', async () => {
  const { store, goOn } = await openChunkBelowHead()
  await store.postgres.pool.query(`UPDATE ${store.schema}.chain SET header_rule = 'tempo'`)
  await upgrade(store)

  expect(await outdatedIn(store)).toEqual([])
  await goOn()
})

test('elsewhere rows of what is held are made from the archive, in both stores', async () => {
  const [block] = amsterdamBlocks()
  if (!block) throw new Error('no block of the specification')
  const store = await openChainStore({ headFrom: 1, startBlock: 1 })
  onTestFinished(() => store.close())
  const batch = decode({ ...rangeOf([block]), endpoint: 'test' }, 'roots', ethereumProfile)
  expect(batch.tables.native_transfers.rowCount).toBe(1)
  await store.head.append(batch)
  await store.head.finalize(1)
  await writeAll(store)
  await upgrade(store)

  expect(await outdatedIn(store)).toEqual(['native_transfers'])
  const options = {
    ...store,
    decode: async (raw: Parameters<typeof decode>[0]) => decode(raw, 'roots', ethereumProfile),
    onProgress: () => {},
  }
  expect(await rederiveRows(options, new AbortController().signal)).toEqual(['native_transfers'])
  const next = await openChainStore({
    ...{ headFrom: 1, startBlock: 1, beside: store, fence: store.fence + 1n, cacheBytes: 0 },
  })
  onTestFinished(() => next.close())
  await expectInPostgres(next, [batch])
  expect(await outdatedIn(next)).toEqual([])
})
