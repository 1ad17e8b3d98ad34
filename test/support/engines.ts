/** Fresh databases for a test file, on the engines of the run. */

import { Client } from 'pg'
import { inject } from 'vitest'

import { CHAINS_MAX, type EngineAddresses, FIRST_CHAIN_ID } from './engineHosts.ts'

/** An empty Postgres database of one's own, and a chain id whose ClickHouse databases nobody else uses. */
export interface FreshDatabase extends Omit<EngineAddresses, 'databaseAdminUrl'> {
  /** Superuser on the new database. */
  readonly databaseUrl: string
  /** `chain_<id>` and `chain_<id>_sql` are free in ClickHouse, and the reader may read the second. */
  readonly chainId: number
  /** Drops the Postgres database. Optional: everything goes with the run. */
  drop(): Promise<void>
}

/** Waits for the engines (they start with the first call of a run) and makes a database. */
export async function freshDatabase(): Promise<FreshDatabase> {
  const { number, databaseAdminUrl, ...addresses } = await askForEngines()
  if (number > CHAINS_MAX) throw new RangeError(`more than ${CHAINS_MAX} databases in one run`)
  const name = `test_${number}`
  // Copying the empty database's files is faster than writing them to the log.
  await execute(databaseAdminUrl, `CREATE DATABASE ${name} STRATEGY file_copy`)
  const databaseUrl = new URL(databaseAdminUrl)
  databaseUrl.pathname = `/${name}`
  return {
    ...addresses,
    databaseUrl: databaseUrl.href,
    chainId: FIRST_CHAIN_ID + number - 1,
    drop: () => execute(databaseAdminUrl, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`),
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
