/**
 * Rows of a chunk that lies inside an attached partition: a gap that a downtime left in one of the
 * head lane's. Its tables cannot be attached there, so its rows move into the partition. That takes
 * no lock that a reader waits for, and leaves no partition behind however many gaps there were.
 */
import type { BlockRange } from '#ingest/range.ts'
import { ledgerTableNames, tables } from '#transform/tables.ts'
import { quoteIdentifier, relationOf, toBytes } from '../sql.ts'
import { extendCoverage, type Queryable, readRef } from './lane.ts'
import { dropDetached, partitionName } from './partitions.ts'

/**
 * Bytes of rows that one transaction moves. They go into indexes that are kept up row by row:
 * seconds on a slow disk, which is what another writer waits for at most, and what a kill undoes.
 */
export const MOVED_BYTES = 64 * 1024 * 1024
/** One transaction; its blocks may hold many times the bytes of others. */
const MOVE_TIMEOUT = '10min'

/** Blocks of a chunk whose rows are about `bytes`; at least one. */
export async function blocksOfBytes(
  client: Queryable,
  schema: string,
  { from, to }: BlockRange,
  bytes: number,
): Promise<number> {
  const relations = ledgerTableNames.map((name) => relationOf(schema, partitionName(name, from)))
  const { rows } = await client.query<{ bytes: number }>(
    'SELECT sum(pg_table_size(relation::regclass))::bigint AS bytes FROM unnest($1::text[]) AS t (relation)',
    [relations],
  )
  return Math.max(1, Math.floor(((to - from + 1) * bytes) / (rows[0]?.bytes ?? bytes)))
}

/**
 * Moves the rows of the chunk's last blocks, inside the caller's transaction, and ends the chunk
 * below them. From the top down, so that a head lane whose first block is another one now cannot
 * begin above what is moved.
 */
export async function moveLastBlocks(
  client: Queryable,
  schema: string,
  chunk: BlockRange,
  blocks: number,
): Promise<void> {
  const piece = { from: Math.max(chunk.from, chunk.to - blocks + 1), to: chunk.to }
  await client.query(`SET LOCAL statement_timeout = '${MOVE_TIMEOUT}'`)
  for (const name of ledgerTableNames) {
    const columns = tables[name].columns.map((column) => quoteIdentifier(column.name)).join(', ')
    await client.query(
      `INSERT INTO ${relationOf(schema, name)} (${columns})
       SELECT ${columns} FROM ${relationOf(schema, partitionName(name, chunk.from))}
       WHERE ${tables[name].blockColumn} BETWEEN $1 AND $2`,
      [piece.from, piece.to],
    )
  }
  if (piece.from > chunk.from) await endBelow(client, schema, chunk, piece.from)
  else {
    await client.query(`DELETE FROM ${quoteIdentifier(schema)}.chunks WHERE from_block = $1`, [chunk.from])
    await dropDetached(client, schema, chunk.from)
  }
  // Last: the head lane's own commits wait for these rows.
  await extendCoverage(client, schema, 'postgres', piece)
}

/** The rest is a whole chunk too: the next writer goes on with it as with any other. */
async function endBelow(
  client: Queryable,
  schema: string,
  { from }: BlockRange,
  moved: number,
): Promise<void> {
  const first = await readRef(client, schema, moved)
  await client.query(
    `UPDATE ${quoteIdentifier(schema)}.chunks SET to_block = $2::bigint - 1, tip = $2::bigint - 1, tip_hash = $3
     WHERE from_block = $1`,
    [from, moved, first && toBytes(first.parentHash)],
  )
}
