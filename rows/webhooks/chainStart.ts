/** The start of a chain that took the place of another one under the same id. */
import type { AppDatabase } from '../database.ts'

/** From here nothing is looked through, nothing is final, and every subscription holds. */
export async function moveToStart(
  transaction: AppDatabase,
  chainId: number,
  startBlock: number,
): Promise<void> {
  await transaction
    .updateTable('app.webhook_positions')
    .set({ block_num: startBlock - 1, block_hash: null, finalized: -1 })
    .set((row) => ({ subscriptions: row('subscriptions', '+', 1) }))
    .where('chain_id', '=', chainId)
    .execute()
  await transaction.deleteFrom('app.webhook_blocks').where('chain_id', '=', chainId).execute()
  await transaction
    .updateTable('app.webhooks')
    .set({ active_from: startBlock })
    .where('chain_id', '=', chainId)
    .where('deleted_at', 'is', null)
    .execute()
}
