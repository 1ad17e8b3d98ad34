/**
 * Makes derived rows again from the raw archive, without a node: after the rules of a projection
 * changed, or a new one came. Postgres first, piece by piece, each piece one transaction with its
 * coverage, so that it goes on where it was stopped; then ClickHouse as a whole. Nobody writes the
 * chain meanwhile.
 */
import type { ClickHouseClient } from '@clickhouse/client'
import { type BlockRange, blockCount, formatMultirange, splitAligned, union } from '#ingest/range.ts'
import type { RawRange } from '#ingest/source.ts'
import type { EncodedBatch } from '#transform/batch.ts'
import { projections } from '#transform/projections/index.ts'
import { projectionVersions } from '#transform/projectionVersions.ts'
import {
  analyticsTableNames,
  ledgerTableNames,
  type ProjectionName,
  projectionNames,
  type TableName,
  tables,
} from '#transform/tables.ts'
import { forgetClickHouse } from '../clickhouse/journal.ts'
import { forgetFollowers } from '../follow/follower.ts'
import { readArchive } from '../ledger/archive.ts'
import { copyTables } from '../ledger/copy.ts'
import { assertFence, type Queryable } from '../ledger/lane.ts'
import { renewLedger } from '../ledger/ledger.ts'
import { createDetached, createMissingPartitions, partitionName } from '../ledger/partitions.ts'
import { insertCoverages, readOutdated } from '../ledger/projectionVersions.ts'
import type { Postgres } from '../postgres.ts'
import { quoteIdentifier, relationOf } from '../sql.ts'

export interface RederiveOptions {
  readonly postgres: Postgres
  readonly clickhouse: ClickHouseClient
  readonly schema: string
  readonly database: string
  readonly fence: bigint
  readonly decode: (raw: RawRange) => Promise<EncodedBatch>
  /** Told after every piece. */
  readonly onProgress: (blocksDone: number, blocksTotal: number) => void
}

/** A range held, and the relations its rows are in. */
interface Piece {
  readonly range: BlockRange
  /** First block of the chunk that holds it; null where its tables are attached. */
  readonly chunkFrom: number | null
}

/**
 * Blocks of one transaction, fewer where they are large: a few thousand rows to delete and to copy,
 * a few MB to read.
 */
const PIECE_BLOCKS = 256
/**
 * The proof of a block says what was proved when it came, and the archive is what rows are made
 * from.
 */
const keptTables: ReadonlySet<TableName> = new Set(['raw', 'block_proofs'])

/** Marks every projection of a chain as made by other rules. @throws FencedOutError */
export function outdateAll({
  postgres,
  schema,
  fence,
}: Pick<RederiveOptions, 'postgres' | 'schema' | 'fence'>) {
  return postgres.transaction(async (client) => {
    await assertFence(client, schema, fence)
    const coverage = `${quoteIdentifier(schema)}.coverage`
    // Projections that an interrupted run has not made yet are of version 0 already, and join those that are
    // marked now.
    await client.query(
      `WITH gone AS (DELETE FROM ${coverage} WHERE store = 'postgres' AND projection = ANY ($1) RETURNING projection, blocks)
       INSERT INTO ${coverage} (store, projection, version, blocks)
       SELECT 'postgres', projection, 0, range_agg(blocks) FROM gone GROUP BY projection`,
      [projectionNames],
    )
  })
}

/**
 * Makes every row of an outdated projection again in Postgres, and empties ClickHouse, whose lane
 * then fills it from the archive. Returns what was outdated. @throws FencedOutError,
 * ArchiveGapError, the signal's reason
 */
export async function rederiveRows(
  options: RederiveOptions,
  signal: AbortSignal,
): Promise<readonly ProjectionName[]> {
  const { postgres, schema, decode, onProgress } = options
  const outdated = await readOutdated(postgres.pool, schema)
  if (outdated.length === 0) return []
  await begin(options)
  const names = outdated.map(({ name }) => name)
  const pieces = [
    ...(await chunkPieces(postgres, schema)),
    ...outdated
      .reduce<BlockRange[]>((all, { missing }) => union(all, missing), [])
      .flatMap((range) => splitAligned(range, PIECE_BLOCKS))
      .map((range) => ({ range, chunkFrom: null })),
  ]
  const blocksTotal = pieces.reduce((sum, { range }) => sum + blockCount(range), 0)
  const read = async (piece: Piece | undefined) =>
    piece && { piece, batch: await decode(await readArchive(postgres.pool, schema, piece.range)) }
  let blocksDone = 0
  let ahead = read(pieces.shift())
  for (let made = await ahead; made; made = await ahead) {
    signal.throwIfAborted()
    const { piece, batch } = made
    // Decoded while this one is stored; its failure is thrown when its turn comes.
    ahead = read(restOf(piece, batch.range.to) ?? pieces.shift())
    ahead.catch(() => {})
    await replaceRows(options, { ...piece, range: batch.range }, names, batch)
    blocksDone += blockCount(batch.range)
    onProgress(blocksDone, blocksTotal)
  }
  await finish(options, names)
  return names
}

/** The rest of a piece: the archive gives fewer blocks than asked for if they are large. */
const restOf = ({ range, chunkFrom }: Piece, done: number): Piece | null =>
  done < range.to ? { range: { from: done + 1, to: range.to }, chunkFrom } : null

/**
 * Projections that stand on the rows go first, so that nothing is read beside them that was made of the old
 * ones.
 */
async function begin({ postgres, clickhouse, schema, database, fence }: RederiveOptions): Promise<void> {
  await postgres.transaction(async (client) => {
    await assertFence(client, schema, fence)
    await insertCoverages(client, schema)
    await forgetClickHouse(client, schema)
    await forgetFollowers(client, schema)
    await createMissingPartitions(client, schema)
    for (const chunk of await readChunks(client, schema)) await createDetached(client, schema, chunk.range)
  })
  // Tokens of rows that are gone must not meet the new ones.
  await renewLedger(postgres, schema)
  for (const name of analyticsTableNames)
    await clickhouse.command({ query: `TRUNCATE TABLE ${database}.${name}` })
}

/** The pieces that chunks have loaded so far. They are in no coverage yet, and so made again by every run. */
async function chunkPieces({ pool }: Postgres, schema: string): Promise<Piece[]> {
  const chunks = await readChunks(pool, schema)
  return chunks.flatMap(({ range: { from }, tip }) =>
    splitAligned({ from, to: tip }, PIECE_BLOCKS).map((range) => ({ range, chunkFrom: from })),
  )
}

/** Chunks that hold something. */
async function readChunks(
  client: Queryable,
  schema: string,
): Promise<{ readonly range: BlockRange; readonly tip: number }[]> {
  const chunks = await client.query<{ from_block: number; to_block: number; tip: number }>(
    `SELECT from_block, to_block, tip FROM ${quoteIdentifier(schema)}.chunks WHERE tip >= from_block ORDER BY from_block`,
  )
  return chunks.rows.map(({ from_block, to_block, tip }) => ({
    range: { from: from_block, to: to_block },
    tip,
  }))
}

async function replaceRows(
  { postgres, schema, fence }: RederiveOptions,
  { range, chunkFrom }: Piece,
  names: readonly ProjectionName[],
  batch: EncodedBatch,
): Promise<void> {
  const relation = (name: TableName) =>
    relationOf(schema, chunkFrom === null ? name : partitionName(name, chunkFrom))
  const replaced = tablesOf(names)
  await postgres.transaction(async (client) => {
    await assertFence(client, schema, fence)
    for (const name of replaced)
      await client.query(
        `DELETE FROM ${relation(name)} WHERE ${tables[name].blockColumn} BETWEEN $1 AND $2`,
        [range.from, range.to],
      )
    await copyTables(client, batch.tables, replaced, relation)
    if (chunkFrom === null) await moveCoverage(client, schema, names, range)
  })
}

/** From the version that made the old rows to ours. */
async function moveCoverage(
  client: Queryable,
  schema: string,
  names: readonly ProjectionName[],
  range: BlockRange,
): Promise<void> {
  for (const name of names)
    await client.query(
      `UPDATE ${quoteIdentifier(schema)}.coverage
       SET blocks = CASE WHEN version = $1 THEN blocks + $2::int8multirange ELSE blocks - $2::int8multirange END
       WHERE store = 'postgres' AND projection = $3`,
      [projectionVersions[name], formatMultirange([range]), name],
    )
}

/**
 * Other versions are forgotten once they hold nothing; what the replaced rows took on disk is given
 * back for new ones.
 */
async function finish(
  { postgres, schema, fence }: RederiveOptions,
  names: readonly ProjectionName[],
): Promise<void> {
  await postgres.transaction(async (client) => {
    await assertFence(client, schema, fence)
    for (const name of projectionNames)
      await client.query(
        `DELETE FROM ${quoteIdentifier(schema)}.coverage WHERE projection = $1 AND version <> $2`,
        [name, projectionVersions[name]],
      )
  })
  const client = await postgres.pool.connect()
  try {
    await client.query('SET statement_timeout = 0')
    for (const name of tablesOf(names)) await client.query(`VACUUM (ANALYZE) ${relationOf(schema, name)}`)
    await client.query('RESET statement_timeout')
  } finally {
    client.release()
  }
}

/** The tables that hold what these projections give. */
function tablesOf(names: readonly ProjectionName[]): TableName[] {
  const derived = new Map(projections.flatMap(({ name, tables: own }) => own.map((table) => [table, name])))
  return ledgerTableNames.filter(
    (table) => !keptTables.has(table) && names.includes(derived.get(table) ?? 'base'),
  )
}
