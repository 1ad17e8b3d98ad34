/**
 * A Postgres database as the migrations leave it, made once in a run. To copy it and to name its
 * schema after another chain takes a third of the time the migrations take.
 */
import { Client } from 'pg'
import { postgresLeases } from '#rows/leases.ts'
import { migrateApp, migrateChain } from '#store/maintain/migrate.ts'
import { openPostgres } from '#store/postgres.ts'
import { quoteIdentifier, schemaOf } from '#store/sql.ts'
import { silentLogger } from '#telemetry.ts'
import { FIRST_CHAIN_ID } from './engineHosts.ts'

export const migratedTemplate = 'migrated'
/** No test's own: those begin at FIRST_CHAIN_ID. */
const TEMPLATE_CHAIN_ID = FIRST_CHAIN_ID - 1

export async function makeMigratedTemplate(databaseAdminUrl: string): Promise<void> {
  await onDatabase(databaseAdminUrl, [`CREATE DATABASE ${migratedTemplate} STRATEGY file_copy`])
  const url = databaseUrlOf(databaseAdminUrl, migratedTemplate)
  const postgres = openPostgres({ url, applicationName: 'test', log: silentLogger })
  try {
    await migrateApp(postgres)
    await migrateChain(postgres, TEMPLATE_CHAIN_ID, { leases: postgresLeases(postgres) })
  } finally {
    await postgres.close()
  }
}

/** In a copy of the template: the chain of the template becomes `chainId`. */
export async function renameChain(databaseUrl: string, chainId: number): Promise<void> {
  const [from, to] = [schemaOf(TEMPLATE_CHAIN_ID), schemaOf(chainId)]
  await onDatabase(databaseUrl, [
    `ALTER SCHEMA ${quoteIdentifier(from)} RENAME TO ${quoteIdentifier(to)}`,
    `UPDATE app.migrations SET scope = '${to}' WHERE scope = '${from}'`,
  ])
}

export function databaseUrlOf(databaseAdminUrl: string, name: string): string {
  const url = new URL(databaseAdminUrl)
  url.pathname = `/${name}`
  return url.href
}

export async function onDatabase(connectionString: string, statements: readonly string[]): Promise<void> {
  const client = new Client({ connectionString })
  await client.connect()
  try {
    for (const statement of statements) await client.query(statement)
  } finally {
    await client.end()
  }
}
