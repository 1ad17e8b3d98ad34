/** What paused subscriptions keep, up to a bound. */
import { sql } from 'kysely'
import type { AppDatabase } from '../database.ts'

/**
 * Events that a paused subscription keeps: some hundred megabytes. Beyond it is disabled, and its
 * blocks are there for a replay.
 */
export const BACKLOG_MAX = 100_000

/** Where the queue of a state has a place behind so many others. */
const reaches = (state: 'waiting' | 'unfinal', order: string) => sql<boolean>`EXISTS (
  SELECT FROM app.webhook_messages m
  WHERE m.webhook_id = w.id AND m.state = ${sql.lit(state)} AND m.replay IS NULL
  ORDER BY m.${sql.raw(order)} OFFSET ${BACKLOG_MAX} LIMIT 1)`

/** Paused subscriptions that keep more. */
export async function overfullBacklogs(
  app: AppDatabase,
): Promise<{ readonly webhookId: string; readonly owner: string; readonly chainId: number }[]> {
  const { rows } = await sql<{ id: string; owner: string; chain_id: number }>`
    SELECT w.id, w.owner, w.chain_id FROM app.webhooks w
    WHERE w.status = 'paused' AND w.deleted_at IS NULL
      AND (${reaches('waiting', 'id')} OR ${reaches('unfinal', 'block_num')})
    ORDER BY w.id`.execute(app)
  return rows.map(({ id, owner, chain_id: chainId }) => ({ webhookId: id, owner, chainId }))
}
