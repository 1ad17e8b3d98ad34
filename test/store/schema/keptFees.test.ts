// Goal: after an upgrade rows are made again only where a chain's fees have rules of their own.
// Method: a recorded chain as the version before left it, and its own migration.
import { readFileSync } from 'node:fs'
import { expect, onTestFinished, test } from 'vitest'
import { readOutdated } from '#store/ledger/projectionVersions.ts'
import { projectionVersions } from '#transform/projectionVersions.ts'
import { openChainStore, recordedBatches } from '../support/chainStore.ts'

const migration = new URL('../../../sql/postgres/chain/0040_keep_plain_fees.sql', import.meta.url)

test.each([
  ['Tempo', 4_217, 126, []],
  ['a chain with types of Ethereum alone', 137, 2, []],
  ['a rollup', 10, 126, ['base']],
  ['Celo', 42_220, 123, ['base']],
  ['zkSync', 324, 255, ['base']],
])('%s', async (_, chainId, type, outdated) => {
  const store = await openChainStore({ headFrom: 0 })
  onTestFinished(() => store.close())
  const { pool } = store.postgres
  for (const batch of recordedBatches('tempo-dev-2k', 10).slice(0, 2)) await store.head.append(batch)
  await pool.query(`UPDATE ${store.schema}.coverage SET version = 1 WHERE projection = 'base'`)
  await pool.query(`UPDATE ${store.schema}.chain SET chain_id = $1`, [chainId])
  await pool.query(
    `UPDATE ${store.schema}.txs SET type = $1 WHERE block_num = (SELECT max(block_num) FROM ${store.schema}.txs)`,
    [type],
  )
  await pool.query(readFileSync(migration, 'utf8').replaceAll('{schema}', store.schema))
  // Versions after that one have migrations of their own.
  await pool.query(
    `UPDATE ${store.schema}.coverage SET version = $1 WHERE projection = 'base' AND version = 2`,
    [projectionVersions.base],
  )
  expect((await readOutdated(pool, store.schema)).map(({ name }) => name)).toEqual(outdated)
})
