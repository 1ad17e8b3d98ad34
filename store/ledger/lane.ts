/**
 * The rows that say where a chain's lanes stand and what is covered. Every function runs inside the
 * caller's transaction: progress is stored with the data, or not at all.
 */
import type pg from 'pg'
import { failure } from '#errors.ts'
import { type BlockRange, formatMultirange, parseMultirange, type RangeSet } from '#ingest/range.ts'
import type { BlockRef, Hash } from '#primitives.ts'
import { FencedOutError } from '#runtime/lease.ts'
import { projectionNames } from '#transform/tables.ts'
import { preparedName } from '../postgres.ts'
import { quoteIdentifier, toBytes, toHex } from '../sql.ts'

export type StoreName = 'postgres' | 'clickhouse'

/** Anything that can run a statement: the pool, or a transaction's connection. */
export type Queryable = Pick<pg.PoolClient, 'query'>

export interface LaneState {
  readonly fromBlock: number
  readonly tip: number
  readonly tipHash: Hash | null
  readonly finalized: number
  readonly seq: number
  readonly fence: number
  /** How often blocks of history were taken back from ClickHouse. */
  readonly withdrawals: number
}

/** The same as a row of `lanes`. */
export interface LaneRow {
  from_block: number
  tip: number
  tip_hash: Buffer | null
  finalized: number
  seq: number
  fence: number
  withdrawals: number
}

const HEAD = 'head'

export async function readLane(client: Queryable, schema: string): Promise<LaneState | null> {
  const result = await client.query<LaneRow>(
    `SELECT * FROM ${quoteIdentifier(schema)}.lanes WHERE name = $1`,
    [HEAD],
  )
  const row = result.rows[0]
  return row ? laneOf(row) : null
}

export const laneOf = (row: LaneRow): LaneState => ({
  fromBlock: row.from_block,
  tip: row.tip,
  tipHash: row.tip_hash ? hashOf(row.tip_hash) : null,
  finalized: row.finalized,
  seq: row.seq,
  fence: row.fence,
  withdrawals: row.withdrawals,
})

/**
 * The picture of a chain that readers are shown: its lane, its newest block's time, and what the stores
 * cover.
 */
export interface Picture {
  readonly lane: LaneState
  /** Unix milliseconds of the lane's newest block; null while it holds none. */
  readonly tipTimeMs: number | null
  /** Whether a certificate of the newest final block, or of one above it, is stored. */
  readonly isCertified: boolean
  readonly coverage: Readonly<Record<StoreName, RangeSet>>
}

/** One statement, for it is read after every commit. Null before the chain is opened. */
export async function readPicture(client: Queryable, schema: string): Promise<Picture | null> {
  const name = quoteIdentifier(schema)
  const coverageOf = (store: StoreName) =>
    `(SELECT blocks::text FROM ${name}.coverage WHERE store = '${store}' AND projection = 'base' ORDER BY version DESC LIMIT 1)`
  const text = `SELECT l.from_block, l.tip, l.tip_hash, l.finalized, l.seq, l.fence, l.withdrawals,
      (SELECT (extract(epoch FROM b.timestamp) * 1000)::bigint FROM ${name}.blocks AS b WHERE b.num = l.tip) AS ms,
      l.finalized >= 0 AND (SELECT max(height) FROM ${name}.finality_proofs) >= l.finalized AS certified,
      ${coverageOf('postgres')} AS postgres, ${coverageOf('clickhouse')} AS clickhouse
     FROM ${name}.lanes AS l WHERE l.name = '${HEAD}'`
  const { rows } = await client.query<
    LaneRow & {
      ms: number | null
      certified: boolean | null
      postgres: string | null
      clickhouse: string | null
    }
  >({ name: preparedName(text), text })
  const [row] = rows
  if (!row) return null
  const ranges = (blocks: string | null) => parseMultirange(blocks ?? '{}')
  return {
    lane: laneOf(row),
    tipTimeMs: row.ms,
    isCertified: row.certified ?? false,
    coverage: { postgres: ranges(row.postgres), clickhouse: ranges(row.clickhouse) },
  }
}

/**
 * Moves the head lane's tip from `parent` to `to` and numbers the commit. @throws FencedOutError,
 * TipMismatchError
 */
export async function moveTip(
  client: Queryable,
  schema: string,
  fence: bigint,
  from: { tip: number; hash: string | null },
  to: { tip: number; hash: string | null },
): Promise<number> {
  const moved = await client.query<{ seq: number }>(
    `UPDATE ${quoteIdentifier(schema)}.lanes SET tip = $1, tip_hash = $2, seq = seq + 1
     WHERE name = $3 AND fence = $4 AND tip = $5 AND tip_hash IS NOT DISTINCT FROM $6 RETURNING seq`,
    [
      to.tip,
      to.hash === null ? null : toBytes(to.hash),
      HEAD,
      fence,
      from.tip,
      from.hash === null ? null : toBytes(from.hash),
    ],
  )
  const row = moved.rows[0]
  if (row) return row.seq
  const lane = await readLane(client, schema)
  if (lane && BigInt(lane.fence) !== fence) throw new FencedOutError(`${schema}.${HEAD}`, fence)
  throw new TipMismatchError(schema, from.tip, lane?.tip ?? -1)
}

/**
 * Makes `fence` the only number that may write, after every transaction of an earlier writer has
 * ended. A lower one than stored is a writer of the past.
 */
export async function claimLane(client: Queryable, schema: string, fence: bigint): Promise<void> {
  // The update alone would not wait for transactions that passed assertFence and have not
  // committed.
  await client.query(`SELECT 1 FROM ${quoteIdentifier(schema)}.lanes WHERE name = $1 FOR UPDATE`, [HEAD])
  const claimed = await client.query(
    `UPDATE ${quoteIdentifier(schema)}.lanes SET fence = $1 WHERE name = $2 AND fence <= $1`,
    [fence, HEAD],
  )
  if (claimed.rowCount !== 1) throw new FencedOutError(`${schema}.${HEAD}`, fence)
}

/**
 * Holds the lane against a new claim until the transaction ends, but not against the head lane's
 * own commits: chunks of history load at the same time, and a stronger lock would make the head
 * wait for every one of them.
 * @throws FencedOutError unless `fence` is the lane's
 */
export const assertFence = (client: Queryable, schema: string, fence: bigint): Promise<void> =>
  lockLane(client, schema, fence, 'KEY SHARE')

/**
 * Holds up the head lane's commits too: what is read stays as it is until the transaction ends.
 * @throws FencedOutError unless `fence` is the lane's
 */
export const holdLane = (client: Queryable, schema: string, fence: bigint): Promise<void> =>
  lockLane(client, schema, fence, 'SHARE')

async function lockLane(
  client: Queryable,
  schema: string,
  fence: bigint,
  strength: 'SHARE' | 'KEY SHARE',
): Promise<void> {
  const held = await client.query(
    `SELECT 1 FROM ${quoteIdentifier(schema)}.lanes WHERE name = $1 AND fence = $2 FOR ${strength}`,
    [HEAD, fence],
  )
  if (held.rowCount !== 1) throw new FencedOutError(`${schema}.${HEAD}`, fence)
}

/**
 * Covers the blocks of a batch: the base tables and all that is derived with them. Folds have a coverage of
 * their own.
 */
export async function extendCoverage(
  client: Queryable,
  schema: string,
  store: StoreName,
  range: BlockRange,
): Promise<void> {
  await client.query(
    `UPDATE ${quoteIdentifier(schema)}.coverage SET blocks = blocks + $1::int8multirange
     WHERE store = $2 AND projection = ANY ($3)`,
    [formatMultirange([range]), store, projectionNames],
  )
}

export async function reduceCoverage(
  client: Queryable,
  schema: string,
  store: StoreName,
  range: BlockRange,
): Promise<void> {
  await client.query(
    `UPDATE ${quoteIdentifier(schema)}.coverage SET blocks = blocks - $1::int8multirange
     WHERE store = $2 AND projection = ANY ($3)`,
    [formatMultirange([range]), store, projectionNames],
  )
}

/** The coverage of one projection of one store; the base tables unless said otherwise. */
export async function readCoverage(
  client: Queryable,
  schema: string,
  store: StoreName,
  projection = 'base',
): Promise<RangeSet> {
  const result = await client.query<{ blocks: string }>(
    `SELECT blocks::text AS blocks FROM ${quoteIdentifier(schema)}.coverage
     WHERE store = $1 AND projection = $2 ORDER BY version DESC LIMIT 1`,
    [store, projection],
  )
  return parseMultirange(result.rows[0]?.blocks ?? '{}')
}

/** Blocks that are final for readers: held, and linked by what is held to the newest final one. */
export interface FinalBlocks {
  has(number: number): boolean
}

/** The blocks that are final: held without a gap up to the newest final one. Null while there are none. */
export async function readFinalRange(client: Queryable, schema: string): Promise<BlockRange | null> {
  const { rows } = await client.query<BlockRange>(
    `SELECT lowest AS "from", newest AS "to" FROM ${finalRangeSql(schema)} WHERE lowest <= newest`,
  )
  return rows[0] ?? null
}

/**
 * The same in a FROM clause, as `lowest` and `newest`: a chunk of history below a gap may be of a branch
 * that is not the chain. `lowest` is above `newest` where that one is not held.
 */
export const finalRangeSql = (schema: string): string =>
  `(SELECT finalized AS newest, coalesce(${lowestLinkedSql(schema, 'finalized')}, finalized + 1) AS lowest
     FROM ${quoteIdentifier(schema)}.lanes WHERE name = '${HEAD}') AS final`

/** The lowest block of those held without a gap up to a place, as a scalar; null where that is not held. */
export const lowestLinkedSql = (schema: string, place: string): string =>
  `(SELECT lower(linked) FROM unnest((SELECT blocks FROM ${quoteIdentifier(schema)}.coverage
      WHERE store = 'postgres' AND projection = 'base' ORDER BY version DESC LIMIT 1)) AS linked
    WHERE linked @> ${place})`

export const finalIn = (range: BlockRange | null): FinalBlocks => ({
  has: (number) => range !== null && range.from <= number && number <= range.to,
})

/** The coverage of every projection of a store, followers included, by the version of its rules. */
export async function readCoverages(
  client: Queryable,
  schema: string,
  store: StoreName,
): Promise<{ readonly projection: string; readonly version: number; readonly blocks: RangeSet }[]> {
  const result = await client.query<{ projection: string; version: number; blocks: string }>(
    `SELECT projection, version, blocks::text AS blocks FROM ${quoteIdentifier(schema)}.coverage WHERE store = $1`,
    [store],
  )
  return result.rows.map(({ projection, version, blocks }) => ({
    projection,
    version,
    blocks: parseMultirange(blocks),
  }))
}

/** The reference of a stored block, or null. */
export const readRef = (client: Queryable, schema: string, number: number): Promise<BlockRef | null> =>
  readRefOf(client, `${quoteIdentifier(schema)}.blocks`, number)

/** The reference of a block in one table of blocks, such as a chunk's, or null. */
export async function readRefOf(
  client: Queryable,
  relation: string,
  number: number,
): Promise<BlockRef | null> {
  const result = await client.query<{ hash: Buffer; parent_hash: Buffer }>(
    `SELECT hash, parent_hash FROM ${relation} WHERE num = $1`,
    [number],
  )
  const row = result.rows[0]
  return row ? { number, hash: hashOf(row.hash), parentHash: hashOf(row.parent_hash) } : null
}

/** Number and hash of the stored blocks of a range, ascending. */
export async function readRefs(
  client: Queryable,
  schema: string,
  range: BlockRange,
): Promise<{ readonly number: number; readonly hash: Hash }[]> {
  const result = await client.query<{ num: number; hash: Buffer }>(
    `SELECT num, hash FROM ${quoteIdentifier(schema)}.blocks WHERE num BETWEEN $1 AND $2 ORDER BY num`,
    [range.from, range.to],
  )
  return result.rows.map(({ num, hash }) => ({ number: num, hash: hashOf(hash) }))
}

export const hashOf = (bytes: Uint8Array): Hash => toHex(bytes) as Hash

/**
 * The lane's tip is not the batch's parent: somebody moved it, or our view of it is old. Re-read
 * and decide again.
 */
export class TipMismatchError extends failure('TipMismatchError', 'tip_mismatch', 'retry') {
  constructor(schema: string, expected: number, found: number) {
    super(`${schema}: the head lane stands at ${found}, the batch continues ${expected}`)
  }
}
