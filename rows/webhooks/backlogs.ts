/** Messages that paused subscriptions keep, up to a bound. */
import { type ExpressionBuilder, sql } from 'kysely'
import type { AppDatabase } from '../database.ts'
import type { AppSchema } from '../tables.ts'

/**
 * Events that a paused subscription keeps: some hundred megabytes. Beyond it is disabled, and its
 * blocks are there for a replay.
 */
export const BACKLOG_MAX = 100_000

/** Whether the queue of a state has a place behind so many others. */
const reaches = (
  row: ExpressionBuilder<AppSchema & { w: AppSchema['app.webhooks'] }, 'w'>,
  state: 'waiting' | 'unfinal',
  order: 'm.id' | 'm.block_num',
) =>
  row.exists(
    row
      .selectFrom('app.webhook_messages as m')
      .select('m.id')
      .whereRef('m.webhook_id', '=', 'w.id')
      .where('m.state', '=', sql.lit(state))
      .where('m.replay', 'is', null)
      .orderBy(order)
      .offset(BACKLOG_MAX)
      .limit(1),
  )

/** Paused subscriptions that keep more. */
export async function overfullBacklogs(
  app: AppDatabase,
): Promise<{ readonly webhookId: string; readonly owner: string; readonly chainId: number }[]> {
  const rows = await app
    .selectFrom('app.webhooks as w')
    .select(['w.id', 'w.owner', 'w.chain_id'])
    .where('w.status', '=', 'paused')
    .where('w.deleted_at', 'is', null)
    .where((row) => row.or([reaches(row, 'waiting', 'm.id'), reaches(row, 'unfinal', 'm.block_num')]))
    .orderBy('w.id')
    .execute()
  return rows.map(({ id, owner, chain_id: chainId }) => ({ webhookId: id, owner, chainId }))
}
