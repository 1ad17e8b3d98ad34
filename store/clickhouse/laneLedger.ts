/**
 * The ClickHouse lane's knowledge of Postgres: which blocks it may write next, and the payloads to make
 * them from.
 */
import { type BlockRange, difference, intersection, union } from '#ingest/range.ts'
import type { RawRange } from '#ingest/source.ts'
import { readArchive } from '../ledger/archive.ts'
import { readCoverage, readLane } from '../ledger/lane.ts'
import type { Postgres } from '../postgres.ts'
import { quoteIdentifier } from '../sql.ts'

export interface MissingRange extends BlockRange {
  /**
   * History that is loaded to its end: what comes next, at the head, is no reason to wait with it.
   */
  readonly ended?: boolean
  /**
   * A chunk of history that is still being loaded: more follows at once, and nobody reads it before
   * all of it is there.
   */
  readonly loading?: boolean
}

export interface LaneLedger {
  /** Blocks that Postgres holds, are final, and ClickHouse lacks; ascending. */
  missing(): Promise<readonly MissingRange[]>
  /** The archive of the range, or of as many of its first blocks as are good to hold. */
  archive(range: BlockRange): Promise<RawRange>
}

export function postgresLaneLedger(postgres: Postgres, schema: string): LaneLedger {
  const { pool } = postgres
  return {
    async missing() {
      const lane = await readLane(pool, schema)
      const covered = await readCoverage(pool, schema, 'postgres')
      const chunks = await loadedChunks(postgres, schema)
      const final = intersection(union(covered, chunks), [{ from: 0, to: lane?.finalized ?? -1 }])
      const isLoading = (block: number) => chunks.some(({ to, end }) => to === block && to < end)
      return difference(final, await readCoverage(pool, schema, 'clickhouse')).map(({ from, to }) => ({
        from,
        to,
        ended: lane !== null && to < lane.fromBlock && !isLoading(to),
        loading: isLoading(to),
      }))
    },
    archive: (range) => readArchive(pool, schema, range),
  }
}

/** Blocks that chunks have loaded so far: committed in Postgres, though not yet attached. */
async function loadedChunks({ pool }: Postgres, schema: string): Promise<readonly LoadedChunk[]> {
  const result = await pool.query<{ from_block: number; tip: number; to_block: number }>(
    `SELECT from_block, tip, to_block FROM ${quoteIdentifier(schema)}.chunks WHERE tip >= from_block`,
  )
  return result.rows.map((row) => ({ from: row.from_block, to: row.tip, end: row.to_block }))
}

/** A chunk as far as it is loaded; `end` is the last block it is going to hold. */
interface LoadedChunk extends BlockRange {
  readonly end: number
}
