/**
 * The changes of blocks to balances and to the totals of tokens. The newest blocks' changes are kept, so
 * that a revert subtracts what the orphaned blocks had added although their rows are gone.
 */
import type { BlockRange } from '#ingest/range.ts'
import { quoteIdentifier } from '../../sql.ts'
import type { FollowerTransaction } from '../follower.ts'

/** Adds what blocks moved to balances and totals, and keeps the changes of the newest. */
export async function applyBlocks(
  transaction: FollowerTransaction,
  { from, to }: BlockRange,
  hotBlocks: number,
): Promise<number> {
  const { client, schema, finalized } = transaction
  const s = quoteIdentifier(schema)
  await client.query(
    `WITH moved_by_log AS (${movedByLogSql(s)}),
     net AS MATERIALIZED (
       SELECT token, holder, sum(delta) AS delta,
         min(block_num) FILTER (WHERE coalesce(held.balance, 0) + so_far < 0) AS below_since
       FROM moved_by_log LEFT JOIN ${s}.balances AS held USING (holder, token) GROUP BY token, holder),
     changed AS (
       INSERT INTO ${s}.balances AS b (token, holder, balance, below_since)
       SELECT token, holder, delta, below_since FROM net
       ON CONFLICT (holder, token) DO UPDATE SET balance = b.balance + excluded.balance,
         below_since = coalesce(b.below_since, excluded.below_since)
       RETURNING new.token AS token, coalesce(old.balance, 0) AS before, new.balance AS after),
     ${totalsSql(s, movedTotalsSql)}`,
    [from, to],
  )
  await keepChanges(transaction, { from, to }, Math.min(finalized, to - hotBlocks))
  return to
}

/**
 * Both sides of each transfer in the blocks from $1 to $2, with the sum of what the account moved in
 * them up to its log. An account that sends to itself has both sides in one log.
 */
export const movedByLogSql = (s: string): string =>
  `SELECT token, holder, block_num, leg * amount AS delta,
         sum(leg * amount) OVER (PARTITION BY token, holder ORDER BY block_num, log_idx) AS so_far
       FROM ${s}.holder_deltas WHERE block_num BETWEEN $1 AND $2`

/** For each token: how many holders came or went, and by how much its supply moved. */
export const movedTotalsSql = `SELECT token, sum((after > 0)::int - (before > 0)::int) AS holders, sum(after - before) AS supply
       FROM changed GROUP BY token`

/**
 * Writes the changes of the range's blocks above `coldTo`, and deletes those that have become cold.
 */
export async function keepChanges(
  { client, schema }: FollowerTransaction,
  { from, to }: BlockRange,
  coldTo: number,
): Promise<void> {
  const s = quoteIdentifier(schema)
  const hot = [Math.max(from, coldTo + 1), to]
  await client.query(
    `INSERT INTO ${s}.balance_changes (block_num, token, holder, delta)
     SELECT block_num, token, holder, sum(leg * amount) FROM ${s}.holder_deltas
     WHERE block_num BETWEEN $1 AND $2 GROUP BY block_num, token, holder HAVING sum(leg * amount) <> 0`,
    hot,
  )
  await client.query(
    `INSERT INTO ${s}.token_changes (block_num, token, transfer_count)
     SELECT block_num, token, count(*) FROM ${s}.token_transfers
     WHERE block_num BETWEEN $1 AND $2 GROUP BY block_num, token`,
    hot,
  )
  await client.query(`DELETE FROM ${s}.balance_changes WHERE block_num <= $1`, [coldTo])
  await client.query(`DELETE FROM ${s}.token_changes WHERE block_num <= $1`, [coldTo])
}

/**
 * The end of a statement over the blocks from $1 to $2 that adds to the totals of each token they
 * moved. @param moved SQL of what changed of each token, as `movedTotalsSql` tells it
 */
export const totalsSql = (s: string, moved: string): string => `moved AS (${moved}),
     sent AS (
       SELECT token, count(*) AS transfers, min(ARRAY[block_num, log_idx]) AS first,
              min(block_timestamp) AS first_at, max(block_timestamp) AS last_at
       FROM ${s}.token_transfers WHERE block_num BETWEEN $1 AND $2 GROUP BY token)
     INSERT INTO ${s}.token_totals AS t (token, holder_count, total_supply, transfer_count, first_block, first_log_idx,
                                         first_transfer_at, last_transfer_at)
     SELECT token, coalesce(holders, 0), coalesce(supply, 0), transfers, first[1], first[2], first_at, last_at
     FROM sent LEFT JOIN moved USING (token)
     ON CONFLICT (token) DO UPDATE SET
       holder_count = t.holder_count + excluded.holder_count,
       total_supply = t.total_supply + excluded.total_supply,
       transfer_count = t.transfer_count + excluded.transfer_count,
       first_block = coalesce(t.first_block, excluded.first_block),
       first_log_idx = coalesce(t.first_log_idx, excluded.first_log_idx),
       first_transfer_at = coalesce(t.first_transfer_at, excluded.first_transfer_at),
       last_transfer_at = excluded.last_transfer_at`
