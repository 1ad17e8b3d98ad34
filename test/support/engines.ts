/** Fresh databases for a test file, on the engines of the run. */

import { afterAll, inject } from 'vitest'

import { openClickHouse } from '#store/clickhouse/client.ts'
import { databaseOf, viewDatabaseOf } from '#store/clickhouse/template.ts'
import { CHAINS_MAX, type EngineAddresses, FIRST_CHAIN_ID } from './engineHosts.ts'
import { databaseUrlOf, migratedTemplate, onDatabase, renameChain } from './migratedTemplate.ts'

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
 * The data left in ClickHouse goes with the file that made it, after the file's own hooks: the engine looks
 * after every table it holds, with those of sixteen chains for 4 % of a core.
 */
const left = new Map<number, EngineAddresses>()
afterAll(async () => {
  for (const [chainId, addresses] of left) await dropInClickHouse(addresses, chainId)
})

/** Waits for the engines (they start with the first call of a run) and makes an empty database. */
export async function freshDatabase(): Promise<FreshDatabase> {
  return makeDatabase(await askForEngines('/'), 'template1')
}

/** A database with what all chains share and the chain's own schema, as their migrations make them. */
export async function migratedDatabase(): Promise<FreshDatabase> {
  const database = await makeDatabase(await askForEngines('/migrated'), migratedTemplate)
  await renameChain(database.databaseUrl, database.chainId)
  return database
}

async function makeDatabase(
  { number, ...engines }: EngineAddresses & { readonly number: number },
  template: string,
): Promise<FreshDatabase> {
  const { databaseAdminUrl, ...addresses } = engines
  if (number > CHAINS_MAX) throw new RangeError(`more than ${CHAINS_MAX} databases in one run`)
  const name = `test_${number}`
  // Copying the template's files is faster than writing them to the log.
  await onDatabase(databaseAdminUrl, [`CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY file_copy`])
  const chainId = FIRST_CHAIN_ID + number - 1
  left.set(chainId, engines)
  return {
    ...addresses,
    databaseUrl: databaseUrlOf(databaseAdminUrl, name),
    chainId,
    async drop() {
      await onDatabase(databaseAdminUrl, [`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`])
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

async function askForEngines(
  path: '/' | '/migrated',
): Promise<EngineAddresses & { readonly number: number }> {
  const response = await fetch(new URL(path, inject('enginesUrl')))
  const text = await response.text()
  if (!response.ok) throw new Error(text)
  return JSON.parse(text)
}
