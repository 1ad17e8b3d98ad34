/**
 * Takes a chain back to an earlier block, as if it had never gone further: for an operator who
 * knows that what came later is wrong. The ledger changes in one transaction; ClickHouse is then
 * brought to what the ledger says.
 */

import { failure } from '#errors.ts'
import { type BlockRange, difference, formatMultirange, splitAligned, union } from '#ingest/range.ts'
import { ledgerTableNames, tables } from '#transform/tables.ts'
import { forgetBatches } from '../clickhouse/journal.ts'
import { provedHeight } from '../finality/finalityProofs.ts'
import { forgetFollowers } from '../follow/follower.ts'
import { logCommit } from '../ledger/commits.ts'
import {
  assertFence,
  type LaneState,
  moveTip,
  type Queryable,
  readCoverage,
  readLane,
  readRef,
  readRefs,
  reduceCoverage,
} from '../ledger/lane.ts'
import { dropDetached, listPartitions } from '../ledger/partitions.ts'
import type { Postgres } from '../postgres.ts'
import { quoteIdentifier, relationOf } from '../sql.ts'

export interface RewindOptions {
  readonly postgres: Postgres
  readonly schema: string
  readonly fence: bigint
  /** First block of the chain's history. */
  readonly startBlock: number
  readonly partitionBlocks: number
  /** Newest block that stays. */
  readonly to: number
  /** Take back final blocks too. */
  readonly belowFinalized: boolean
}

/** Deleting the rows of a long range takes longer than any statement of a live lane may. */
const STATEMENT_TIMEOUT = '6h'
/** Blocks of one entry in the commit log: its readers hold an entry in memory. */
const REVERT_BLOCKS_MAX = 1_000

/**
 * Rewinds Postgres and the journal of ClickHouse. Returns the range taken back, or null when
 * nothing lies above `to`.
 * @throws RewindBelowFinalizedError, FencedOutError
 */
export function rewindLedger(options: RewindOptions): Promise<BlockRange | null> {
  const { postgres, schema, fence, to } = options
  return postgres.transaction(async (client) => {
    await client.query(`SET LOCAL statement_timeout = '${STATEMENT_TIMEOUT}'`)
    await assertFence(client, schema, fence)
    const lane = await readLane(client, schema)
    if (!lane || lane.tip <= to) return null
    const isFinal = to < lane.finalized
    const kept = Math.max(lane.finalized, Math.min(lane.tip, await provedHeight(client, schema)))
    if (to < kept && !options.belowFinalized) throw new RewindBelowFinalizedError(schema, to, kept)
    const taken = { from: to + 1, to: lane.tip }
    await takeBackCommits(client, options, lane)
    await moveLane(client, options, lane)
    await dropChunks(client, schema, to)
    await deleteRows(client, schema, to)
    await reduceCoverage(client, schema, 'postgres', { from: to + 1, to: Number.MAX_SAFE_INTEGER - 1 })
    if (isFinal) {
      await forgetBeyondPostgres(client, options)
      // They count on final blocks to stay, and keep too little to take them back.
      await forgetFollowers(client, schema)
    }
    return taken
  })
}

/** The commit log tells every block of the head lane that goes, newest pieces first. */
async function takeBackCommits(
  client: Queryable,
  { schema, fence, to }: RewindOptions,
  lane: LaneState,
): Promise<void> {
  const pieces = splitAligned({ from: Math.max(lane.fromBlock, to + 1), to: lane.tip }, REVERT_BLOCKS_MAX)
  let tip: { tip: number; hash: string | null } = { tip: lane.tip, hash: lane.tipHash }
  for (const piece of pieces.toReversed()) {
    const orphans = await readRefs(client, schema, piece)
    const below = piece.from > lane.fromBlock ? await readRef(client, schema, piece.from - 1) : null
    const next = { tip: piece.from - 1, hash: below?.hash ?? null }
    const seq = await moveTip(client, schema, fence, tip, next)
    await logCommit(client, schema, seq, 'revert', orphans)
    tip = next
  }
}

/** Below its first block the lane starts over above `to`; what is missing below that is history. */
async function moveLane(
  client: Queryable,
  { schema, to, startBlock }: RewindOptions,
  lane: LaneState,
): Promise<void> {
  if (to < lane.fromBlock - 1)
    await client.query(
      `UPDATE ${quoteIdentifier(schema)}.lanes SET from_block = $1::bigint, tip = $1::bigint - 1, tip_hash = NULL WHERE name = 'head'`,
      [Math.max(to + 1, startBlock)],
    )
  await client.query(
    `UPDATE ${quoteIdentifier(schema)}.lanes SET finalized = least(finalized, $1) WHERE name = 'head'`,
    [to],
  )
}

/** Chunks that reach above `to` are loaded again, up to it. */
async function dropChunks(client: Queryable, schema: string, to: number): Promise<void> {
  const chunks = await client.query<{ from_block: number }>(
    `DELETE FROM ${quoteIdentifier(schema)}.chunks WHERE to_block > $1 RETURNING from_block`,
    [to],
  )
  for (const { from_block } of chunks.rows) await dropDetached(client, schema, from_block)
}

/**
 * Whole partitions are dropped, which costs nothing; rows are deleted from the one that `to` lies
 * in.
 */
async function deleteRows(client: Queryable, schema: string, to: number): Promise<void> {
  for (const { child, range } of await listPartitions(client, schema))
    if (range.from > to) await client.query(`DROP TABLE ${relationOf(schema, child)}`)
  for (const name of ledgerTableNames)
    await client.query(`DELETE FROM ${relationOf(schema, name)} WHERE ${tables[name].blockColumn} > $1`, [to])
}

/** ClickHouse never holds what Postgres does not, loaded chunks included. */
async function forgetBeyondPostgres(
  client: Queryable,
  { schema, partitionBlocks }: RewindOptions,
): Promise<void> {
  const chunks = await client.query<{ from_block: number; tip: number }>(
    `SELECT from_block, tip FROM ${quoteIdentifier(schema)}.chunks WHERE tip >= from_block`,
  )
  const loaded = chunks.rows.map((row) => ({ from: row.from_block, to: row.tip }))
  const held = union(await readCoverage(client, schema, 'postgres'), loaded)
  const beyond = difference(await readCoverage(client, schema, 'clickhouse'), held)
  if (beyond.length > 0) await forgetBatches(client, schema, beyond, partitionBlocks)
  await client.query(
    `DELETE FROM ${quoteIdentifier(schema)}.ch_batches WHERE state = 'open' AND NOT $1::int8multirange @> int8range(from_block, to_block, '[]')`,
    [formatMultirange(held)],
  )
}

/** The block to go back to is below what was told to be final. Nothing was deleted. */
export class RewindBelowFinalizedError extends failure(
  'RewindBelowFinalizedError',
  'rewind_below_finalized',
  'stop',
) {
  constructor(schema: string, to: number, finalized: number) {
    super(
      `--to: block ${to} of ${schema} is below the finalized block ${finalized}; readers were told that what is final stays. Add --below-finalized to take it back all the same`,
    )
  }
}
