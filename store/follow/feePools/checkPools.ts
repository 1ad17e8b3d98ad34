/**
 * Folded reserves compared with the node's, again and again: since two pools may turn a fee one
 * after the other, which no log tells, a fold alone cannot know that it is right. A pool that
 * differs is told by the node from then on.
 */
import { MillraceError } from '#errors.ts'
import type { CallContracts } from '#ingest/rpc/contractCalls.ts'
import { hash } from '#primitives.ts'
import type { Queryable } from '../../ledger/lane.ts'
import { relationOf, toHex } from '../../sql.ts'
import { byteaText, decodeState, insertRows } from '../foldTables.ts'
import {
  type BlockFollower,
  type Completion,
  type Findings,
  type FollowerContext,
  readFollower,
} from '../follower.ts'
import { type Reserves, readReserves } from './genesisPools.ts'
import { type Pool, poolsTable } from './pools.ts'

/** Blocks between two rounds: some minutes. All pools of a round are compared at once. */
const ROUND_BLOCKS = 512
/** Pools of one round: those that were compared longest ago. */
const POOLS_MAX = 400

/** Compares pools for one follower. */
export type PoolCheck = (context: FollowerContext) => Promise<Completion | null>

/**
 * A node that does not tell the state of a block is asked again a round later: it holds up neither
 * pools nor blocks.
 */
export function poolCheck(call: CallContracts, follower: Pick<BlockFollower, 'name' | 'version'>): PoolCheck {
  let askedAt = Number.NEGATIVE_INFINITY
  return async (context) => {
    const state = await readFollower(context.postgres.pool, context.schema, follower)
    const tip = state?.coverage.at(-1)?.to
    if (tip === undefined || (tip >= askedAt && tip < askedAt + ROUND_BLOCKS)) return null
    askedAt = tip
    try {
      return await comparePools(call, context, tip)
    } catch (error) {
      if (error instanceof MillraceError && error.remedy === 'retry' && !context.signal.aborted) return null
      throw error
    }
  }
}

/** Null when no pool is due, or the node does not tell of the block that the fold stands at. */
async function comparePools(
  call: CallContracts,
  { postgres, schema, signal }: FollowerContext,
  tip: number,
): Promise<Completion | null> {
  const table = (name: string) => relationOf(schema, name)
  const due = await postgres.pool.query<Record<string, unknown> & { tip_hash: Buffer }>(
    `SELECT pools.*, blocks.hash AS tip_hash FROM ${table('fee_pools_current')} AS pools
     LEFT JOIN ${table('fee_pool_checks')} AS checks USING (pool) JOIN ${table('blocks')} AS blocks ON blocks.num = $1
     WHERE checks.block_num IS NULL OR checks.block_num <= $1 - ${ROUND_BLOCKS}
     ORDER BY checks.block_num NULLS FIRST, pool LIMIT ${POOLS_MAX}`,
    [tip],
  )
  const [first] = due.rows
  if (!first) return null
  const pools = due.rows.map((row) => decodeState(poolsTable.columns, row))
  const tokens = pools.map((pool) => ({ userToken: pool.user_token, validatorToken: pool.validator_token }))
  const told = await readReserves(call, tokens, hash(toHex(first.tip_hash)), signal)
  if (told.every((reserves) => reserves === null)) return null
  const rows = pools.map((pool, index) => ({
    ...{ pool: byteaText(String(toHex(poolOf(due.rows[index])))), block_num: tip },
    differs: differs(pool, told[index] ?? null),
  }))
  return {
    last: false,
    store: async ({ client }) => {
      await client.query(`DELETE FROM ${table('fee_pool_checks')} WHERE pool = ANY ($1)`, [
        due.rows.map(poolOf),
      ])
      await insertRows(client, table('fee_pool_checks'), rows)
    },
  }
}

/** Pools that differed when they were compared last. */
export async function findDiffering(client: Queryable, schema: string): Promise<Findings> {
  const found = await client.query<{ pool: Buffer; block_num: number; differing: number }>(
    `SELECT pool, block_num, count(*) OVER () AS differing
     FROM ${relationOf(schema, 'fee_pool_checks')} WHERE differs ORDER BY block_num DESC, pool LIMIT 1`,
  )
  const [first] = found.rows
  const { differing = 0 } = first ?? {}
  const differs =
    first &&
    `${differing} fee pools had other reserves on the node, such as ${toHex(first.pool)} after block ${first.block_num}: the node's are told`
  return { strays: 0, differs: differs ?? null }
}

/** The key of a row. */
export function poolOf(row: Readonly<Record<string, unknown>> | undefined): Uint8Array {
  const pool = row?.['pool']
  if (!(pool instanceof Uint8Array)) throw new TypeError('a pool is stored as bytes')
  return pool
}

/** What is not known of either side does not differ. */
export const differs = (pool: Pool, told: Reserves | null): boolean =>
  told !== null &&
  pool.reserve_user !== null &&
  pool.reserve_validator !== null &&
  (pool.reserve_user !== told.user || pool.reserve_validator !== told.validator)
