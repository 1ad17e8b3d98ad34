import { type Postgres, preparedBySchema } from '../postgres.ts'
import { quoteIdentifier, relationOf } from '../sql.ts'
import { hashOf, type Queryable } from './lane.ts'

/** Counts of the proved parts of the blocks held. */
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

/** The newest final block, and whether a certificate proves it. */
export interface FinalBlock {
  /** As it is held; null where it is not. */
  readonly hash: string | null
  /**
   * A certificate that contradicts no other one is of a block that we hold, with our hash, at or
   * above the newest final one, and every header from there up to it was recomputed. A height alone
   * says nothing: the certificate may be of another branch. `VERIFY=links` recomputes no header, so
   * that nothing is proved under it.
   */
  readonly isProved: boolean
}

export async function readFinalBlock(
  client: Queryable,
  schema: string,
  { finalized, tip }: { readonly finalized: number; readonly tip: number },
): Promise<FinalBlock> {
  const { rows } = await client.query<{ hash: Buffer | null; proved: boolean | null }>({
    ...statementOf(schema),
    values: [finalized, Math.max(finalized, tip)],
  })
  const [row] = rows
  return { hash: row?.hash ? hashOf(row.hash) : null, isProved: row?.proved ?? false }
}

/**
 * No other one of these proofs is of the height of proof `p`, nor of its view of its epoch, and none of
 * the height beside it is of another branch: that is how `contradicts` compares.
 */
export const isUncontradicted = (proofs: string): string =>
  `NOT EXISTS (SELECT 1 FROM ${proofs} AS o WHERE o.height = p.height AND o.digest <> p.digest)
   AND NOT EXISTS (SELECT 1 FROM ${proofs} AS o WHERE o.epoch = p.epoch AND o.view = p.view AND o.digest <> p.digest)
   AND NOT EXISTS (SELECT 1 FROM ${proofs} AS o WHERE o.height = p.height + 1 AND o.parent_hash <> p.digest)
   AND NOT EXISTS (SELECT 1 FROM ${proofs} AS o WHERE o.height = p.height - 1 AND o.digest <> p.parent_hash)`

/** Blocks that are held one upon the other are linked: each was appended to its parent. */
const statementOf = preparedBySchema((schema) => {
  const [proofs, blocks] = [relationOf(schema, 'finality_proofs'), relationOf(schema, 'blocks')]
  return `SELECT (SELECT hash FROM ${blocks} WHERE num = $1) AS hash,
    (SELECT (SELECT count(*) FROM ${relationOf(schema, 'block_proofs')}
             WHERE block_num BETWEEN $1 AND $2 AND block_num <= p.height AND header = ${PROVED}) = p.height - $1 + 1
     FROM ${proofs} AS p JOIN ${blocks} AS b ON b.num = p.height AND b.hash = p.digest
     WHERE p.height BETWEEN $1 AND $2 AND b.num BETWEEN $1 AND $2 AND ${isUncontradicted(proofs)}
     ORDER BY p.height LIMIT 1) AS proved`
})
