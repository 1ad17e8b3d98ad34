/**
 * Whether both stores hold the same rows: content digests of every table, computed by each engine
 * from its own rows (transform/digest.ts), so that equal digests mean equal rows.
 */
import type { ClickHouseClient } from '@clickhouse/client'
import { type BlockRange, intersection, newestSegment, type RangeSet } from '#ingest/range.ts'
import { analyticsTableNames, type TableName } from '#transform/tables.ts'
import type { Postgres } from '../postgres.ts'
import { type BlockDigest, clickhouseDigests, postgresDigests } from './digests.ts'

export interface ParityStores {
  readonly postgres: Postgres
  readonly clickhouse: ClickHouseClient
  readonly schema: string
  readonly database: string
}

/** Rows of a range and the sum of their digests. */
export interface RangeDigest {
  readonly rows: number
  /** Decimal: sums of many rows outgrow a double. */
  readonly digest: string
}

export interface TableParity {
  readonly table: TableName
  readonly postgres: RangeDigest
  readonly clickhouse: RangeDigest
  /** Lowest block whose rows differ; null where none does. */
  readonly firstDifference: number | null
}

/** The newest blocks that both stores hold whole, as one range; undefined while there are none. */
export const newestShared = (postgres: RangeSet, clickhouse: RangeSet): BlockRange | undefined =>
  newestSegment(intersection(postgres, clickhouse))

/** Compares every table over a range that both stores hold. @throws what a store throws */
export async function compareRange(stores: ParityStores, range: BlockRange): Promise<readonly TableParity[]> {
  const compared: TableParity[] = []
  for (const table of analyticsTableNames) {
    const [postgres, clickhouse] = await Promise.all([
      postgresDigests(stores.postgres.pool, stores.schema, table, range),
      clickhouseDigests(stores.clickhouse, stores.database, table, range),
    ])
    const firstDifference = firstUnequal(postgres, clickhouse)
    compared.push({ table, postgres: sumOf(postgres), clickhouse: sumOf(clickhouse), firstDifference })
  }
  return compared
}

const sumOf = (blocks: readonly BlockDigest[]): RangeDigest => ({
  rows: blocks.reduce((sum, { rows }) => sum + rows, 0),
  digest: `${blocks.reduce((sum, { digest }) => sum + BigInt(digest), 0n)}`,
})

/** Both ascend by block. */
function firstUnequal(one: readonly BlockDigest[], two: readonly BlockDigest[]): number | null {
  for (let index = 0; index < Math.max(one.length, two.length); index++) {
    const [a, b] = [one[index], two[index]]
    if (a?.block === b?.block && a?.rows === b?.rows && a?.digest === b?.digest) continue
    return Math.min(a?.block ?? Number.POSITIVE_INFINITY, b?.block ?? Number.POSITIVE_INFINITY)
  }
  return null
}
