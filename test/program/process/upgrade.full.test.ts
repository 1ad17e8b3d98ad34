// Goal: after a kill the next version starts at once, though the lease of the killed one has not
// run out yet; beside a living program on a copy of its data directory it does not.
// Method: a database as an older version left it, with the lease of the same data directory, and
// the program started on it.
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { describe, expect, onTestFinished, test } from 'vitest'
import { postgresLeases } from '#rows/leases.ts'
import { chainLease } from '#store/ledger/chainLease.ts'
import { migrateApp } from '#store/maintain/migrate.ts'
import { openPostgres, type Postgres } from '#store/postgres.ts'
import { schemaOf } from '#store/sql.ts'
import { silentLogger } from '#telemetry.ts'
import { startReplay } from '../../chain/startReplay.ts'
import { freshDatabase } from '../../support/engines.ts'
import { freshDataDir, runMillrace, startMillrace } from '../support/millrace.ts'

const CHAIN_ID = 42_431
const sqlFolder = new URL('../../../sql/postgres/chain/', import.meta.url)
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

/** A database as an older program left it, and how a newer one is started on it. */
async function openOlder() {
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
  const environment = {
    RPC_URL: replay.url,
    DATABASE_URL: access.databaseUrl,
    // ClickHouse is the program's own: that of the run has one database for every chain id.
    DATA_DIR: dataDir.path,
    LOG_LEVEL: 'error',
  }
  const hold = async (holder: string, ttlMs: number) => {
    const grant = await postgresLeases(postgres).acquire(chainLease(CHAIN_ID), holder, ttlMs)
    expect(grant.granted).toBe(true)
  }
  const migrated = async () => {
    const { rows } = await postgres.pool.query(
      'SELECT max(number) AS number FROM app.migrations WHERE scope = $1',
      [schemaOf(CHAIN_ID)],
    )
    return rows[0]?.number
  }
  return { dataDir: dataDir.path, environment, hold, migrated }
}

/** A program of the directory that was killed: its name, when it has ended. */
async function killedIn(dataDir: string): Promise<string> {
  const tell = `import { leaseHolder } from '#program/process/leaseHolder.ts'; console.log(leaseHolder(process.argv[1]).name)`
  const child = spawn(process.execPath, ['--input-type=module', '--eval', tell, dataDir], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  return (await text(child.stdout)).trim()
}

describe('an update', () => {
  test('starts beside the lease of the killed program of its own data directory', async () => {
    const { dataDir, environment, hold, migrated } = await openOlder()
    await hold(await killedIn(dataDir), 3_600_000)
    const program = await startMillrace(environment)
    onTestFinished(() => void program.kill())
    expect(await migrated()).toBe(newest)
    expect((await program.stop()).code).toBe(0)
  })

  test('waits for the lease of one that it cannot see, and is refused while that one lives (W8)', async () => {
    const { dataDir, environment, hold, migrated } = await openOlder()
    const elsewhere = (await killedIn(dataDir))
      .replace(/ on .* \(/, ' on another.host (')
      .replace(/among \S+\)$/, 'among others)')
    await hold(elsewhere, 3_600_000)
    const refused = await runMillrace(['up'], environment)
    expect(refused.code).toBe(1)
    expect(refused.stderr).toMatch(
      /^millrace: DATA_DIR: process \d+ on another\.host writes with this data directory/m,
    )
    expect(await migrated()).toBe(newest - 1)
    await hold(elsewhere, 10_000)
    const program = await startMillrace(environment)
    onTestFinished(() => void program.kill())
    expect(await migrated()).toBe(newest)
    expect((await program.stop()).code).toBe(0)
  })
})
