/**
 * The contents of the stores after a run: rows and content of every table, so that no run is fast because
 * it lost some.
 */
import type { ClickHouseClient } from '@clickhouse/client'
import type pg from 'pg'
import { selectRows } from '#store/clickhouse/client.ts'
import { relationOf } from '#store/sql.ts'
import { clickhouseDigestSql, postgresDigestSql } from '#transform/digest.ts'
import { analyticsTableNames, type TableName, tables } from '#transform/tables.ts'

/** `rows digest` of each table that ClickHouse stores, and Postgres stores or has a view for. */
export type Totals = Readonly<Partial<Record<TableName, string>>>

/** @throws when the stores do not hold the same */
export async function readTotals(
  client: pg.Client,
  schema: string,
  clickhouse: ClickHouseClient,
  database: string,
): Promise<Totals> {
  const totals: Partial<Record<TableName, string>> = {}
  for (const name of analyticsTableNames) {
    const found = await client.query<{ total: string }>(
      `SELECT count(*) || ' ' || coalesce(sum(${postgresDigestSql(tables[name])}), 0) AS total FROM ${relationOf(schema, name)}`,
    )
    const [mirrored] = await selectRows<{ total: string }>(
      clickhouse,
      `SELECT concat(toString(count()), ' ', toString(sum(${clickhouseDigestSql(tables[name])}))) AS total FROM ${database}.${name}`,
    )
    const total = found.rows[0]?.total ?? ''
    if (total !== mirrored?.total)
      throw new Error(`${name}: Postgres has ${total}, ClickHouse ${mirrored?.total}`)
    totals[name] = total
  }
  return totals
}
