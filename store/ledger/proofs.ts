import type { Postgres } from '../postgres.ts'
import { quoteIdentifier } from '../sql.ts'

/** What was proved of the blocks held. */
export interface ProofCounts {
  /** Blocks whose header and both roots were recomputed. */
  readonly provedBlocks: number
  /** Blocks with a part that could not be recomputed. */
  readonly unprovableBlocks: number
  readonly unprovableTxs: number
}

/** Codes of block_proofs (transform/rows/proofRow.ts); `VERIFY=links` looks at nothing, which is 0. */
const PROVED = 1
const UNPROVABLE = 2

export async function countProofs(postgres: Postgres, schema: string): Promise<ProofCounts> {
  const result = await postgres.pool.query<{ proved: number; unprovable: number; txs: number }>(
    `SELECT count(*) FILTER (WHERE header = $1 AND transactions_root = $1 AND receipts_root = $1) AS proved,
            count(*) FILTER (WHERE header = $2 OR transactions_root = $2 OR receipts_root = $2) AS unprovable,
            coalesce(sum(unprovable_txs), 0)::bigint AS txs
     FROM ${quoteIdentifier(schema)}.block_proofs`,
    [PROVED, UNPROVABLE],
  )
  const row = result.rows[0]
  return {
    provedBlocks: row?.proved ?? 0,
    unprovableBlocks: row?.unprovable ?? 0,
    unprovableTxs: row?.txs ?? 0,
  }
}
