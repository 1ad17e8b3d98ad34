import { tip20 } from '#transform/addresses.ts'
import type { Postgres } from '../postgres.ts'
import { quoteIdentifier, schemaOf, toBytes } from '../sql.ts'

/**
 * Whether fees of the blocks held were paid in Tempo's standard tokens; null where no block has a fee.
 * The schema may be of any version; null too where there is none.
 */
export async function readFeesInTokens({ pool }: Postgres, chainId: number): Promise<boolean | null> {
  const table = `${quoteIdentifier(schemaOf(chainId))}.txs`
  const { rows } = await pool.query<{ exists: boolean }>('SELECT to_regclass($1) IS NOT NULL AS exists', [
    table,
  ])
  if (!rows[0]?.exists) return null
  const paid = await pool.query<{ in_token: boolean }>(
    `SELECT coalesce(substr(paid_fee_token, 1, 12) = $1, false) AS in_token FROM ${table} WHERE fee_amount > 0 LIMIT 1`,
    [toBytes(tip20.prefix)],
  )
  return paid.rows[0]?.in_token ?? null
}
