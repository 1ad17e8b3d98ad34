/**
 * Sealing a ClickHouse partition: once every block of it is written, its content is digested from
 * its own rows and compared with the sum of the batches that were sent. Later aggregates are
 * computed from sealed partitions alone.
 */
import type { ClickHouseClient } from '@clickhouse/client'
import { type BlockRange, covers, type RangeSet } from '#ingest/range.ts'
import { clickhouseDigestSql } from '#transform/digest.ts'
import { analyticsTableNames, type TableName, tables } from '#transform/tables.ts'
import { readCoverage } from '../ledger/lane.ts'
import type { Postgres } from '../postgres.ts'
import { quoteIdentifier } from '../sql.ts'
import { selectRows } from './client.ts'
import type { ClickHouseJournal } from './journal.ts'

export interface SealOptions {
  readonly postgres: Postgres
  readonly clickhouse: ClickHouseClient
  readonly journal: ClickHouseJournal
  readonly schema: string
  readonly database: string
  readonly partitionBlocks: number
}

export interface Seal {
  readonly partition: number
  readonly agreed: boolean
}

/**
 * Seals the lowest whole partition that is not sealed yet; null when there is none. Its batches
 * become one in the journal.
 */
export async function sealNextPartition(options: SealOptions): Promise<Seal | null> {
  const { postgres, schema, partitionBlocks } = options
  const coverage = await readCoverage(postgres.pool, schema, 'clickhouse')
  const sealed = await postgres.pool.query<{ partition: number }>(
    `SELECT DISTINCT partition FROM ${quoteIdentifier(schema)}.seals`,
  )
  const done = new Set(sealed.rows.map((row) => row.partition))
  const partition = lowestWhole(coverage, partitionBlocks, done)
  return partition === null ? null : seal(options, partition)
}

function lowestWhole(coverage: RangeSet, width: number, done: ReadonlySet<number>): number | null {
  for (const { from, to } of coverage)
    for (let partition = Math.ceil(from / width); (partition + 1) * width - 1 <= to; partition++)
      if (!done.has(partition) && covers(coverage, rangeOf(partition, width))) return partition
  return null
}

const rangeOf = (partition: number, width: number): BlockRange => ({
  from: partition * width,
  to: (partition + 1) * width - 1,
})

async function seal(options: SealOptions, partition: number): Promise<Seal> {
  const { postgres, journal, schema, partitionBlocks } = options
  const range = rangeOf(partition, partitionBlocks)
  const expected = await journal.expected(range)
  let agreed = true
  for (const name of analyticsTableNames) {
    const found = await digestOf(options, name, range)
    const sent = expected.get(name) ?? { rows: 0n, digest: 0n }
    const same = sent.rows === found.rows && sent.digest === found.digest
    agreed &&= same
    await postgres.pool.query(
      `INSERT INTO ${quoteIdentifier(schema)}.seals (partition, table_name, rows, digest, agreed) VALUES ($1, $2, $3, $4, $5)
       ON CONFLICT (partition, table_name) DO UPDATE SET rows = $3, digest = $4, agreed = $5, sealed_at = now()`,
      [partition, name, found.rows, found.digest, same],
    )
  }
  if (agreed) await journal.merge(range)
  return { partition, agreed }
}

async function digestOf(
  { clickhouse, database }: SealOptions,
  name: TableName,
  range: BlockRange,
): Promise<{ rows: bigint; digest: bigint }> {
  const [found] = await selectRows<{ rows: string; digest: string }>(
    clickhouse,
    `SELECT count() AS rows, sum(${clickhouseDigestSql(tables[name])}) AS digest FROM ${database}.${name}
     WHERE \`${tables[name].blockColumn}\` BETWEEN {from: UInt64} AND {to: UInt64}`,
    { from: range.from, to: range.to },
  )
  return { rows: BigInt(found?.rows ?? 0), digest: BigInt(found?.digest ?? 0) }
}
