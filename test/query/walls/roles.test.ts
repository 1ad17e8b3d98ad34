// Goal: the reader’s role on Postgres has what it needs and nothing of PUBLIC is taken from others.
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { grantViews, prepareReaderRole, ReaderRoleError } from '#query/postgres/setup/roles.ts'
import { replacePostgresViews } from '#query/setup/replaceViews.ts'
import { migrateApp } from '#store/maintain/migrate.ts'
import { openEngine } from '../support/engine.ts'
import { createExampleChain, type ExampleChain } from '../support/exampleChain.ts'

let chain: ExampleChain

beforeAll(async () => {
  chain = await createExampleChain()
})

afterAll(async () => {
  await chain?.close()
})

/** Runs one statement as a role, with its password. */
async function as(role: string, sql: string): Promise<unknown[]> {
  const url = new URL(chain.database.databaseUrl)
  url.username = role
  url.password = 'secret'
  const client = new pg.Client({ connectionString: url.href })
  await client.connect()
  try {
    return (await client.query(sql)).rows
  } finally {
    await client.end()
  }
}

describe('prepareReaderRole', () => {
  it('works for an owner who is no superuser', async () => {
    const { chainId, postgres } = chain
    const owner = `owner_${chainId}`
    const { rows } = await postgres.pool.query('SELECT current_database() AS name')
    await postgres.pool.query(`CREATE ROLE ${owner} LOGIN CREATEROLE PASSWORD 'secret'`)
    await postgres.pool.query(`ALTER DATABASE ${rows[0]?.name} OWNER TO ${owner}`)
    await postgres.pool.query(`ALTER SCHEMA chain_${chainId}_sql OWNER TO ${owner}`)
    for (const name of ['blocks', 'txs', 'receipts', 'logs']) {
      await postgres.pool.query(`ALTER VIEW chain_${chainId}_sql.${name} OWNER TO ${owner}`)
    }
    const administrator = { query: async (sql: string) => ({ rows: rowsOf(await as(owner, sql)) }) }
    // The catalogs of this cluster are closed to all but superusers; elsewhere they are open.
    await postgres.pool.query(`GRANT SELECT ON ALL TABLES IN SCHEMA pg_catalog TO ${owner}`)
    await postgres.pool.query(`GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA pg_catalog TO ${owner}`)
    const role = {
      name: `other_${chainId}`,
      password: 'secret',
      chainIds: [chainId],
      connectionsMax: 5,
      ownsCluster: false,
    }
    await prepareReaderRole(administrator, role)
    await prepareReaderRole(administrator, role)
    await expect(as(role.name, `DELETE FROM chain_${chainId}_sql.logs`)).rejects.toMatchObject({
      code: '42501',
    })
    await expect(as(role.name, `SELECT 1 FROM chain_${chainId}.logs`)).rejects.toMatchObject({
      code: '42501',
    })
    await expect(as(role.name, 'CREATE TEMP TABLE t (x int)')).rejects.toMatchObject({ code: /42501|25006/ })
  })

  it('takes nothing from PUBLIC on a cluster that is not ours alone', async () => {
    const { chainId, postgres } = chain
    await postgres.pool.query(givePublicSql)
    const before = await rightsOfPublic()
    const role = { name: `guest_${chainId}`, password: 'x', chainIds: [], connectionsMax: 5 }
    await prepareReaderRole(postgres.pool, { ...role, ownsCluster: false })
    expect(await rightsOfPublic()).toEqual(before)
    expect(before).toEqual({ connect: true, temporary: true, usage: true })
    await prepareReaderRole(postgres.pool, { ...role, ownsCluster: true })
    expect(await rightsOfPublic()).toEqual({ connect: false, temporary: false, usage: false })
  })

  it('finds given back what an earlier version took from PUBLIC, and only that', async () => {
    const { chainId, postgres } = chain
    await prepareReaderRole(postgres.pool, {
      name: `millrace_reader_${chainId}`,
      password: 'x',
      chainIds: [],
      connectionsMax: 5,
      ownsCluster: true,
    })
    expect(await rightsOfPublic()).toEqual({ connect: false, temporary: false, usage: false })
    await migrateApp(postgres)
    expect(await rightsOfPublic()).toEqual({ connect: true, temporary: true, usage: true })
    await postgres.pool.query(takeFromPublicSql)
    await migrateApp(postgres)
    expect(await rightsOfPublic()).toEqual({ connect: false, temporary: false, usage: false })
  })

  it('refuses a role that may do more than read', async () => {
    const { chainId, postgres } = chain
    const name = `creator_${chainId}`
    await postgres.pool.query(`CREATE ROLE ${name} CREATEDB`)
    const role = { name, password: 'x', chainIds: [], connectionsMax: 5, ownsCluster: true }
    await expect(prepareReaderRole(postgres.pool, role)).rejects.toThrow(ReaderRoleError)
  })

  it('lets the reader in again after the views were made anew', async () => {
    const { chainId, postgres } = chain
    const engine = openEngine(chain, 'postgres')
    const request = { chainId, sql: 'SELECT count(*) FROM blocks', limit: 1, timeoutMs: 20_000 }
    await postgres.pool.query(`ALTER SCHEMA chain_${chainId}_sql OWNER TO CURRENT_USER`)
    // Views that are right are left as they are; these were made by other statements, for all it
    // knows.
    await postgres.pool.query(`COMMENT ON SCHEMA chain_${chainId}_sql IS NULL`)
    await replacePostgresViews(postgres, chainId)
    await expect(engine.run(request)).rejects.toMatchObject({ code: 'sql_refused' })
    await grantViews(postgres.pool, `reader_${chainId}`, chainId)
    expect((await engine.run(request)).rows).toEqual([['5']])
    await engine.close()
  })
})

const rightsSql = (verb: string, whom: string) => `DO $$ BEGIN
  EXECUTE format('${verb} ALL ON DATABASE %I ${whom} PUBLIC', current_database());
  ${verb} USAGE ON SCHEMA public ${whom} PUBLIC; END $$`
const givePublicSql = rightsSql('GRANT', 'TO')
const takeFromPublicSql = rightsSql('REVOKE', 'FROM')

async function rightsOfPublic(): Promise<unknown> {
  const { rows } = await chain.postgres.pool.query(
    `SELECT has_database_privilege('public', current_database(), 'CONNECT') AS connect,
      has_database_privilege('public', current_database(), 'TEMPORARY') AS temporary,
      has_schema_privilege('public', 'public', 'USAGE') AS usage`,
  )
  return rows[0]
}

function rowsOf(rows: readonly unknown[]): Record<string, unknown>[] {
  return rows.map((row) => Object.fromEntries(Object.entries(row ?? {})))
}
