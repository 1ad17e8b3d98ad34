/** Fresh databases for a test file, on the engines of the run. */

import { Client } from 'pg'
import { afterAll, inject } from 'vitest'

import { openClickHouse } from '#store/clickhouse/client.ts'
import { databaseOf, viewDatabaseOf } from '#store/clickhouse/template.ts'
import { CHAINS_MAX, type EngineAddresses, FIRST_CHAIN_ID } from './engineHosts.ts'

/**
 * An empty Postgres database of one's own, and a chain id whose ClickHouse databases nobody else
 * uses.
 */
export interface FreshDatabase extends Omit<EngineAddresses, 'databaseAdminUrl'> {
  /** Superuser on the new database. */
  readonly databaseUrl: string
  /**
   * `chain_<id>` and `chain_<id>_sql` are free in ClickHouse, and the reader may read the second.
   */
  readonly chainId: number
  /**
   * Drops the Postgres database and what the chain has in ClickHouse. Optional: the second goes
   * with the file, all with the run.
   */
  drop(): Promise<void>
}

/**
 * What is left in ClickHouse goes with the file that made it, after the file's own hooks: the
 * engine looks after every table it holds, with those of sixteen chains for 4 % of a core.
 */
const left = new Map<number, EngineAddresses>()
afterAll(async () => {
  for (const [chainId, addresses] of left) await dropInClickHouse(addresses, chainId)
})

/** Waits for the engines (they start with the first call of a run) and makes a database. */
export async function freshDatabase(): Promise<FreshDatabase> {
  const { number, ...engines } = await askForEngines()
  const { databaseAdminUrl, ...addresses } = engines
  if (number > CHAINS_MAX) throw new RangeError(`more than ${CHAINS_MAX} databases in one run`)
  const name = `test_${number}`
  // Copying the empty database's files is faster than writing them to the log.
  await execute(databaseAdminUrl, `CREATE DATABASE ${name} STRATEGY file_copy`)
  const databaseUrl = new URL(databaseAdminUrl)
  databaseUrl.pathname = `/${name}`
  const chainId = FIRST_CHAIN_ID + number - 1
  left.set(chainId, engines)
  return {
    ...addresses,
    databaseUrl: databaseUrl.href,
    chainId,
    async drop() {
      await execute(databaseAdminUrl, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)
      await dropInClickHouse(engines, chainId)
    },
  }
}

async function dropInClickHouse(addresses: EngineAddresses, chainId: number): Promise<void> {
  const { clickhouseUrl: url, clickhouseUsername: username, clickhousePassword: password } = addresses
  const clickhouse = openClickHouse({ url, username, password })
  try {
    for (const database of [viewDatabaseOf(chainId), databaseOf(chainId)])
      await clickhouse.command({ query: `DROP DATABASE IF EXISTS ${database}` })
    left.delete(chainId)
  } finally {
    await clickhouse.close()
  }
}

async function askForEngines(): Promise<EngineAddresses & { readonly number: number }> {
  const response = await fetch(inject('enginesUrl'))
  const text = await response.text()
  if (!response.ok) throw new Error(text)
  return JSON.parse(text)
}

async function execute(connectionString: string, sql: string): Promise<void> {
  const client = new Client({ connectionString })
  await client.connect()
  try {
    await client.query(sql)
  } finally {
    await client.end()
  }
}
