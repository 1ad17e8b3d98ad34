/** What the ClickHouse lane has to know of Postgres: which blocks it may write next, and the payloads to make them from. */
import { type BlockRange, difference, intersection, type RangeSet, union } from '#ingest/range.ts'
import type { RawRange } from '#ingest/source.ts'
import { readArchive } from '../archive.ts'
import { readCoverage, readLane } from '../lane.ts'
import { type Postgres, quoteIdentifier } from '../postgres.ts'

export interface LaneLedger {
  /** Blocks that Postgres holds, are final, and ClickHouse lacks; ascending. */
  missing(): Promise<RangeSet>
  /** The node's answers for the range, as they were fetched. */
  archive(range: BlockRange): Promise<RawRange>
}

export function postgresLaneLedger(postgres: Postgres, schema: string): LaneLedger {
  const { pool } = postgres
  return {
    async missing() {
      const lane = await readLane(pool, schema)
      const held = union(await readCoverage(pool, schema, 'postgres'), await loadedChunks(postgres, schema))
      const final = intersection(held, [{ from: 0, to: lane?.finalized ?? -1 }])
      return difference(final, await readCoverage(pool, schema, 'clickhouse'))
    },
    archive: (range) => readArchive(pool, schema, range),
  }
}

/** What chunks have loaded so far: committed in Postgres, though not yet attached. */
async function loadedChunks({ pool }: Postgres, schema: string): Promise<RangeSet> {
  const result = await pool.query<{ from_block: number; tip: number }>(
    `SELECT from_block, tip FROM ${quoteIdentifier(schema)}.chunks WHERE tip >= from_block`,
  )
  return result.rows.map((row) => ({ from: row.from_block, to: row.tip }))
}
