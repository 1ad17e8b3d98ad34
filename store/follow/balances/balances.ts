/**
 * Balances as sums of transfers: loaded by one aggregate once all history is held, then moved block
 * by block. The newest blocks' changes are kept, so that a revert subtracts what the orphaned
 * blocks had added although their rows are gone.
 */
import type { BlockRange } from '#ingest/range.ts'
import { quoteIdentifier } from '../../sql.ts'
import type { BlockFollower, FollowerTransaction } from '../follower.ts'
import { type GenesisOptions, readGenesisBalances } from './genesis.ts'

export const balancesProjection = { name: 'balances', version: 3, completes: true } as const

/**
 * Changes kept of blocks that are final already: half an hour of two blocks a second, for walks
 * that are under way.
 */
const HOT_BLOCKS = 4_096

export interface BalancesOptions extends GenesisOptions {
  /** Final blocks whose changes are kept; tests have fewer blocks than usual. */
  readonly hotBlocks?: number | undefined
}

export function balancesFollower(options: BalancesOptions): BlockFollower {
  const { hotBlocks = HOT_BLOCKS } = options
  return {
    ...balancesProjection,
    needs: ['holder_deltas', 'token_transfers', 'tokens'],
    begins: 'whole',
    prepare: async () => async () => {},
    complete: (context) => readGenesisBalances(options, context, balancesProjection),
    clear,
    apply: (transaction, range) => apply(transaction, range, hotBlocks),
    revert,
  }
}

async function clear({ client, schema }: FollowerTransaction): Promise<void> {
  const tables = ['balances', 'balance_changes', 'genesis_balances', 'token_totals', 'token_changes']
  await client.query(
    `TRUNCATE ${tables.map((name) => `${quoteIdentifier(schema)}.${quoteIdentifier(name)}`).join(', ')}`,
  )
}

async function apply(
  transaction: FollowerTransaction,
  { from, to }: BlockRange,
  hotBlocks: number,
): Promise<number> {
  const { client, schema, finalized } = transaction
  const s = quoteIdentifier(schema)
  await client.query(
    `WITH net AS MATERIALIZED (
       SELECT token, holder, sum(leg * amount) AS delta FROM ${s}.holder_deltas
       WHERE block_num BETWEEN $1 AND $2 GROUP BY token, holder),
     changed AS (
       INSERT INTO ${s}.balances AS b (token, holder, balance) SELECT token, holder, delta FROM net
       ON CONFLICT (holder, token) DO UPDATE SET balance = b.balance + excluded.balance
       RETURNING new.token AS token, coalesce(old.balance, 0) AS before, new.balance AS after),
     moved AS (${movedTotalsSql}),
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
       last_transfer_at = excluded.last_transfer_at`,
    [from, to],
  )
  await keepChanges(transaction, { from, to }, Math.min(finalized, to - hotBlocks))
  return to
}

/** Of each token: how many holders came or went, and by how much its supply moved. */
const movedTotalsSql = `SELECT token, sum((after > 0)::int - (before > 0)::int) AS holders, sum(after - before) AS supply
       FROM changed GROUP BY token`

/**
 * Writes the changes of the range's blocks above `coldTo`, and deletes those that have become cold.
 */
async function keepChanges(
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

async function revert({ client, schema }: FollowerTransaction, fromBlock: number): Promise<void> {
  const s = quoteIdentifier(schema)
  await client.query(
    `WITH undone AS (DELETE FROM ${s}.balance_changes WHERE block_num >= $1 RETURNING token, holder, delta),
     net AS (SELECT token, holder, sum(delta) AS delta FROM undone GROUP BY token, holder),
     changed AS (
       UPDATE ${s}.balances AS b SET balance = b.balance - net.delta FROM net
       WHERE b.holder = net.holder AND b.token = net.token
       RETURNING old.token AS token, old.balance AS before, new.balance AS after),
     moved AS (${movedTotalsSql})
     UPDATE ${s}.token_totals AS t SET holder_count = t.holder_count + holders, total_supply = t.total_supply + supply
     FROM moved WHERE t.token = moved.token`,
    [fromBlock],
  )
  await client.query(
    `WITH undone AS (DELETE FROM ${s}.token_changes WHERE block_num >= $1 RETURNING token, transfer_count),
     net AS (SELECT token, sum(transfer_count) AS transfers FROM undone GROUP BY token)
     UPDATE ${s}.token_totals AS t SET transfer_count = t.transfer_count - transfers,
       last_transfer_at = (
         SELECT block_timestamp FROM ${s}.token_transfers AS kept WHERE kept.token = t.token AND block_num < $1
         ORDER BY block_num DESC, log_idx DESC LIMIT 1)
     FROM net WHERE t.token = net.token`,
    [fromBlock],
  )
  // A token first seen in these blocks loses its totals; a token of genesis keeps those of before
  // its first transfer.
  await client.query(
    `UPDATE ${s}.token_totals SET first_block = NULL, first_log_idx = NULL, first_transfer_at = NULL
     WHERE first_block >= $1`,
    [fromBlock],
  )
  await client.query(
    `DELETE FROM ${s}.token_totals AS t WHERE first_block IS NULL AND genesis_missing = 0
     AND NOT EXISTS (SELECT 1 FROM ${s}.genesis_balances AS g WHERE g.token = t.token)`,
  )
}
