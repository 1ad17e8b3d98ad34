/**
 * The partitioned tables of a chain. History arrives in detached tables, one set per chunk, which
 * are indexed and then attached: that is their commit. The head lane writes into partitions made
 * ahead of it.
 */
import type pg from 'pg'
import type { BlockRange } from '#ingest/range.ts'
import { ledgerTableNames, type TableName, tables } from '#transform/tables.ts'
import { quoteIdentifier, relationOf } from '../sql.ts'
import type { Queryable } from './lane.ts'

/**
 * A head partition spans this many blocks at first: some six days of a chain with two blocks a
 * second.
 */
const HEAD_PARTITION_BLOCKS_MIN = 1 << 20
/**
 * With more partitions attached than this, planning a list costs more than reading it (64: 1.6 ms;
 * 256: 9 ms).
 */
const PARTITIONS_MAX = 64
/**
 * A smaller chunk would spend its time on its 50 indexes and on attaching, not on rows: 12,000
 * blocks of two transactions took Postgres 6.5 CPU s in chunks of 4,096 until their rows were
 * there, and take 2.0 in one.
 */
const CHUNK_BLOCKS_MIN = 16_384

/** Longest wait for readers of a partition that gives its name to a chunk; the chunk is tried again. */
const RENAME_LOCK_TIMEOUT = '2s'

/** Table of a chunk, also once it is attached. */
export const partitionName = (table: TableName, fromBlock: number): string => `${table}_from_${fromBlock}`
/**
 * One that the head lane writes into has a name of its own: a lane that was emptied and sealed
 * leaves it attached, and a chunk may begin at the same block. Versions before had one name for
 * both (`freeChunkNames`).
 */
const headPartitionName = (table: TableName, fromBlock: number): string => `${table}_head_${fromBlock}`

/**
 * Blocks of one history chunk: a power of two, so that chunks of a growing target nest, and never
 * more than half of the partitions.
 */
export function chunkBlocks(target: BlockRange): number {
  const share = (target.to - target.from + 1) / (PARTITIONS_MAX / 2)
  return Math.max(CHUNK_BLOCKS_MIN, 2 ** Math.ceil(Math.log2(Math.max(1, share))))
}

/**
 * End of the head partition that holds `block`: grows with the chain, so that their number stays
 * bounded.
 */
export function headPartitionEnd(block: number): number {
  const width = Math.max(
    HEAD_PARTITION_BLOCKS_MIN,
    2 ** Math.ceil(Math.log2(Math.max(1, block / (PARTITIONS_MAX / 4)))),
  )
  return (Math.floor(block / width) + 1) * width - 1
}

/**
 * Makes the partitions that hold `range` (and only those missing), inside the caller's transaction.
 */
export async function createHeadPartitions(
  client: pg.PoolClient,
  schema: string,
  range: BlockRange,
): Promise<void> {
  for (const name of ledgerTableNames)
    await createPartition(client, schema, name, headPartitionName(name, range.from), range)
}

async function createPartition(
  client: pg.PoolClient,
  schema: string,
  name: TableName,
  partition: string,
  range: BlockRange,
): Promise<void> {
  const parent = relationOf(schema, name)
  const child = relationOf(schema, partition)
  await client.query(
    `CREATE TABLE IF NOT EXISTS ${child} PARTITION OF ${parent} FOR VALUES FROM (${range.from}) TO (${range.to + 1})`,
  )
}

/**
 * Tables that are read by their key while their chunk is still being loaded: the ClickHouse lane
 * derives from the archive what its cache has dropped. The others get their key with the other
 * indexes: built over rows that are in its order already, it costs a third of what keeping it up
 * row by row does.
 */
const keyedFromStart: ReadonlySet<TableName> = new Set(['raw'])

/**
 * Makes a chunk's detached tables. The bounds are a check from the start, which costs a comparison
 * per row and saves ATTACH a scan of the table. That no row comes twice is seen to by the chunk's
 * tip, which moves in the transaction of its rows. Vacuum leaves them alone until they are
 * attached: it would sample rows again as the table grows, and an index waits a second for a vacuum
 * under way before that gives up.
 */
export async function createDetached(
  client: pg.PoolClient,
  schema: string,
  range: BlockRange,
): Promise<void> {
  await freeChunkNames(client, schema, range.from)
  for (const name of ledgerTableNames) {
    const { blockColumn } = tables[name]
    const parent = relationOf(schema, name)
    const child = relationOf(schema, partitionName(name, range.from))
    await client.query(`
      CREATE TABLE IF NOT EXISTS ${child} (
        LIKE ${parent} INCLUDING DEFAULTS INCLUDING STORAGE,
        ${keyedFromStart.has(name) ? `PRIMARY KEY (${keyColumns(name)}),` : ''}
        CONSTRAINT block_bounds CHECK (${blockColumn} >= ${range.from} AND ${blockColumn} < ${range.to + 1}))
      WITH (autovacuum_enabled = off, toast.autovacuum_enabled = off)`)
  }
}

/**
 * A partition that has a chunk's name is the head lane's, made by a version that named both alike, or
 * a chunk's of before whose blocks were taken back. It gets another name: rows of the new chunk would
 * go into it, and be dropped with it.
 */
async function freeChunkNames(client: Queryable, schema: string, fromBlock: number): Promise<void> {
  for (const { parent, child } of await namedAsChunk(client, schema, fromBlock)) {
    await client.query(`SET LOCAL lock_timeout = '${RENAME_LOCK_TIMEOUT}'`)
    await client.query(
      `ALTER TABLE ${relationOf(schema, child)} RENAME TO ${quoteIdentifier(headPartitionName(parent, fromBlock))}`,
    )
    await client.query('SET LOCAL lock_timeout = DEFAULT')
  }
}

const namedAsChunk = async (client: Queryable, schema: string, fromBlock: number) =>
  (await listPartitions(client, schema)).filter(
    ({ parent, child }) => child === partitionName(parent, fromBlock),
  )

/** Columns of a table's primary key, as SQL. */
export const keyColumns = (name: TableName): string => tables[name].key.map(quoteIdentifier).join(', ')

/** Attaches a chunk's tables, inside the caller's transaction. */
export async function attachDetached(
  client: pg.PoolClient,
  schema: string,
  range: BlockRange,
): Promise<void> {
  for (const name of ledgerTableNames) {
    const parent = relationOf(schema, name)
    const child = relationOf(schema, partitionName(name, range.from))
    await client.query(
      `ALTER TABLE ${parent} ATTACH PARTITION ${child} FOR VALUES FROM (${range.from}) TO (${range.to + 1})`,
    )
    await client.query(
      `ALTER TABLE ${child} DROP CONSTRAINT block_bounds, RESET (autovacuum_enabled, toast.autovacuum_enabled)`,
    )
  }
}

/**
 * Gives every table the partitions that `blocks` has: a table that came with an update has none of
 * history.
 */
export async function createMissingPartitions(client: pg.PoolClient, schema: string): Promise<void> {
  const attached = await listPartitions(client, schema)
  for (const { range } of attached.filter(({ parent }) => parent === 'blocks'))
    for (const name of ledgerTableNames)
      if (!attached.some((one) => one.parent === name && one.range.from === range.from))
        await createPartition(client, schema, name, partitionName(name, range.from), range)
}

/**
 * Removes a chunk's detached tables, inside the caller's transaction. A chunk that was only planned
 * has none; an attached table of its name is not its own.
 */
export async function dropDetached(client: Queryable, schema: string, fromBlock: number): Promise<void> {
  const attached = await namedAsChunk(client, schema, fromBlock)
  for (const name of ledgerTableNames.filter((one) => !attached.some(({ parent }) => parent === one)))
    await client.query(`DROP TABLE IF EXISTS ${relationOf(schema, partitionName(name, fromBlock))}`)
}

/**
 * Blocks of the attached partitions, which every table has alike; ascending and disjoint, also
 * where they touch.
 */
export async function readPartitioned(client: Queryable, schema: string): Promise<BlockRange[]> {
  const partitions = (await listPartitions(client, schema)).filter(({ parent }) => parent === 'blocks')
  return partitions.map(({ range }) => range).sort((a, b) => a.from - b.from)
}

/** A table attached to a partitioned one. */
export interface Partition {
  readonly parent: TableName
  readonly child: string
  readonly range: BlockRange
}

/** Every attached table of the chain. */
export async function listPartitions(client: Queryable, schema: string): Promise<Partition[]> {
  const found = await client.query<{ parent: TableName; child: string; bound: string }>(
    `SELECT p.relname AS parent, c.relname AS child, pg_get_expr(c.relpartbound, c.oid) AS bound
     FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid JOIN pg_class p ON p.oid = i.inhparent
     WHERE p.relnamespace = $1::regnamespace AND p.relkind = 'p' AND p.relname = ANY ($2)`,
    [quoteIdentifier(schema), ledgerTableNames],
  )
  return found.rows.map(({ parent, child, bound }) => {
    const [from = 0, end = 0] = (bound.match(/\d+/g) ?? []).map(Number)
    return { parent, child, range: { from, to: end - 1 } }
  })
}
