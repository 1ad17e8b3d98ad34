/**
 * History in Postgres: chunks fill detached tables in order, and attaching a finished chunk is its
 * commit. One that lies inside a partition of the head lane is moved into it instead, piece by
 * piece.
 */

import { failure, MillraceError, type Remedy } from '#errors.ts'
import {
  type BlockRange,
  blockCount,
  covers,
  difference,
  intersection,
  type RangeSet,
  splitAligned,
} from '#ingest/range.ts'
import type { Chunk, HistorySink } from '#ingest/sink.ts'
import type { BlockRef } from '#primitives.ts'
import type { EncodedBatch } from '#transform/batch.ts'
import { ledgerTableNames, type TableName, tables } from '#transform/tables.ts'
import { quoteIdentifier, toBytes } from '../sql.ts'
import { indexBlocks, indexDetached } from './chunkIndexes.ts'
import { copyBatch } from './copy.ts'
import {
  assertFence,
  extendCoverage,
  hashOf,
  type Queryable,
  readCoverage,
  readLane,
  readRef,
  readRefOf,
} from './lane.ts'
import { blocksOfBytes, MOVED_BYTES, moveLastBlocks } from './moveChunk.ts'
import type { PostgresSinkOptions } from './PostgresHeadSink.ts'
import {
  attachDetached,
  chunkBlocks,
  createDetached,
  dropDetached,
  partitionName,
  readPartitioned,
} from './partitions.ts'

/**
 * Longest revert of a chunk: until it is complete, its rows have no index on their block, and all
 * of them are read.
 */
const REVERT_TIMEOUT = '1h'

interface ChunkRow {
  from_block: number
  to_block: number
  tip: number
  tip_hash: Buffer | null
  first_parent_hash: Buffer | null
}

export class PostgresHistorySink implements HistorySink<EncodedBatch> {
  readonly #options: PostgresSinkOptions
  readonly #schema: string

  constructor(options: PostgresSinkOptions) {
    this.#options = options
    this.#schema = quoteIdentifier(options.schema)
  }

  async openChunks(target: BlockRange): Promise<readonly Chunk[]> {
    const { postgres, schema, fence } = this.#options
    if (blockCount(target) <= 0) return []
    return postgres.transaction(async (client) => {
      await assertFence(client, schema, fence)
      const begun = await this.#readChunks(client)
      // The lane may have begun again further down since the target was read.
      const lane = await readLane(client, schema)
      const wanted = { from: target.from, to: Math.min(target.to, (lane?.fromBlock ?? 0) - 1) }
      const covered = await readCoverage(client, schema, 'postgres')
      const missing = difference(
        blockCount(wanted) > 0 ? [wanted] : [],
        [...covered, ...begun.map((chunk) => chunk.range)].sort((a, b) => a.from - b.from),
      )
      const whole = splitAtBounds(missing, await readPartitioned(client, schema))
      for (const range of whole.flatMap((gap) => splitAligned(gap, chunkBlocks(target))))
        await client.query(
          `INSERT INTO ${this.#schema}.chunks (from_block, to_block, tip) VALUES ($1, $2, $3)`,
          [range.from, range.to, range.from - 1],
        )
      return (await this.#readChunks(client)).filter(
        (chunk) => chunk.range.from <= target.to && chunk.range.to >= target.from,
      )
    })
  }

  async appendToChunk(chunk: Chunk, batch: EncodedBatch): Promise<void> {
    const { postgres, schema, fence, listener, failpoint } = this.#options
    const [first, last] = [batch.refs[0], batch.refs.at(-1)]
    if (!first || !last) throw new Error('a batch has at least one block')
    await postgres.transaction(async (client) => {
      await assertFence(client, schema, fence)
      if (first.number === chunk.range.from) await createDetached(client, schema, chunk.range)
      const moved = await client.query(
        `UPDATE ${this.#schema}.chunks SET tip = $1, tip_hash = $2, first_parent_hash = coalesce(first_parent_hash, $3)
         WHERE from_block = $4 AND tip = $5 AND to_block >= $1 AND (tip_hash IS NULL OR tip_hash = $3)`,
        [last.number, toBytes(last.hash), toBytes(first.parentHash), chunk.range.from, first.number - 1],
      )
      if (moved.rowCount !== 1) throw new ChunkMismatchError(schema, chunk.range, first.number)
      failpoint('postgres.chunk.rows')
      await copyBatch(client, batch.tables, (name) => this.#detached(name, chunk.range.from))
      failpoint('postgres.chunk.commit')
    })
    await listener.appended(batch, 'history')
  }

  refInChunk({ range }: Chunk, number: number): Promise<BlockRef | null> {
    return readRefOf(this.#options.postgres.pool, this.#detached('blocks', range.from), number)
  }

  async revertChunk(chunk: Chunk, to: BlockRef | null): Promise<void> {
    const { postgres, listener } = this.#options
    const orphans = { from: (to?.number ?? chunk.range.from - 1) + 1, to: chunk.tip }
    await listener.withdraw(orphans, () =>
      postgres.transaction((client) => this.#dropAbove(client, chunk, to)),
    )
  }

  async #dropAbove(client: Queryable, { range, tip, tipHash }: Chunk, to: BlockRef | null): Promise<void> {
    const { schema, fence, failpoint } = this.#options
    await client.query(`SET LOCAL statement_timeout = '${REVERT_TIMEOUT}'`)
    await assertFence(client, schema, fence)
    const moved = await client.query(
      `UPDATE ${this.#schema}.chunks SET tip = $1, tip_hash = $2::bytea, first_parent_hash = CASE WHEN $2::bytea IS NULL THEN NULL ELSE first_parent_hash END
       WHERE from_block = $3 AND tip = $4 AND tip_hash = $5`,
      [to?.number ?? range.from - 1, to && toBytes(to.hash), range.from, tip, tipHash && toBytes(tipHash)],
    )
    if (moved.rowCount !== 1) throw new ChunkMismatchError(schema, range, tip + 1)
    if (!to) await dropDetached(client, schema, range.from)
    else
      for (const name of ledgerTableNames)
        await client.query(
          `DELETE FROM ${this.#detached(name, range.from)} WHERE ${tables[name].blockColumn} > $1`,
          [to.number],
        )
    failpoint('postgres.chunk.revert')
  }

  async attachChunk(chunk: Chunk): Promise<void> {
    const { postgres, schema, fence, failpoint } = this.#options
    // Not held while indexes are built, which takes long: the next writer would wait for it to take
    // over.
    const assertMayWrite = () => postgres.transaction((client) => assertFence(client, schema, fence))
    if (covers(await readPartitioned(postgres.pool, schema), chunk.range))
      return this.#moveChunk(chunk, assertMayWrite)
    await indexDetached(postgres, schema, chunk.range.from, assertMayWrite)
    failpoint('postgres.chunk.attach')
    await postgres.transaction(async (client) => {
      await assertFence(client, schema, fence)
      await this.#readComplete(client, chunk)
      await attachDetached(client, schema, chunk.range)
      await client.query(`DELETE FROM ${this.#schema}.chunks WHERE from_block = $1`, [chunk.range.from])
      await extendCoverage(client, schema, 'postgres', chunk.range)
      failpoint('postgres.chunk.attached')
    })
  }

  async #moveChunk({ range }: Chunk, assertMayWrite: () => Promise<void>): Promise<void> {
    const { postgres, schema, fence, failpoint, pieceBytes = MOVED_BYTES } = this.#options
    await indexBlocks(postgres, schema, range.from, assertMayWrite)
    const blocks = await blocksOfBytes(postgres.pool, schema, range, pieceBytes)
    for (let to = range.to; to >= range.from; to -= blocks) {
      await postgres.transaction(async (client) => {
        await assertFence(client, schema, fence)
        const rest = { from: range.from, to }
        await this.#readComplete(client, { range: rest })
        await moveLastBlocks(client, schema, rest, blocks)
        failpoint('postgres.chunk.move')
      })
      failpoint('postgres.chunk.moved')
    }
  }

  /** @throws ChunkMismatchError unless the chunk is loaded to its end, ChunkUnlinkedError */
  async #readComplete(client: Queryable, { range }: Pick<Chunk, 'range'>): Promise<void> {
    const [row] = await this.#readRows(client, range.from)
    if (!row || row.tip !== row.to_block || row.to_block !== range.to)
      throw new ChunkMismatchError(this.#options.schema, range, row?.tip ?? -1)
    await this.#assertLinked(client, row)
  }

  /**
   * A chunk must continue its lower neighbour and be continued by its upper one, where we hold
   * them.
   */
  async #assertLinked(client: Queryable, row: ChunkRow): Promise<void> {
    const { schema } = this.#options
    const below = await readRef(client, schema, row.from_block - 1)
    const above = await readRef(client, schema, row.to_block + 1)
    const ours = { first: row.first_parent_hash, last: row.tip_hash }
    if (!ours.first || !ours.last)
      throw new ChunkMismatchError(schema, { from: row.from_block, to: row.to_block }, row.tip)
    const range = { from: row.from_block, to: row.to_block }
    if (below && below.hash !== hashOf(ours.first)) throw new ChunkUnlinkedError(schema, range, 'stop')
    if (!above || above.parentHash === hashOf(ours.last)) return
    // The head lane may have begun on a branch that is not the chain, and will take it back; or the
    // chunk ends on one, which is asked for before the next try.
    throw new ChunkUnlinkedError(schema, range, 'retry')
  }

  async #readChunks(client: Queryable): Promise<Chunk[]> {
    const rows = await this.#readRows(client)
    return rows.map((row) => ({
      range: { from: row.from_block, to: row.to_block },
      tip: row.tip,
      tipHash: row.tip_hash ? hashOf(row.tip_hash) : null,
    }))
  }

  async #readRows(client: Queryable, fromBlock?: number): Promise<ChunkRow[]> {
    const result = await client.query<ChunkRow>(
      `SELECT * FROM ${this.#schema}.chunks WHERE $1::bigint IS NULL OR from_block = $1 ORDER BY from_block`,
      [fromBlock ?? null],
    )
    return result.rows
  }

  #detached(name: TableName, fromBlock: number): string {
    return `${this.#schema}.${quoteIdentifier(partitionName(name, fromBlock))}`
  }
}

/** Pieces of the gaps that each lie in one partition or in none. */
const splitAtBounds = (gaps: RangeSet, partitioned: RangeSet): BlockRange[] =>
  [
    ...difference(gaps, partitioned),
    ...partitioned.flatMap((partition) => intersection(gaps, [partition])),
  ].sort((a, b) => a.from - b.from)

/** A batch does not continue what its chunk holds. Re-open the chunks and go on from their tips. */
export class ChunkMismatchError extends failure('ChunkMismatchError', 'chunk_mismatch', 'retry') {
  constructor(schema: string, range: BlockRange, at: number) {
    super(`${schema}: block ${at} does not continue the chunk ${range.from}..${range.to}`)
  }
}

/**
 * A finished chunk does not link to a neighbour: a node answered with another chain than it did
 * before.
 */
export class ChunkUnlinkedError extends MillraceError {
  override readonly name = 'ChunkUnlinkedError'
  readonly code = 'chunk_unlinked'
  readonly remedy: Remedy

  constructor(schema: string, range: BlockRange, remedy: Remedy) {
    super(
      `${schema}: the chunk ${range.from}..${range.to} does not link to its neighbours; RPC_URL may serve two chains`,
    )
    this.remedy = remedy
  }
}
