// Goal: a store of before numbers of 64 bits is opened while readers hold its tables, without a wait
// for them, keeps its rows, and shows what comes then as the number it is.
// Method: a recorded chain, put back to where the version before left it; a reader's transaction that
// stays open, and connections that give up a lock they do not get.
import { readFileSync } from 'node:fs'
import { expect, onTestFinished, test } from 'vitest'
import { replacePostgresViews } from '#query/setup/replaceViews.ts'
import { postgresStatements } from '#query/setup/viewStatements.ts'
import { commentPostgres } from '#store/maintain/comments.ts'
import { openPostgres } from '#store/postgres.ts'
import { uint64Sql, viewSchemaOf } from '#store/sql.ts'
import { silentLogger } from '#telemetry.ts'
import { openChainStore, recordedBatches } from '../support/chainStore.ts'
import { expectInPostgres } from '../support/expectHeld.ts'

const migration = new URL('../../../sql/postgres/chain/0033_wrap_uint64.sql', import.meta.url)

test('a start on a store of before waits for no reader and changes no row', async () => {
  const store = await openChainStore({ headFrom: 0 })
  onTestFinished(() => store.close())
  const batches = recordedBatches('tempo-dev-2k', 20).slice(0, 3)
  for (const batch of batches) await store.head.append(batch)
  const { chainId, schema, postgres } = store
  const views = viewSchemaOf(chainId)
  await postgres.pool.query(`
    COMMENT ON COLUMN ${schema}.txs.nonce IS 'nonce in its lane; null where it has no meaning';
    DROP SCHEMA IF EXISTS ${views} CASCADE;
    CREATE SCHEMA ${views};
    ${postgresStatements(chainId).map(signed).join(';')}`)

  const reader = await postgres.pool.connect()
  onTestFinished(() => reader.release(true))
  await reader.query('BEGIN')
  const readAll = `SELECT nonce, gas_limit FROM ${views}.txs ORDER BY block_num, idx`
  const before = await reader.query(readAll)
  expect(before.rows.length).toBeGreaterThan(10)

  const impatient = new URL(store.access.databaseUrl)
  impatient.searchParams.set('options', '-c lock_timeout=1000')
  const next = openPostgres({ url: impatient.href, applicationName: 'next', log: silentLogger })
  onTestFinished(() => next.close())
  await next.transaction(async (client) => {
    await client.query(readFileSync(migration, 'utf8').replaceAll('{schema}', schema))
    await commentPostgres(client, schema)
  })
  await replacePostgresViews(next, chainId)
  await expectInPostgres(store, batches)

  await next.pool.query(`UPDATE ${schema}.txs SET nonce = -1 WHERE (block_num, idx) = (
    SELECT block_num, idx FROM ${schema}.txs ORDER BY 1, 2 LIMIT 1)`)
  const after = await next.pool.query(readAll)
  expect(after.rows[0]?.nonce).toBe('18446744073709551615')
  const shown = (rows: readonly Record<string, unknown>[]) =>
    rows.map(({ nonce, gas_limit }) => `${nonce} ${gas_limit}`)
  expect(shown(after.rows).slice(1)).toEqual(shown(before.rows).slice(1))
})

/** A statement as the version before had it: what a column holds is what it shows. */
function signed(statement: string): string {
  return statement
    .replaceAll(uint64Sql('"nonce"'), '"nonce"')
    .replaceAll(uint64Sql('"gas_limit"'), '"gas_limit"')
}
