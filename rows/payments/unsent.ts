/** Debts on chains that nothing here sends on: rows of before, or of a chain that settings name no more. */
import { sql } from 'kysely'
import type { AppDatabase } from '../database.ts'

export interface UnsentOnChain {
  readonly chainId: number
  readonly count: number
  /** Owed for more than ten minutes. */
  readonly late: number
}

/** Says so in each of them. @param chainIds those that debts are sent on */
export async function markUnsent(
  app: AppDatabase,
  chainIds: readonly number[],
): Promise<readonly UnsentOnChain[]> {
  const { rows } = await sql<UnsentOnChain>`
    WITH unsent AS (
      SELECT id, chain_id, queued_at FROM app.payouts
      WHERE state IN ('queued', 'sending') AND chain_id <> ALL (${[...chainIds]}::bigint[])
    ), told AS (
      UPDATE app.payouts p SET problem = 'nothing here sends on chain ' || u.chain_id
      FROM unsent u WHERE p.id = u.id AND p.problem IS DISTINCT FROM 'nothing here sends on chain ' || u.chain_id
    )
    SELECT chain_id::float8 AS "chainId", count(*)::int AS count,
      (count(*) FILTER (WHERE queued_at < clock_timestamp() - interval '10 minutes'))::int AS late
    FROM unsent GROUP BY chain_id ORDER BY chain_id`.execute(app)
  return rows
}
