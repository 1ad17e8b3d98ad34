/**
 * Balances and totals of the past: sums of transfers per holder after every so many blocks, which a read as
 * of an old block begins with, so that it sums few blocks more, however long the history is; and each
 * token's totals after each block that moved it. All are pure functions of the transfers; genesis is added
 * when they are read.
 */
import type { BlockRange } from '#ingest/range.ts'
import type { Queryable } from '../../ledger/lane.ts'
import { quoteIdentifier, relationOf } from '../../sql.ts'
import { type BlockFollower, type FollowerTransaction, readFollower, readRevertedFrom } from '../follower.ts'

const checkpointsProjection = { name: 'balance_checkpoints', version: 2 } as const

/**
 * Blocks between two checkpoints: a read sums at most half of them. At a hundred transfers a block
 * of one token its rows are a third of the transfers' sides (measured); with fewer blocks they
 * would be nearly as many.
 */
const CHECKPOINT_BLOCKS = 512
/**
 * Checkpoints of one commit: bounds its rows, how long it runs, and its memory (four of dense
 * blocks held 323 MB).
 */
const CHECKPOINTS_AT_ONCE = 1
/** Memory of one sort: the rows of a checkpoint's blocks fit, also of dense ones. */
const WORK_MEMORY = '32MB'

/** `checkpointBlocks`: blocks between two checkpoints; tests have fewer blocks than usual. */
export function checkpointsFollower(checkpointBlocks: number = CHECKPOINT_BLOCKS): BlockFollower {
  return {
    ...checkpointsProjection,
    needs: ['holder_deltas', 'token_transfers'],
    begins: 'early',
    prepare: async () => async () => {},
    clear: async ({ client, schema }) => {
      await client.query(`TRUNCATE ${tablesOf(schema).join(', ')}`)
    },
    apply: (transaction, range) => apply(transaction, range, checkpointBlocks),
    revert: async ({ client, schema }, fromBlock) => {
      // The span that the block is in is written again when it ends.
      const kept = await findLast(client, schema, fromBlock - 1)
      for (const table of tablesOf(schema))
        await client.query(`DELETE FROM ${table} WHERE block_num > $1`, [kept])
    },
  }
}

const tablesOf = (schema: string) =>
  ['checkpoints', 'balance_checkpoints', 'token_totals_history'].map((table) => relationOf(schema, table))

/**
 * Writes the checkpoints of all spans that end in the range. A span's blocks before the range are
 * held as well.
 */
async function apply(transaction: FollowerTransaction, range: BlockRange, span: number): Promise<number> {
  const first = Math.floor(range.from / span)
  const ended = Math.floor((range.to + 1) / span)
  const end = Math.min(ended, first + CHECKPOINTS_AT_ONCE)
  if (end > first) await writeCheckpoints(transaction, { from: first * span, to: end * span - 1 }, span)
  return end < ended ? end * span - 1 : range.to
}

/** `range` is whole spans, which continue the checkpoints there are. */
async function writeCheckpoints(
  { client, schema }: FollowerTransaction,
  { from, to }: BlockRange,
  span: number,
): Promise<void> {
  const s = quoteIdentifier(schema)
  await client.query(`SET LOCAL work_mem = '${WORK_MEMORY}'`)
  await client.query(
    `WITH net AS MATERIALIZED (
       SELECT token, holder, block_num, sum(leg * amount) AS delta FROM ${s}.holder_deltas
       WHERE block_num BETWEEN $1 AND $2 GROUP BY 1, 2, 3 HAVING sum(leg * amount) <> 0),
     before AS MATERIALIZED (
       SELECT token, holder, ${sumUpToSql(s, 'moved.token', 'moved.holder', '$1::bigint - 1')} AS balance
       FROM (SELECT DISTINCT token, holder FROM net) AS moved),
     summed AS MATERIALIZED (
       SELECT token, holder, block_num, delta,
         before.balance + sum(delta) OVER (PARTITION BY token, holder ORDER BY block_num) AS balance
       FROM net JOIN before USING (token, holder)),
     written AS (
       INSERT INTO ${s}.balance_checkpoints (token, holder, block_num, balance)
       SELECT DISTINCT ON (token, holder, block_num / $3) token, holder, (block_num / $3 + 1) * $3 - 1, balance
       FROM summed ORDER BY token, holder, block_num / $3, block_num DESC),
     moved AS (
       SELECT token, block_num, sum((balance > 0)::int - (balance - delta > 0)::int) AS holders, sum(delta) AS supply
       FROM summed GROUP BY token, block_num),
     sent AS (
       SELECT token, block_num, count(*) AS transfers FROM ${s}.token_transfers
       WHERE block_num BETWEEN $1 AND $2 GROUP BY token, block_num),
     began AS MATERIALIZED (
       SELECT kept.token, holder_count, total_supply, transfer_count FROM (SELECT DISTINCT token FROM sent) AS named
       CROSS JOIN LATERAL (SELECT * FROM ${s}.token_totals_history AS kept
         WHERE kept.token = named.token AND kept.block_num < $1 ORDER BY kept.block_num DESC LIMIT 1) AS kept)
     INSERT INTO ${s}.token_totals_history (token, block_num, holder_count, total_supply, transfer_count)
     SELECT token, sent.block_num,
       coalesce(began.holder_count, 0) + sum(coalesce(moved.holders, 0)) OVER earlier,
       coalesce(began.total_supply, 0) + sum(coalesce(moved.supply, 0)) OVER earlier,
       coalesce(began.transfer_count, 0) + sum(sent.transfers) OVER earlier
     FROM sent LEFT JOIN moved USING (token, block_num) LEFT JOIN began USING (token)
     WINDOW earlier AS (PARTITION BY token ORDER BY sent.block_num)`,
    [from, to, span],
  )
  await client.query(
    `INSERT INTO ${s}.checkpoints SELECT generate_series($1::bigint + $3 - 1, $2::bigint, $3::bigint)`,
    [from, to, span],
  )
}

const sumUpToSql = (s: string, token: string, holder: string, block: string) =>
  `coalesce((SELECT kept.balance FROM ${s}.balance_checkpoints AS kept
             WHERE kept.token = ${token} AND kept.holder = ${holder} AND kept.block_num <= ${block}
             ORDER BY kept.block_num DESC LIMIT 1), 0)`

/** The newest block with checkpoints that is not after `block`; -1 when there is none: genesis. */
export async function findCheckpoint(client: Queryable, schema: string, block: number): Promise<number> {
  const follower = await readFollower(client, schema, checkpointsProjection)
  if (!follower) return -1
  // A block that it has not undone yet is not used.
  const reverted = await readRevertedFrom(client, schema, follower.seq)
  return findLast(client, schema, Math.min(block, (reverted ?? Infinity) - 1))
}

async function findLast(client: Queryable, schema: string, block: number): Promise<number> {
  const found = await client.query<{ last: number | null }>(
    `SELECT max(block_num) AS last FROM ${relationOf(schema, 'checkpoints')} WHERE block_num <= $1`,
    [block],
  )
  return found.rows[0]?.last ?? -1
}

/** A holder's balance of a token after a block with checkpoints: genesis and the sum up to it. */
export const balanceAtSql = (schema: string, checkpoint: string, token: string, holder: string): string =>
  `${sumUpToSql(quoteIdentifier(schema), token, holder, checkpoint)}
    + coalesce((SELECT genesis.balance FROM ${relationOf(schema, 'genesis_balances')} AS genesis
                WHERE genesis.token = ${token} AND genesis.holder = ${holder}), 0)`
