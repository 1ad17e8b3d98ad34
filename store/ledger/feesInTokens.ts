import type { Postgres } from '../postgres.ts'
import { quoteIdentifier, schemaOf } from '../sql.ts'

/**
 * Whether fees of the blocks held were paid in tokens, as on Tempo; null where no block has a fee.
 * The schema may be of any version; null too where there is none.
 */
export async function readFeesInTokens({ pool }: Postgres, chainId: number): Promise<boolean | null> {
  const table = `${quoteIdentifier(schemaOf(chainId))}.txs`
  const { rows } = await pool.query<{ exists: boolean }>('SELECT to_regclass($1) IS NOT NULL AS exists', [
    table,
  ])
  if (!rows[0]?.exists) return null
  const paid = await pool.query<{ in_token: boolean }>(
    `SELECT paid_fee_token IS NOT NULL AS in_token FROM ${table} WHERE fee_amount > 0 LIMIT 1`,
  )
  return paid.rows[0]?.in_token ?? null
}
