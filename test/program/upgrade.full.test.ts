// Goal: after a kill the next version starts at once, though the lease of the killed one has not
// run out yet.
// Method: a database as an older version left it, with the lease of the same data directory, and
// the program started on it.
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, onTestFinished, test } from 'vitest'
import { installationId } from '#program/program.ts'
import { chainLease, postgresLeases } from '#store/app/leases.ts'
import { migrateApp } from '#store/maintain/migrate.ts'
import { openPostgres, type Postgres } from '#store/postgres.ts'
import { schemaOf } from '#store/sql.ts'
import { silentLogger } from '#telemetry.ts'
import { startReplay } from '../chain/startReplay.ts'
import { freshDatabase } from '../support/engines.ts'
import { freshDataDir, startMillrace } from './support/millrace.ts'

const CHAIN_ID = 42_431
const sqlFolder = new URL('../../sql/postgres/chain/', import.meta.url)
const files = readdirSync(sqlFolder).sort()
const newest = Number(files.at(-1)?.slice(0, 4))

/** The chain's schema without what the newest migration did. */
async function migrateAllButOne({ pool }: Postgres): Promise<void> {
  const schema = schemaOf(CHAIN_ID)
  await pool.query(`CREATE SCHEMA ${schema}`)
  for (const file of files.slice(0, -1)) {
    const sql = readFileSync(new URL(file, sqlFolder), 'utf8')
    await pool.query(sql.replaceAll('{schema}', schema))
    const checksum = createHash('sha256').update(sql).digest('hex')
    await pool.query('INSERT INTO app.migrations (scope, number, name, checksum) VALUES ($1, $2, $3, $4)', [
      schema,
      Number(file.slice(0, 4)),
      file.slice(5, -4),
      checksum,
    ])
  }
}

describe('an update', () => {
  test('starts beside the lease of the killed program of its own data directory', async () => {
    const access = await freshDatabase()
    onTestFinished(() => access.drop())
    const postgres = openPostgres({ url: access.databaseUrl, applicationName: 'test', log: silentLogger })
    onTestFinished(() => postgres.close())
    const replay = await startReplay('--shape', 'tempo')
    onTestFinished(() => replay.close())
    const dataDir = freshDataDir(CHAIN_ID)
    onTestFinished(() => dataDir.remove())
    await migrateApp(postgres)
    await migrateAllButOne(postgres)
    const killed = await postgresLeases(postgres).acquire(
      chainLease(CHAIN_ID),
      installationId(dataDir.path),
      3_600_000,
    )
    expect(killed.granted).toBe(true)

    const program = await startMillrace({
      RPC_URL: replay.url,
      DATABASE_URL: access.databaseUrl,
      // ClickHouse is the program's own: that of the run has one database for every chain id.
      DATA_DIR: dataDir.path,
      LOG_LEVEL: 'error',
    })
    onTestFinished(() => void program.kill())
    const { rows } = await postgres.pool.query(
      'SELECT max(number) AS number FROM app.migrations WHERE scope = $1',
      [schemaOf(CHAIN_ID)],
    )
    expect(rows).toEqual([{ number: newest }])
    expect((await program.stop()).code).toBe(0)
  })
})
