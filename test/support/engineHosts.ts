/**
 * Starts the databases of a test run: embedded, or with TEST_CONTAINERS=1 the real servers in
 * containers.
 */

import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'

import { startClickHouse } from '#local/engines/clickhouse/clickhouse.ts'
import { openDataDir } from '#local/engines/dataDir.ts'
import { startPostgres } from '#local/engines/postgres/postgres.ts'
import { silentLogger } from '#telemetry.ts'

/** The addresses of the engines. */
export interface EngineAddresses {
  /** Postgres superuser, database `postgres`. */
  readonly databaseAdminUrl: string
  readonly clickhouseUrl: string
  readonly clickhouseUsername: string
  readonly clickhousePassword: string
  /** The folder from which ClickHouse reads files of ours; null in a container. */
  readonly clickhouseRowsFolder: string | null
  /**
   * May only SELECT from the databases `chain_<id>_sql` of freshDatabase()'s chain ids. Embedded
   * only.
   */
  readonly readerUsername: string
  readonly readerPassword: string
}

export interface Engines {
  readonly addresses: EngineAddresses
  stop(): Promise<void>
}

/** The first chain id given to tests; far from any real chain's that a fixture may use. */
export const FIRST_CHAIN_ID = 990_000_000
/** How many chains one run may ask for: each is a grant written before the engine starts. */
export const CHAINS_MAX = 500
/** The recording that whole programs index in tests has it. */
const RECORDED_CHAIN_ID = 42_431

export function startEngines(): Promise<Engines> {
  return process.env['TEST_CONTAINERS'] === '1' ? startContainers() : startEmbedded()
}

async function startEmbedded(): Promise<Engines> {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-test-'))
  const { path } = openDataDir(folder)
  const chainIds = Array.from({ length: CHAINS_MAX }, (_, index) => FIRST_CHAIN_ID + index)
  const readerGrants = [...chainIds, RECORDED_CHAIN_ID].map((chainId) => `chain_${chainId}_sql.*`)
  const [postgres, clickhouse] = await Promise.all([
    startPostgres({ dataDir: path, log: silentLogger }),
    startClickHouse({ dataDir: path, log: silentLogger, readerGrants }),
  ])
  await forgetDisk(postgres.adminUrl)
  const watch = endWhenKilled(postgres.pid, folder)
  return {
    addresses: {
      databaseAdminUrl: postgres.adminUrl,
      clickhouseUrl: clickhouse.url,
      clickhouseUsername: clickhouse.username,
      clickhousePassword: clickhouse.password,
      clickhouseRowsFolder: clickhouse.rowsFolder,
      readerUsername: clickhouse.readerUsername,
      readerPassword: clickhouse.readerPassword,
    },
    async stop() {
      await Promise.all([postgres.stop(), clickhouse.stop()])
      watch.kill()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/**
 * This server ends with the run and is never killed before, so that nothing has to survive on disk:
 * to make and drop a database takes a quarter of the time. Tests of crashes have servers of their
 * own.
 */
async function forgetDisk(adminUrl: string): Promise<void> {
  const client = new Client({ connectionString: adminUrl })
  await client.connect()
  for (const setting of ['fsync', 'full_page_writes']) await client.query(`ALTER SYSTEM SET ${setting} = off`)
  await client.query('SELECT pg_reload_conf()')
  await client.end()
}

/**
 * Postgres outlives a killed program by design. A killed test run must leave nothing: this shell
 * sees our pipe close.
 */
function endWhenKilled(pid: number, folder: string): ChildProcess {
  const script = 'read -r line; kill -INT "$1"; sleep 3; rm -rf "$2"'
  const watch = spawn('sh', ['-c', script, 'sh', String(pid), folder], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  watch.unref()
  return watch
}

async function startContainers(): Promise<Engines> {
  const [{ PostgreSqlContainer }, { ClickHouseContainer }] = await Promise.all([
    import('@testcontainers/postgresql'),
    import('@testcontainers/clickhouse'),
  ])
  const [postgres, clickhouse] = await Promise.all([
    new PostgreSqlContainer('postgres:18').withDatabase('postgres').start(),
    new ClickHouseContainer('clickhouse/clickhouse-server:26.7').start(),
  ])
  return {
    addresses: {
      databaseAdminUrl: postgres.getConnectionUri(),
      clickhouseUrl: clickhouse.getHttpUrl(),
      clickhouseUsername: clickhouse.getUsername(),
      clickhousePassword: clickhouse.getPassword(),
      clickhouseRowsFolder: null,
      readerUsername: '',
      readerPassword: '',
    },
    async stop() {
      await Promise.all([postgres.stop(), clickhouse.stop()])
    },
  }
}
