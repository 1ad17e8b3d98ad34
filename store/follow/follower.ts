/**
 * A follower of the blocks held in Postgres that keeps rows of its own: the folds, the balances. A follower
 * says what a range of blocks changes and how blocks are taken back; the driver decides which range, and
 * commits its rows together with its coverage, under the writer's fence.
 */
import type pg from 'pg'
import { failure } from '#errors.ts'
import { type BlockRange, formatMultirange, parseMultirange, type RangeSet } from '#ingest/range.ts'
import type { Hash } from '#primitives.ts'
import { hashOf, type Queryable } from '../ledger/lane.ts'
import type { Postgres } from '../postgres.ts'
import { quoteIdentifier, relationOf } from '../sql.ts'

/** The place of a follower's work: one chain's schema. */
export interface FollowerContext {
  readonly postgres: Postgres
  readonly schema: string
  readonly signal: AbortSignal
}

/** A follower's transaction. */
export interface FollowerTransaction {
  readonly client: pg.PoolClient
  readonly schema: string
  /** Blocks up to here cannot be taken back. */
  readonly finalized: number
}

/** A node's word on data that no block tells. */
export interface Completion {
  store(transaction: FollowerTransaction): Promise<void>
  /** Whether there will never be more. */
  readonly last: boolean
}

/** The operator's view of a follower's rows. */
export interface FollowerFindings {
  /** Events that belong to nothing held here; they are in no answer. */
  readonly strays: number
  /** A node's contradiction, or whatever stands still alone, in words; null if there is neither. */
  readonly differs: string | null
}

export interface BlockFollower {
  /** Name of its coverage; also the prefix of its tables. */
  readonly name: string
  /** Raised when its rules change; the rows of another version are dropped and made again. */
  readonly version: number
  /**
   * Projections it reads, other followers among them; it takes in a block that all of them cover
   * from the start on.
   */
  readonly needs: readonly string[]
  /** `whole`: it begins once all history is held, with all blocks up to the finalized one. */
  readonly begins: 'early' | 'whole'
  /**
   * The data that it needs before its first block, such as balances of genesis, from a node. Returns how to
   * store that.
   * @throws a MillraceError with remedy `retry` when no node answers
   */
  prepare(context: FollowerContext): Promise<(transaction: FollowerTransaction) => Promise<void>>
  /**
   * Data that no block tells, read from a node whenever it has caught up, until that was all of it. It
   * stands still meanwhile. Null when nothing is to be read now.
   * @throws a MillraceError with remedy `retry` when no node answers
   */
  complete?(context: FollowerContext): Promise<Completion | null>
  /** Cheap: it is asked every few seconds. */
  inspect?(client: Queryable, schema: string): Promise<FollowerFindings>
  /** Deletes every row of its tables. */
  clear(transaction: FollowerTransaction): Promise<void>
  /**
   * Takes in the blocks of `range`, which continue what it holds. Returns the last block taken, at
   * least the first.
   */
  apply(transaction: FollowerTransaction, range: BlockRange): Promise<number>
  /**
   * Takes in the first blocks of one that begins `whole`, in pieces. Returns null while there is more
   * to take in: it is asked again, and keeps by itself how far it came and up to which block, also
   * when `range` ends later by then; at the end the last block taken. Absent, `apply` takes in all of
   * them.
   */
  load?(transaction: FollowerTransaction, range: BlockRange): Promise<number | null>
  /** Takes back every block from `fromBlock` on. */
  revert(transaction: FollowerTransaction, fromBlock: number): Promise<void>
}

/** The state of a follower. */
export interface FollowerState {
  readonly seq: number
  readonly coverage: RangeSet
  /** All that `complete` reads has been stored. */
  readonly completed: boolean
}

type Identity = Pick<BlockFollower, 'name' | 'version'>

/** Null before its first commit. */
export async function readFollower(
  client: Queryable,
  schema: string,
  { name, version }: Identity,
): Promise<FollowerState | null> {
  const found = await client.query<{ seq: number; completed: boolean; blocks: string }>(
    `SELECT f.seq, f.completed, c.blocks::text AS blocks FROM ${quoteIdentifier(schema)}.followers f
     JOIN ${quoteIdentifier(schema)}.coverage c ON c.store = 'postgres' AND c.projection = f.name AND c.version = f.version
     WHERE f.name = $1 AND f.version = $2`,
    [name, version],
  )
  const row = found.rows[0]
  return row ? { seq: row.seq, completed: row.completed, coverage: parseMultirange(row.blocks) } : null
}

/**
 * The newest block a follower contains. It stands still while it is completed.
 * @throws TipRevertedError
 */
export async function readTipHash(
  client: Queryable,
  schema: string,
  { name, version }: Identity,
): Promise<Hash> {
  const found = await client.query<{ hash: Buffer }>(
    `SELECT b.hash FROM ${quoteIdentifier(schema)}.coverage AS c
     JOIN ${quoteIdentifier(schema)}.blocks AS b ON b.num = upper(range_merge(c.blocks)) - 1
     WHERE c.store = 'postgres' AND c.projection = $1 AND c.version = $2`,
    [name, version],
  )
  const row = found.rows[0]
  if (!row) throw new TipRevertedError(name)
  return hashOf(row.hash)
}

/** Forgets where every follower stands: each starts over, from what is held here. */
export async function forgetFollowers(client: Queryable, schema: string): Promise<void> {
  const table = (of: string) => `${quoteIdentifier(schema)}.${of}`
  await client.query(
    `DELETE FROM ${table('coverage')} c USING ${table('followers')} f WHERE c.store = 'postgres' AND c.projection = f.name`,
  )
  await client.query(`DELETE FROM ${table('followers')}`)
}

/** Registers a follower that has taken in nothing yet, and forgets its other versions. */
export async function insertFollower(
  client: Queryable,
  schema: string,
  { name, version }: Identity,
  seq: number,
): Promise<void> {
  const table = (of: string) => `${quoteIdentifier(schema)}.${of}`
  await client.query(`DELETE FROM ${table('followers')} WHERE name = $1`, [name])
  await client.query(`DELETE FROM ${table('coverage')} WHERE store = 'postgres' AND projection = $1`, [name])
  await client.query(`INSERT INTO ${table('followers')} (name, version, seq) VALUES ($1, $2, $3)`, [
    name,
    version,
    seq,
  ])
  await client.query(
    `INSERT INTO ${table('coverage')} (store, projection, version) VALUES ('postgres', $1, $2)`,
    [name, version],
  )
}

/** Stores what a follower covers now, and the last commit it knows of. */
export async function moveFollower(
  client: Queryable,
  schema: string,
  { name, version }: Identity,
  to: Omit<FollowerState, 'completed'>,
): Promise<void> {
  const table = (of: string) => `${quoteIdentifier(schema)}.${of}`
  await client.query(`UPDATE ${table('followers')} SET seq = $3 WHERE name = $1 AND version = $2`, [
    name,
    version,
    to.seq,
  ])
  await client.query(
    `UPDATE ${table('coverage')} SET blocks = $3::int8multirange
     WHERE store = 'postgres' AND projection = $1 AND version = $2`,
    [name, version, formatMultirange(to.coverage)],
  )
}

/** Remembers that what no block tells has been stored. */
export async function completeFollower(
  client: Queryable,
  schema: string,
  { name, version }: Identity,
): Promise<void> {
  await client.query(
    `UPDATE ${quoteIdentifier(schema)}.followers SET completed = true WHERE name = $1 AND version = $2`,
    [name, version],
  )
}

/** First block taken back after commit `seq`, or null when none was. */
export async function readRevertedFrom(
  client: Queryable,
  schema: string,
  seq: number,
): Promise<number | null> {
  const found = await client.query<{ from_block: number | null }>(
    `SELECT (${revertedFromSql(schema, '$1')}) AS from_block`,
    [seq],
  )
  return found.rows[0]?.from_block ?? null
}

/** The same as a query of one value. @param seq SQL of the number of the commit it looks behind */
export const revertedFromSql = (schema: string, seq: string): string =>
  `SELECT min(from_block) FROM ${relationOf(schema, 'commits')} AS commits WHERE commits.seq > ${seq} AND kind = 'revert'`

/** The block that was to be asked about was taken back meanwhile. */
export class TipRevertedError extends failure('TipRevertedError', 'tip_reverted', 'retry') {
  constructor(name: string) {
    super(`the follower ${name} stands at a block that was taken back; another one is asked about then`)
  }
}
