/**
 * Makes a chain's views what `views.ts` declares. Views that are so already stay. Other ones are
 * replaced without a wait for the queries that read them, and without an end to these: such a query
 * may be another process', which goes on with the views it began with.
 */
import { hash } from 'node:crypto'
import type { ClickHouseClient } from '@clickhouse/client'
import { selectRows } from '#store/clickhouse/client.ts'
import { databaseOf, viewDatabaseOf } from '#store/clickhouse/template.ts'
import { type Postgres, PostgresError } from '#store/postgres.ts'
import { quoteIdentifier, replacedViewSchemaOf, viewSchemaOf } from '#store/sql.ts'
import { viewsOf } from '../relations/views.ts'
import { clickhouseViewSql, postgresStatements } from './viewStatements.ts'

/**
 * Time to wait for readers of replaced views before their schema is left to the next start. New
 * readers would queue behind a longer wait.
 */
const DROP_WAIT_MS = 100

/** SQLSTATE of a lock that was not free in time. */
const lockNotAvailable = '55P03'

const fingerprintOf = (text: string): string => `millrace views ${hash('sha256', text)}`

/**
 * The views belong to us, so reading one needs no right on what is behind it. A schema that was
 * replaced keeps its views under another name until nobody reads them.
 */
export async function replacePostgresViews(postgres: Postgres, chainId: number): Promise<void> {
  const statements = postgresStatements(chainId)
  const fingerprint = fingerprintOf(statements.join(';'))
  const name = viewSchemaOf(chainId)
  const schema = quoteIdentifier(name)
  if (!(await hasViews(postgres, chainId, fingerprint)))
    await postgres.transaction(async (client) => {
      await client.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [name])
      const { rows } = await client.query<{ isThere: boolean; now: string }>(
        `SELECT to_regnamespace($1) IS NOT NULL AS "isThere", pg_current_xact_id()::text AS now`,
        [schema],
      )
      const [found] = rows
      if (found?.isThere)
        await client.query(
          `ALTER SCHEMA ${schema} RENAME TO ${quoteIdentifier(replacedViewSchemaOf(chainId, found.now))}`,
        )
      await client.query(`CREATE SCHEMA ${schema}`)
      for (const statement of statements) await client.query(statement)
      await client.query(`COMMENT ON SCHEMA ${schema} IS '${fingerprint}'`)
    })
  await dropReplaced(postgres, chainId)
}

/** Whether they were made by these statements, and none was dropped with a table since. */
async function hasViews(postgres: Postgres, chainId: number, fingerprint: string): Promise<boolean> {
  const found = await postgres.pool.query<{ comment: string | null; views: number }>(
    `SELECT obj_description(oid, 'pg_namespace') AS comment,
       (SELECT count(*)::int FROM pg_class WHERE relnamespace = n.oid AND relkind = 'v') AS views
     FROM pg_namespace AS n WHERE nspname = $1`,
    [viewSchemaOf(chainId)],
  )
  const [row] = found.rows
  return row?.comment === fingerprint && row.views === viewsOf('postgres').length
}

async function dropReplaced(postgres: Postgres, chainId: number): Promise<void> {
  const { rows } = await postgres.pool.query<{ name: string }>(
    'SELECT nspname AS name FROM pg_namespace WHERE starts_with(nspname, $1)',
    [replacedViewSchemaOf(chainId, '')],
  )
  for (const { name } of rows) {
    try {
      await postgres.transaction(async (client) => {
        await client.query(`SET LOCAL lock_timeout = ${DROP_WAIT_MS}`)
        await client.query(`DROP SCHEMA IF EXISTS ${quoteIdentifier(name)} CASCADE`)
      })
    } catch (error) {
      if (!(error instanceof PostgresError) || error.sqlState !== lockNotAvailable) throw error
    }
  }
}

/** `security` makes them readable without a right on what is behind them. */
export async function replaceClickHouseViews(
  clickhouse: ClickHouseClient,
  chainId: number,
  security: string,
): Promise<void> {
  const database = viewDatabaseOf(chainId)
  await clickhouse.command({ query: `CREATE DATABASE IF NOT EXISTS ${database} ENGINE = Atomic` })
  const held = await selectRows<{ name: string; comment: string }>(
    clickhouse,
    'SELECT name, comment FROM system.tables WHERE database = {database: String}',
    { database },
  )
  const comments = new Map(held.map(({ name, comment }) => [name, comment]))
  for (const view of viewsOf('clickhouse')) {
    const sql = clickhouseViewSql(view, database, databaseOf(chainId), security)
    const fingerprint = fingerprintOf(sql)
    if (comments.get(view.name) === fingerprint) continue
    await clickhouse.command({ query: `${sql} COMMENT '${fingerprint}'` })
  }
}
