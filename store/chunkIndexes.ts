/** The indexes of a chunk's detached tables, built once its rows are there. */
import type pg from 'pg'
import { ledgerTableNames, type TableName } from '#transform/tables.ts'
import { partitionName, primaryKey } from './partitions.ts'
import { type Postgres, relationOf } from './postgres.ts'

/**
 * Tables indexed at the same time, each on a connection of its own. Building is nearly all CPU, and the server's own parallel
 * workers are started anew for every index, which small ones do not repay. Two chunks may be at it, and the lanes need
 * connections too.
 */
const TABLES_AT_ONCE = 2

/** Building indexes takes longer than any statement of a live lane may. */
const STATEMENT_TIMEOUT = '1h'
/** Sorts a few hundred thousand keys without the disk; held twice a chunk. */
const SORT_MEMORY = '128MB'
/**
 * Sets the rows ANALYZE looks at, 300 times as many. The server's default of 100 cost as much as a fifth of all indexes, and its sample
 * of 30,000 is most of a small chunk; selectivity of addresses and hashes, of which nearly all are rare, is known from this.
 */
const STATISTICS_TARGET = 25

/**
 * Builds on a chunk's tables every index their parents have; ATTACH then adopts them instead of building its own. Each table is a
 * transaction, so that what was built before a failure is not built again.
 */
export async function indexDetached(postgres: Postgres, schema: string, fromBlock: number): Promise<void> {
  const names = await postgres.transaction((client) => largestFirst(client, schema, fromBlock))
  const work = async () => {
    for (let name = names.shift(); name; name = names.shift()) {
      const table = name
      await postgres.transaction((client) => indexTable(client, schema, table, fromBlock))
    }
  }
  const ends = await Promise.allSettled(Array.from({ length: TABLES_AT_ONCE }, work))
  for (const end of ends) if (end.status === 'rejected') throw end.reason
}

/** The longest work begins first, or the last table would be built while the other connection has nothing to do. */
async function largestFirst(client: pg.PoolClient, schema: string, fromBlock: number): Promise<TableName[]> {
  const childOf = (name: TableName) => relationOf(schema, partitionName(name, fromBlock))
  const { rows } = await client.query<{ name: TableName }>(
    `SELECT name FROM unnest($1::text[], $2::text[]) AS t (name, child) ORDER BY pg_table_size(child::regclass) DESC`,
    [ledgerTableNames, ledgerTableNames.map(childOf)],
  )
  return rows.map(({ name }) => name)
}

async function indexTable(
  client: pg.PoolClient,
  schema: string,
  name: TableName,
  fromBlock: number,
): Promise<void> {
  await client.query(`
    SET LOCAL statement_timeout = '${STATEMENT_TIMEOUT}';
    SET LOCAL maintenance_work_mem = '${SORT_MEMORY}';
    SET LOCAL max_parallel_maintenance_workers = 0;
    SET LOCAL default_statistics_target = ${STATISTICS_TARGET}`)
  const child = relationOf(schema, partitionName(name, fromBlock))
  const keys = await client.query('SELECT 1 FROM pg_index WHERE indrelid = $1::regclass AND indisprimary', [
    child,
  ])
  if (keys.rowCount === 0) await client.query(`ALTER TABLE ${child} ADD ${primaryKey(name)}`)
  const missing = await client.query<{ shape: string }>(missingIndexesSql, [relationOf(schema, name), child])
  for (const { shape } of missing.rows) await client.query(`CREATE INDEX ON ${child} ${shape}`)
  await client.query(`ANALYZE ${child}`)
}

/** An index's shape is its definition from USING on: what it indexes, without names. */
const missingIndexesSql = `
  WITH shapes AS (
    SELECT indrelid, substring(pg_get_indexdef(indexrelid) FROM 'USING .*$') AS shape
    FROM pg_index WHERE indrelid IN ($1::regclass, $2::regclass) AND NOT indisprimary)
  SELECT shape FROM shapes WHERE indrelid = $1::regclass
  EXCEPT
  SELECT shape FROM shapes WHERE indrelid = $2::regclass`
