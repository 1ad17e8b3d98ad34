/**
 * Content digests read from the stores, block by block or over a range: computed by each engine
 * from its own rows, so that equal digests mean equal rows (transform/digest.ts).
 */
import type { ClickHouseClient } from '@clickhouse/client'
import type { BlockRange } from '#ingest/range.ts'
import { clickhouseDigestSql, postgresDigestSql } from '#transform/digest.ts'
import { type TableName, tables } from '#transform/tables.ts'
import { selectRows } from '../clickhouse/client.ts'
import type { Queryable } from '../ledger/lane.ts'
import { quoteIdentifier } from '../sql.ts'

export interface BlockDigest {
  readonly block: number
  readonly rows: number
  /** Sum of CRC32 over the canonical bytes of the block's rows. */
  readonly digest: number
}

/** Blocks of the range that have rows, ascending. */
export async function postgresDigests(
  client: Queryable,
  schema: string,
  name: TableName,
  range: BlockRange,
): Promise<BlockDigest[]> {
  const block = quoteIdentifier(tables[name].blockColumn)
  const result = await client.query<{ block: number; rows: number; digest: string }>(
    `SELECT ${block} AS block, count(*) AS rows, sum(${postgresDigestSql(tables[name])}) AS digest
     FROM ${quoteIdentifier(schema)}.${quoteIdentifier(name)} WHERE ${block} BETWEEN $1 AND $2 GROUP BY 1 ORDER BY 1`,
    [range.from, range.to],
  )
  return result.rows.map(asBlockDigest)
}

/** Blocks of the range that have rows, ascending. */
export async function clickhouseDigests(
  client: ClickHouseClient,
  database: string,
  name: TableName,
  range: BlockRange,
): Promise<BlockDigest[]> {
  const block = `\`${tables[name].blockColumn}\``
  const rows = await selectRows<{ block: string; rows: string; digest: string }>(
    client,
    `SELECT ${block} AS block, count() AS rows, sum(${clickhouseDigestSql(tables[name])}) AS digest
     FROM ${database}.${name} WHERE ${block} BETWEEN {from: UInt64} AND {to: UInt64} GROUP BY 1 ORDER BY 1`,
    { from: range.from, to: range.to },
  )
  return rows.map(asBlockDigest)
}

const asBlockDigest = (row: { block: unknown; rows: unknown; digest: unknown }): BlockDigest => ({
  block: Number(row.block),
  rows: Number(row.rows),
  digest: Number(row.digest),
})
