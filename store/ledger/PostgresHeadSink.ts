/**
 * Postgres, the ledger. A batch is one transaction: rows, derived rows, raw archive, tip, coverage
 * and commit log become visible together or not at all. The head lane can take blocks back; history
 * arrives in chunks whose attaching is their commit.
 */

import { failure } from '#errors.ts'
import type { BlockRange } from '#ingest/range.ts'
import type { HeadSink } from '#ingest/sink.ts'
import type { BlockRef } from '#primitives.ts'
import { FencedOutError } from '#runtime/lease.ts'
import type { Failpoint } from '#runtime/runtime.ts'
import type { EncodedBatch } from '#transform/batch.ts'
import { ledgerTableNames, tables } from '#transform/tables.ts'
import type { Postgres } from '../postgres.ts'
import { quoteIdentifier, relationOf } from '../sql.ts'
import { COMMITS_KEPT, logCommit, pruneCommits } from './commits.ts'
import { copyBatch } from './copy.ts'
import {
  assertFence,
  extendCoverage,
  type LaneState,
  moveTip,
  type Queryable,
  readLane,
  readRef,
  readRefs,
  reduceCoverage,
} from './lane.ts'
import { createHeadPartitions, headPartitionEnd, readPartitioned } from './partitions.ts'
import { restartPlace, restartSegment, sealSegment } from './segments.ts'

/** Told after a commit; readers and the ClickHouse lane wake on it. */
export interface CommitListener {
  /**
   * Resolves when the writer may go on: a ClickHouse lane that is behind holds history back, by
   * bytes.
   */
  appended(batch: EncodedBatch, lane: 'head' | 'history'): Promise<void>
  reverted(range: BlockRange): void
  /**
   * Runs `revert`, which drops blocks of a chunk from Postgres, once ClickHouse holds none of the
   * range.
   */
  withdraw(range: BlockRange, revert: () => Promise<void>): Promise<void>
}

export interface PostgresSinkOptions {
  readonly postgres: Postgres
  readonly schema: string
  /** Fencing number of the lease under which this process writes. */
  readonly fence: bigint
  readonly listener: CommitListener
  readonly failpoint: Failpoint
  /** Commits the log keeps; COMMITS_KEPT unless said otherwise. */
  readonly commitsKept?: number
  /** Bytes of history moved at a time; MOVED_BYTES unless said otherwise. */
  readonly pieceBytes?: number
}

/** Rows of a chunk have no index on their block until it is complete: all of them are looked at. */
const RESTART_TIMEOUT = '1h'

/** The head lane of one chain in Postgres. */
export class PostgresHeadSink implements HeadSink<EncodedBatch> {
  readonly #options: PostgresSinkOptions
  readonly #relation: (name: string) => string
  /** Last block for which this process knows a partition exists. */
  #partitionedTo = -1

  constructor(options: PostgresSinkOptions) {
    this.#options = options
    this.#relation = (name) => relationOf(options.schema, name)
  }

  async tip(): Promise<BlockRef | null> {
    const { postgres, schema } = this.#options
    const lane = await readLane(postgres.pool, schema)
    return lane?.tipHash ? readRef(postgres.pool, schema, lane.tip) : null
  }

  async refAt(number: number): Promise<BlockRef | null> {
    return readRef(this.#options.postgres.pool, this.#options.schema, number)
  }

  async append(batch: EncodedBatch): Promise<void> {
    const { postgres, schema, fence, listener, failpoint } = this.#options
    const { range } = batch
    let partitionedTo = this.#partitionedTo
    await postgres.transaction(async (client) => {
      const lane = await this.#ownLane(client)
      if (lane.tipHash === null) await assertContinuesHistory(client, schema, firstRef(batch))
      const parent = { tip: range.from - 1, hash: lane.tipHash === null ? null : firstRef(batch).parentHash }
      const seq = await moveTip(client, schema, fence, parent, { tip: range.to, hash: lastRef(batch).hash })
      if (range.to > partitionedTo) partitionedTo = await this.#createPartitions(client, range)
      failpoint('postgres.append.rows')
      await copyBatch(client, batch.tables, this.#relation)
      await logCommit(client, schema, seq, 'append', batch.refs)
      await pruneCommits(client, schema, seq, this.#options.commitsKept ?? COMMITS_KEPT)
      await extendCoverage(client, schema, 'postgres', range)
      failpoint('postgres.append.commit')
    })
    this.#partitionedTo = partitionedTo
    failpoint('postgres.append.done')
    await listener.appended(batch, 'head')
  }

  async revert(to: BlockRef | null): Promise<void> {
    const { postgres, schema, fence, listener, failpoint } = this.#options
    const transaction = postgres.transaction(async (client) => {
      const lane = await this.#ownLane(client)
      const range = { from: Math.max((to?.number ?? -1) + 1, lane.fromBlock), to: lane.tip }
      if (range.from <= lane.finalized)
        throw new RevertBelowFinalizedError(schema, range.from, lane.finalized)
      // An empty lane has nothing to take back, and the log of commits no range for it.
      if (range.to < range.from) return
      const orphans = await readRefs(client, schema, range)
      const target = { tip: range.from - 1, hash: range.from > lane.fromBlock ? (to?.hash ?? null) : null }
      const seq = await moveTip(client, schema, fence, { tip: lane.tip, hash: lane.tipHash }, target)
      failpoint('postgres.revert.rows')
      for (const name of ledgerTableNames)
        await client.query(`DELETE FROM ${this.#relation(name)} WHERE ${tables[name].blockColumn} >= $1`, [
          range.from,
        ])
      await logCommit(client, schema, seq, 'revert', orphans)
      await reduceCoverage(client, schema, 'postgres', range)
      failpoint('postgres.revert.commit')
    })
    // Told even when it failed: the answer of a commit may be lost, and what was taken back must
    // not be written elsewhere.
    await transaction.finally(() =>
      listener.reverted({ from: (to?.number ?? -1) + 1, to: Number.MAX_SAFE_INTEGER }),
    )
  }

  /**
   * Before anything is judged by it: to a writer that was fenced out the next one's lane looks like
   * a broken chain.
   */
  async #ownLane(client: Queryable): Promise<LaneState> {
    const { schema, fence } = this.#options
    const lane = await readLane(client, schema)
    if (!lane) throw new LaneMissingError(schema)
    if (BigInt(lane.fence) !== fence) throw new FencedOutError(`${schema}.head`, fence)
    return lane
  }

  /**
   * Ends the segment at its tip; the new one begins at `next`, and history fills what lies between.
   */
  async seal(next: number): Promise<void> {
    const { postgres, schema, fence, failpoint } = this.#options
    await postgres.transaction(async (client) => {
      await sealSegment(client, schema, fence, next)
      failpoint('postgres.seal.commit')
    })
    this.#partitionedTo = -1
  }

  async restart(next: number, head: number): Promise<boolean> {
    const { postgres, schema, fence, listener } = this.#options
    const place = await restartPlace(postgres.pool, schema, next, head)
    if (place === null) return false
    await listener.withdraw({ from: place, to: Number.MAX_SAFE_INTEGER }, () =>
      postgres.transaction(async (client) => {
        await client.query(`SET LOCAL statement_timeout = '${RESTART_TIMEOUT}'`)
        await restartSegment(client, schema, fence, place)
      }),
    )
    this.#partitionedTo = -1
    return true
  }

  async emptyFrom(): Promise<number> {
    const { postgres, schema } = this.#options
    const lane = await readLane(postgres.pool, schema)
    if (!lane) throw new LaneMissingError(schema)
    return lane.fromBlock
  }

  async finalize(number: number): Promise<void> {
    const { postgres, schema, fence } = this.#options
    await postgres.transaction(async (client) => {
      await assertFence(client, schema, fence)
      await client.query(
        `UPDATE ${quoteIdentifier(schema)}.lanes SET finalized = $1 WHERE name = 'head' AND finalized < $1`,
        [number],
      )
    })
  }

  async finalized(): Promise<number> {
    const lane = await readLane(this.#options.postgres.pool, this.#options.schema)
    return lane?.finalized ?? -1
  }

  /**
   * Partitions reach beyond the batch, so that this runs once in days; one batch may cross a
   * boundary. Answers where they end.
   */
  async #createPartitions(
    client: Parameters<typeof createHeadPartitions>[0],
    range: BlockRange,
  ): Promise<number> {
    const { schema } = this.#options
    const partitioned = await readPartitioned(client, schema)
    let from = nextUnpartitioned(partitioned, range.from)
    while (from <= range.to) {
      const above = partitioned.find((one) => one.from > from)?.from ?? Infinity
      const to = Math.min(headPartitionEnd(from), above - 1)
      await createHeadPartitions(client, schema, { from, to })
      from = nextUnpartitioned(partitioned, to + 1)
    }
    return from - 1
  }
}

/**
 * The lane's first block joins the history below it, where that is held already: the joint is
 * checked from either side.
 */
async function assertContinuesHistory(client: Queryable, schema: string, first: BlockRef): Promise<void> {
  const below = await readRef(client, schema, first.number - 1)
  if (below && below.hash !== first.parentHash) throw new LaneUnlinkedError(schema, first.number)
}

/** First block at or above `block` that no attached partition holds. */
function nextUnpartitioned(partitioned: readonly BlockRange[], block: number): number {
  let next = block
  for (const { from, to } of partitioned) if (from <= next && next <= to) next = to + 1
  return next
}

function firstRef(batch: EncodedBatch): BlockRef {
  const ref = batch.refs[0]
  if (!ref) throw new Error('a batch has at least one block')
  return ref
}

function lastRef(batch: EncodedBatch): BlockRef {
  const ref = batch.refs.at(-1)
  if (!ref) throw new Error('a batch has at least one block')
  return ref
}

/** The chain's schema has no head lane: it was not opened (openLedger) before it was written to. */
export class LaneMissingError extends failure('LaneMissingError', 'lane_missing', 'stop') {
  constructor(schema: string) {
    super(`${schema} has no head lane`)
  }
}

/**
 * The head lane's first block is no child of the history below it, which was attached after the
 * lane had looked. Trying again asks the node which of the two is wrong.
 */
export class LaneUnlinkedError extends failure('LaneUnlinkedError', 'lane_unlinked', 'retry') {
  constructor(schema: string, number: number) {
    super(
      `${schema}: block ${number} does not continue the history held below it; RPC_URL may serve two chains`,
    )
  }
}

/** A revert would take back a block we reported as final. Nothing was deleted. */
export class RevertBelowFinalizedError extends failure(
  'RevertBelowFinalizedError',
  'finality_violated',
  'stop',
) {
  constructor(schema: string, from: number, finalized: number) {
    super(`${schema}: a revert down to block ${from} would pass the finalized block ${finalized}`)
  }
}
