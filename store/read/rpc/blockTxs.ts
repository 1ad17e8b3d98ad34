/** Transactions of one block as the node told them, by their places in it. */
import { readOnce } from '../../cancel.ts'
import { type ArchivedTx, readArchivedTxs } from '../../ledger/archive.ts'
import type { ChainState } from '../../ledger/ChainState.ts'
import type { Postgres } from '../../postgres.ts'

export function readBlockTxs(
  postgres: Postgres,
  { schema }: Pick<ChainState, 'schema'>,
  blockNumber: number,
  indexes: readonly number[],
  signal: AbortSignal,
): Promise<readonly ArchivedTx[]> {
  const places = indexes.map((txIndex) => ({ blockNumber, txIndex }))
  return readOnce(postgres, signal, (client) => readArchivedTxs(client, schema, places))
}
