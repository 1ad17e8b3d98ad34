/**
 * Folded reserves compared with the node's, again and again: no log tells which pools turned a fee,
 * so a fold alone cannot know that it is right. The reserves of a pool that differs are mended: the
 * node's are taken over as of the block it was asked about, marked, and folded on from there.
 */
import type { CallContracts } from '#ingest/rpc/contractCalls.ts'
import { hash } from '#primitives.ts'
import type { Queryable } from '../../ledger/lane.ts'
import { relationOf, toHex } from '../../sql.ts'
import { inRounds } from '../askContracts.ts'
import { byteaText, decodeState, insertRows, insertTouched } from '../foldTables.ts'
import type { BlockFollower, Completion, FollowerContext, FollowerFindings } from '../follower.ts'
import { type Reserves, readReserves } from './genesisPools.ts'
import { type Pool, poolsTable } from './pools.ts'

/** Blocks between two rounds: some minutes. All pools of a round are compared at once. */
const ROUND_BLOCKS = 512
/** Pools of one round: those that were compared longest ago. */
const POOLS_MAX = 400

/** Compares pools for one follower. */
export type PoolCheck = (context: FollowerContext) => Promise<Completion | null>

export const poolCheck = (
  call: CallContracts,
  follower: Pick<BlockFollower, 'name' | 'version'>,
): PoolCheck => inRounds(follower, ROUND_BLOCKS, (context, tip) => comparePools(call, context, tip))

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
  const compared = pools.map((pool, index) => {
    const reserves = told[index] ?? null
    return {
      key: poolOf(due.rows[index]),
      mended: differs(pool, reserves) ? mend(pool, reserves, tip) : null,
    }
  })
  return {
    last: false,
    store: async ({ client }) => {
      await insertTouched(
        client,
        schema,
        poolsTable,
        compared.flatMap(({ key, mended: state }) =>
          state ? [{ key: toHex(key), place: { blockNumber: tip, logIndex: MENDED_LOG_INDEX }, state }] : [],
        ),
      )
      await client.query(`DELETE FROM ${table('fee_pool_checks')} WHERE pool = ANY ($1)`, [
        compared.map(({ key }) => key),
      ])
      const rows = compared.map(({ key, mended }) => ({
        ...{ pool: byteaText(toHex(key)), block_num: tip, differs: mended !== null, mended: mended !== null },
      }))
      await insertRows(client, table('fee_pool_checks'), rows)
    },
  }
}

/** After every log of a block. */
const MENDED_LOG_INDEX = 2 ** 31 - 1

const mend = (pool: Pool, reserves: Reserves | null, block: number): Pool | null =>
  reserves && {
    ...pool,
    ...{ reserve_user: reserves.user, reserve_validator: reserves.validator, mended_block: block },
  }

/** Pools that differed when they were compared last. */
export async function findDiffering(client: Queryable, schema: string): Promise<FollowerFindings> {
  const found = await client.query<{ pool: Buffer; block_num: number; differing: number }>(
    `SELECT pool, block_num, count(*) OVER () AS differing
     FROM ${relationOf(schema, 'fee_pool_checks')} WHERE differs ORDER BY block_num DESC, pool LIMIT 1`,
  )
  const [first] = found.rows
  const { differing = 0 } = first ?? {}
  const differs =
    first &&
    `${differing} fee pools had other reserves on the node, such as ${toHex(first.pool)} after block ${first.block_num}: the node's are taken over`
  return { strays: 0, differs: differs ?? null }
}

/** The key of a row. */
export function poolOf(row: Readonly<Record<string, unknown>> | undefined): Uint8Array {
  const pool = row?.['pool']
  if (!(pool instanceof Uint8Array)) throw new TypeError('a pool is stored as bytes')
  return pool
}

/** A side that is not known does not differ. */
export const differs = (pool: Pool, told: Reserves | null): boolean =>
  told !== null &&
  pool.reserve_user !== null &&
  pool.reserve_validator !== null &&
  (pool.reserve_user !== told.user || pool.reserve_validator !== told.validator)
