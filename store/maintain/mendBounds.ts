/**
 * Bounds of validity above 2^63 - 1 that an older version stored as 2^63 - 1: their transactions are
 * made again from the raw archive, beside reads and ingest. All blocks held at the upgrade are looked
 * through once, newest first, and nothing else is written anew. A row that truly has 2^63 - 1 is made
 * again too, as it was.
 */
import { type BlockRange, splitAligned } from '#ingest/range.ts'
import type { RawRange } from '#ingest/source.ts'
import type { EncodedBatch } from '#transform/batch.ts'
import { readArchive } from '../ledger/archive.ts'
import { copyTables } from '../ledger/copy.ts'
import { assertFence, hashOf, holdLane, type Queryable } from '../ledger/lane.ts'
import { partitionName } from '../ledger/partitions.ts'
import type { Postgres } from '../postgres.ts'
import { quoteIdentifier, relationOf } from '../sql.ts'

export interface MendBoundsOptions {
  readonly postgres: Postgres
  readonly schema: string
  readonly fence: bigint
  /** Width of a ClickHouse partition, which is made again whole. */
  readonly partitionBlocks: number
  readonly decode: (raw: RawRange) => Promise<EncodedBatch>
  /** Runs the second once ClickHouse holds no block of the first; it makes them again by itself. */
  readonly withdraw: (range: BlockRange, mend: () => Promise<void>) => Promise<void>
  /** Lets others have the disk between two looks. */
  readonly pause: () => Promise<void>
}

/** Blocks of one look: a second of reading where they are dense. */
const LOOK_BLOCKS = 4_096
/** Blocks of one transaction, which holds up the head lane's commits: their copy takes some ms each. */
const GROUP_BLOCKS = 32
/** A chunk that is not complete has no index on its blocks: all of its rows are looked at. */
const CHUNK_TIMEOUT = '1h'

/** The place of rows: attached, or in the tables of a chunk by its first block. */
type Place = number | null

/** @throws FencedOutError, ArchiveGapError, PostgresError, ClickHouseFailure, the signal's reason */
export async function mendBounds(options: MendBoundsOptions, signal: AbortSignal): Promise<void> {
  for (let left = await readLeft(options); left !== null; left = await readLeft(options)) {
    signal.throwIfAborted()
    if (!left.chunksDone) await mendChunks(options)
    else if (left.below === 0) await record(options, (table) => `DELETE FROM ${table}`)
    else await mendBelow(options, left.below, signal)
  }
}

/** Null when nothing is left to look through. */
async function readLeft({ postgres, schema }: MendBoundsOptions) {
  const { rows } = await postgres.pool.query<{ below: number; chunksDone: boolean }>(
    `SELECT below, chunks_done AS "chunksDone" FROM ${tableOf(schema)}`,
  )
  return rows[0] ?? null
}

/**
 * The blocks that an older version had loaded of chunks. They go first: a chunk that is attached meanwhile
 * is among those that are looked through next.
 */
async function mendChunks(options: MendBoundsOptions): Promise<void> {
  const { postgres, schema } = options
  const chunks = await postgres.pool.query<{ from: number; tip: number }>(
    `SELECT from_block AS "from", tip FROM ${quoteIdentifier(schema)}.chunks WHERE tip >= from_block`,
  )
  for (const { from, tip } of chunks.rows) {
    const found = await postgres.transaction(async (client) => {
      await client.query(`SET LOCAL statement_timeout = '${CHUNK_TIMEOUT}'`)
      return await findSaturated(client, txsOf(schema, from), { from, to: tip })
    })
    await mendFound(options, found, from)
  }
  await record(options, (table) => `UPDATE ${table} SET chunks_done = true`)
}

async function mendBelow(options: MendBoundsOptions, below: number, signal: AbortSignal): Promise<void> {
  const { postgres, schema, partitionBlocks, pause } = options
  const from = Math.floor((below - 1) / partitionBlocks) * partitionBlocks
  const found: number[] = []
  for (const range of splitAligned({ from, to: below - 1 }, LOOK_BLOCKS)) {
    signal.throwIfAborted()
    found.push(...(await findSaturated(postgres.pool, txsOf(schema, null), range)))
    await pause()
  }
  await mendFound(options, found, null)
  await record(options, (table) => `UPDATE ${table} SET below = ${from}`)
}

/** Blocks with a bound of 2^63 - 1, ascending. */
async function findSaturated(
  client: Queryable,
  txs: string,
  { from, to }: BlockRange,
): Promise<readonly number[]> {
  const { rows } = await client.query<{ block: number }>(
    `SELECT DISTINCT block_num AS block FROM ${txs} WHERE block_num BETWEEN $1 AND $2
       AND (valid_before = 9223372036854775807 OR valid_after = 9223372036854775807) ORDER BY block`,
    [from, to],
  )
  return rows.map(({ block }) => block)
}

async function mendFound(options: MendBoundsOptions, found: readonly number[], place: Place): Promise<void> {
  const [first, last] = [found[0], found.at(-1)]
  if (first === undefined || last === undefined) return
  await options.withdraw({ from: first, to: last }, async () => {
    for (let at = 0; at < found.length; at += GROUP_BLOCKS)
      await mendGroup(options, found.slice(at, at + GROUP_BLOCKS), place)
  })
}

async function mendGroup(
  { postgres, schema, fence, decode }: MendBoundsOptions,
  blocks: readonly number[],
  place: Place,
): Promise<void> {
  const batches: EncodedBatch[] = []
  for (const number of blocks)
    batches.push(await decode(await readArchive(postgres.pool, schema, { from: number, to: number })))
  await postgres.transaction(async (client) => {
    if (place === null) await holdLane(client, schema, fence)
    else {
      await assertFence(client, schema, fence)
      if (!(await holdChunk(client, schema, place))) return
    }
    const held = await readHashes(client, relationIn(schema, 'blocks', place), blocks)
    // Others were taken back since their archive was read.
    const kept = batches.filter(({ refs: [ref] }) => ref && held.get(ref.number) === ref.hash)
    const txs = txsOf(schema, place)
    await client.query(`DELETE FROM ${txs} WHERE block_num = ANY ($1)`, [kept.map(({ range }) => range.from)])
    for (const { tables } of kept) await copyTables(client, tables, ['txs'], () => txs)
  })
}

/** False when the chunk is attached by now, or gone. */
async function holdChunk(client: Queryable, schema: string, from: number): Promise<boolean> {
  const held = await client.query(
    `SELECT 1 FROM ${quoteIdentifier(schema)}.chunks WHERE from_block = $1 FOR UPDATE`,
    [from],
  )
  return held.rowCount === 1
}

async function readHashes(
  client: Queryable,
  relation: string,
  blocks: readonly number[],
): Promise<ReadonlyMap<number, string>> {
  const { rows } = await client.query<{ num: number; hash: Buffer }>(
    `SELECT num, hash FROM ${relation} WHERE num = ANY ($1)`,
    [blocks],
  )
  return new Map(rows.map(({ num, hash }) => [num, hashOf(hash)]))
}

const relationIn = (schema: string, name: 'blocks' | 'txs', place: Place): string =>
  relationOf(schema, place === null ? name : partitionName(name, place))

const txsOf = (schema: string, place: Place): string => relationIn(schema, 'txs', place)

const tableOf = (schema: string): string => `${quoteIdentifier(schema)}.bounds_to_mend`

async function record(
  { postgres, schema, fence }: MendBoundsOptions,
  change: (table: string) => string,
): Promise<void> {
  await postgres.transaction(async (client) => {
    await assertFence(client, schema, fence)
    await client.query(change(tableOf(schema)))
  })
}
