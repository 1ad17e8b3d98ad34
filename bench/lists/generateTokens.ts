/**
 * The rows that followers would have made of the generated chain, by SQL in one go: tokens with names, and
 * balances.
 */
import { balancesProjection } from '#store/follow/balances/balances.ts'
import { feePoolsProjection } from '#store/follow/feePools/poolFollower.ts'
import { completeFollower, insertFollower, moveFollower } from '#store/follow/follower.ts'
import { tokensFold } from '#store/follow/tokens/tokens.ts'
import { readLane } from '#store/ledger/lane.ts'
import type { Postgres } from '#store/postgres.ts'
import { quoteIdentifier, tip20Tokens } from '#store/sql.ts'

const followers = [balancesProjection, tokensFold, feePoolsProjection]

/**
 * Tokens as of blocks 0 to `tip`. An account has what it was sent: what it spent came from
 * elsewhere.
 */
export async function generateTokens(postgres: Postgres, schema: string, tip: number): Promise<void> {
  const s = quoteIdentifier(schema)
  for (const statement of [
    `INSERT INTO ${s}.tokens_current
       (token, block_num, log_idx, created_block, created_log_idx, name, symbol, currency, paused)
     SELECT token, first_block, first_log_idx, first_block, first_log_idx, 'Token', 'TKN', 'USD', false
     FROM (SELECT DISTINCT ON (token) token, block_num AS first_block, log_idx AS first_log_idx
           FROM ${s}.token_transfers WHERE ${tip20Tokens('token')} ORDER BY token, block_num, log_idx) AS firsts`,
    `INSERT INTO ${s}.balances (holder, token, balance)
     SELECT "to", token, sum(amount) FROM ${s}.token_transfers GROUP BY 1, 2`,
    `INSERT INTO ${s}.token_totals (token, holder_count, total_supply, transfer_count, first_block, first_log_idx)
     SELECT token, count(*), sum(balance), 1, 0, 0 FROM ${s}.balances GROUP BY 1`,
    `VACUUM ANALYZE ${s}.tokens_current, ${s}.balances, ${s}.token_totals`,
  ])
    await postgres.pool.query(statement)
  for (const follower of followers) {
    await insertFollower(postgres.pool, schema, follower, 0)
    await completeFollower(postgres.pool, schema, follower)
  }
  await moveFollowers(postgres, schema, tip)
}

/** They have taken in the block; nothing they hold changes by it here. */
export async function moveFollowers(postgres: Postgres, schema: string, tip: number): Promise<void> {
  const seq = (await readLane(postgres.pool, schema))?.seq ?? 0
  for (const follower of followers)
    await moveFollower(postgres.pool, schema, follower, { seq, coverage: [{ from: 0, to: tip }] })
}
