import type { ClickHouseClient } from '@clickhouse/client'
import { databaseOf, viewDatabaseOf } from '../clickhouse/template.ts'
import type { Postgres } from '../postgres.ts'
import { quoteIdentifier, replacedViewSchemaOf, schemaOf, viewSchemaOf } from '../sql.ts'

/**
 * Forgets a chain in both stores, as if it had never been opened. The caller holds its lease, or is
 * the only program on these stores.
 */
export async function dropChain(
  postgres: Postgres,
  clickhouse: ClickHouseClient,
  chainId: number,
): Promise<void> {
  for (const database of [viewDatabaseOf(chainId), databaseOf(chainId)])
    await clickhouse.command({ query: `DROP DATABASE IF EXISTS ${database} SYNC` })
  await postgres.transaction(async (client) => {
    const { rows } = await client.query<{ name: string }>(
      'SELECT nspname AS name FROM pg_namespace WHERE starts_with(nspname, $1)',
      [replacedViewSchemaOf(chainId, '')],
    )
    const replaced = rows.map(({ name }) => name)
    for (const schema of [...replaced, viewSchemaOf(chainId), schemaOf(chainId)])
      await client.query(`DROP SCHEMA IF EXISTS ${quoteIdentifier(schema)} CASCADE`)
    await client.query('DELETE FROM app.migrations WHERE scope = $1', [schemaOf(chainId)])
  })
}
