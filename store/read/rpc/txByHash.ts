/**
 * A transaction and its receipt by hash, as the node told them: one prepared statement that reads no
 * more than that, for wallets that wait ask it again and again.
 */
import { readOnce } from '../../cancel.ts'
import { type ArchivedTx, archivedPartOf, archivedPartSql, archivedTx } from '../../ledger/archive.ts'
import type { ChainState } from '../../ledger/ChainState.ts'
import { type Postgres, preparedBySchema } from '../../postgres.ts'
import { relationOf, toBytes, toHex } from '../../sql.ts'

export interface FoundTx {
  readonly archived: ArchivedTx
  readonly final: boolean
}

interface Row {
  block_num: number
  idx: number
  block_hash: Buffer
  archived_part: Buffer | null
}

/** Null where it is in no block we hold. */
export function readTxByHash(
  postgres: Postgres,
  { schema, openParts, final }: ChainState,
  hash: string,
  signal: AbortSignal,
): Promise<FoundTx | null> {
  return readOnce(postgres, signal, async (client) => {
    const { rows } = await client.query<Row>({ ...statementOf(schema), values: [toBytes(hash)] })
    const [row] = rows
    if (!row) return null
    const { block_num: number, idx, archived_part: packed } = row
    const name = { blockHash: toHex(row.block_hash), part: archivedPartOf(idx) }
    const part = packed ? openParts.open(name, () => packed) : undefined
    return { archived: archivedTx(part, number, idx), final: final.has(number) }
  })
}

const statementOf = preparedBySchema(
  (schema) => `SELECT block_num, idx, (${archivedPartSql(schema, 'txs')}) AS archived_part,
      (SELECT hash FROM ${relationOf(schema, 'blocks')} AS blocks WHERE num = txs.block_num) AS block_hash
    FROM ${relationOf(schema, 'txs')} AS txs WHERE txs.hash = $1`,
)
