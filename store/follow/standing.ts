/** The state of a chain and all that follows it: one statement, so one moment. */
import { type BlockRange, intersection, parseMultirange, type RangeSet } from '#ingest/range.ts'
import { type LaneRow, type LaneState, laneOf, type Queryable } from '../ledger/lane.ts'
import { preparedName } from '../postgres.ts'
import { relationOf } from '../sql.ts'
import { type FollowerState, revertedFromSql } from './follower.ts'

export interface LaneStanding {
  readonly lane: LaneState
  /** Oldest commit that the log still has; null while it has none. */
  readonly firstSeq: number | null
  readonly projections: readonly ProjectionStanding[]
}

interface ProjectionStanding {
  readonly name: string
  readonly version: number
  readonly coverage: RangeSet
  /** Null where it is no follower. */
  readonly seq: number | null
  readonly completed: boolean
  /** First block taken back that a follower has not looked at yet; null when there is none. */
  readonly revertedFrom: number | null
}

interface StandingRow extends LaneRow {
  first_seq: number | null
  projection: string | null
  version: number
  blocks: string
  follower_seq: number | null
  completed: boolean | null
  reverted_from: number | null
}

/** Null before the chain is opened. */
export async function readStanding(client: Queryable, schema: string): Promise<LaneStanding | null> {
  const [lanes, coverage, followers, commits] = ['lanes', 'coverage', 'followers', 'commits'].map((table) =>
    relationOf(schema, table),
  )
  const text = `SELECT lanes.from_block, lanes.tip, lanes.tip_hash, lanes.finalized, lanes.seq, lanes.fence, lanes.withdrawals,
       (SELECT min(seq) FROM ${commits}) AS first_seq,
       c.projection, c.version, c.blocks::text AS blocks,
       f.seq AS follower_seq, f.completed, CASE WHEN f.seq < lanes.seq THEN (${revertedFromSql(schema, 'f.seq')}) END AS reverted_from
     FROM ${lanes} AS lanes
     LEFT JOIN ${coverage} AS c ON c.store = 'postgres'
     LEFT JOIN ${followers} AS f ON f.name = c.projection AND f.version = c.version
     WHERE lanes.name = 'head'`
  const { rows } = await client.query<StandingRow>({ name: preparedName(text), text })
  const [first] = rows
  if (!first) return null
  const projections = rows.flatMap((row) =>
    row.projection === null ? [] : [projectionOf(row, row.projection)],
  )
  return { lane: laneOf(first), firstSeq: first.first_seq, projections }
}

const projectionOf = (row: StandingRow, name: string): ProjectionStanding => ({
  ...{ name, version: row.version, coverage: parseMultirange(row.blocks), seq: row.follower_seq },
  ...{ completed: row.completed ?? false, revertedFrom: row.reverted_from },
})

/** The state of one follower, and the first block taken back since; null before its first commit. */
export function followerIn(
  { projections }: LaneStanding,
  { name, version }: { readonly name: string; readonly version: number },
): (FollowerState & Pick<ProjectionStanding, 'revertedFrom'>) | null {
  const found = projections.find((one) => one.name === name && one.version === version)
  if (!found || found.seq === null) return null
  return { ...found, seq: found.seq }
}

/**
 * Blocks from one on that all projections cover of the chain as it stands: a follower may not have
 * looked yet since blocks of its were taken back.
 */
export function heldFrom(
  standing: LaneStanding,
  startBlock: number,
  needs: readonly string[],
): BlockRange | undefined {
  let held: RangeSet = [{ from: startBlock, to: Number.MAX_SAFE_INTEGER }]
  for (const projection of needs) held = intersection(held, heldOf(standing, projection))
  return held.find(({ from }) => from === startBlock)
}

function heldOf({ projections }: LaneStanding, projection: string): RangeSet {
  const newest = projections
    .filter(({ name }) => name === projection)
    .reduce<ProjectionStanding | null>(
      (newest, one) => (newest && newest.version > one.version ? newest : one),
      null,
    )
  if (!newest) return []
  const { coverage, revertedFrom } = newest
  return revertedFrom === null ? coverage : intersection(coverage, [{ from: 0, to: revertedFrom - 1 }])
}
