/** Values that the exchange's operations find something for. */
import type { Postgres } from '../../postgres.ts'
import { relationOf, toHex } from '../../sql.ts'

/** The first pair; nothing while there is none. What is still computed is not waited for. */
export async function readExchangeExamples(
  postgres: Postgres,
  schema: string,
): Promise<Readonly<Record<string, string>>> {
  const found = await postgres.pool.query<{ base: Buffer; pair: Buffer }>(
    `SELECT base, pair FROM ${relationOf(schema, 'exchange_pairs_current')}
     ORDER BY created_block, created_log_idx, pair LIMIT 1`,
  )
  const [row] = found.rows
  return row ? { base: toHex(row.base), pairId: toHex(row.pair) } : {}
}
