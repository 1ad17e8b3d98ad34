/**
 * The audit's part in fee pools: whenever it has read blocks again, the pools that they changed are
 * compared with the node as of the last of them. Those blocks are final, so what differs is no
 * reorganization, and an archive node answers for all of history.
 */
import type { BlockRange } from '#ingest/range.ts'
import type { CallContracts } from '#ingest/rpc/contractCalls.ts'
import { hash } from '#primitives.ts'
import { assertFence, type Queryable } from '../../ledger/lane.ts'
import type { Postgres } from '../../postgres.ts'
import { relationOf, toHex } from '../../sql.ts'
import { decodeState } from '../foldTables.ts'
import { readFollower } from '../follower.ts'
import { differs, poolOf } from './checkPools.ts'
import { readReservesIfTold } from './genesisPools.ts'
import { feePoolsProjection } from './poolFollower.ts'
import { poolsTable } from './pools.ts'

/** Pools compared after one piece of the audit: one request to the node. */
const POOLS_MAX = 100

export interface PoolAuditOptions {
  readonly call: CallContracts
  readonly postgres: Postgres
  readonly schema: string
  /** Under which this process writes. */
  readonly fence: bigint
}

/**
 * Marks the pools that differ: the node tells them until the follower's next comparison, which mends
 * what differs then. What the node does not tell, or the fold does not hold yet, is left to it.
 */
export function poolAudit({ call, postgres, schema, fence }: PoolAuditOptions) {
  return async (blocks: BlockRange, signal: AbortSignal): Promise<void> => {
    const held = (await readFollower(postgres.pool, schema, feePoolsProjection))?.coverage.at(-1)?.to ?? -1
    if (held < blocks.to) return
    const rows = await readChanged(postgres.pool, schema, blocks)
    const [first] = rows
    if (!first) return
    const pools = rows.map((row) => decodeState(poolsTable.columns, row))
    const tokens = pools.map((pool) => ({ userToken: pool.user_token, validatorToken: pool.validator_token }))
    const told = await readReservesIfTold(call, tokens, hash(toHex(first.at_hash)), signal)
    const differing = rows.filter((_, index) => {
      const pool = pools[index]
      return pool && differs(pool, told[index] ?? null)
    })
    if (differing.length === 0) return
    await postgres.transaction(async (client) => {
      await assertFence(client, schema, fence)
      await client.query(
        `INSERT INTO ${relationOf(schema, 'fee_pool_checks')} AS checks (pool, block_num, differs)
         SELECT pool, $2, true FROM unnest($1::bytea[]) AS pool
         ON CONFLICT (pool) DO UPDATE SET differs = true, mended = false, block_num = greatest(checks.block_num, $2)`,
        [differing.map(poolOf), blocks.to],
      )
    })
  }
}

interface ChangedRow extends Readonly<Record<string, unknown>> {
  readonly at_hash: Buffer
}

/**
 * Pools that the blocks changed, as the last of them left them, but for those that are marked, and
 * those mended after them: nothing more is learned of what they were before.
 */
async function readChanged(
  client: Queryable,
  schema: string,
  { from, to }: BlockRange,
): Promise<readonly ChangedRow[]> {
  const found = await client.query<ChangedRow>(
    `SELECT DISTINCT ON (pools.pool) pools.*, blocks.hash AS at_hash
     FROM ${relationOf(schema, `${poolsTable.name}_history`)} AS pools
     JOIN ${relationOf(schema, 'blocks')} AS blocks ON blocks.num = $2
     LEFT JOIN ${relationOf(schema, 'fee_pool_checks')} AS checks ON checks.pool = pools.pool
     JOIN ${relationOf(schema, `${poolsTable.name}_current`)} AS newest ON newest.pool = pools.pool
     WHERE pools.block_num BETWEEN $1 AND $2 AND (checks.differs AND NOT checks.mended) IS NOT TRUE
       AND coalesce(newest.mended_block <= $2, true)
     ORDER BY pools.pool, pools.block_num DESC, pools.log_idx DESC LIMIT ${POOLS_MAX}`,
    [from, to],
  )
  return found.rows
}
