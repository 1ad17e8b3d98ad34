/** What is kept of deliveries, and for how long. What was not sent is never removed. */
import { sql } from 'kysely'
import type { AppDatabase } from '../app/database.ts'

/** Attempts a subscription's log holds. */
const DELIVERIES_MAX = 1_000
const DELIVERY_DAYS = 30
const ENVELOPE_DAYS = 7
/** Rows of one statement. */
const ROWS_MAX = 5_000

const ended = sql.raw(`m.state IN ('delivered', 'exhausted', 'withdrawn')`)

/** Removes what is past its time, in pieces; the number of rows, 0 when nothing is left to remove. */
export async function removePast(app: AppDatabase): Promise<number> {
  const removed = await sql<{ id: string }>`
    DELETE FROM app.webhook_deliveries WHERE id IN (
      SELECT id FROM app.webhook_deliveries
      WHERE status <> 'pending' AND created_at < clock_timestamp() - ${DELIVERY_DAYS} * interval '1 day' LIMIT ${ROWS_MAX})
    RETURNING id`.execute(app)
  const excess = await sql<{ id: string }>`
    DELETE FROM app.webhook_deliveries WHERE id IN (
      SELECT d.id FROM app.webhooks w
      CROSS JOIN LATERAL (
        SELECT id FROM app.webhook_deliveries WHERE webhook_id = w.id ORDER BY id DESC OFFSET ${DELIVERIES_MAX} LIMIT 1) AS last
      JOIN app.webhook_deliveries d ON d.webhook_id = w.id AND d.id <= last.id AND d.status <> 'pending' LIMIT ${ROWS_MAX})
    RETURNING id`.execute(app)
  // An event whose block may still be replaced is kept: its retraction needs it.
  const messages = await sql<{ id: number }>`
    DELETE FROM app.webhook_messages WHERE id IN (
      SELECT m.id FROM app.webhook_messages m JOIN app.webhooks w ON w.id = m.webhook_id
      WHERE ${ended} AND NOT EXISTS (SELECT 1 FROM app.webhook_deliveries d WHERE d.message = m.id)
        AND m.created_at < clock_timestamp() - interval '1 hour'
        AND (m.block_num IS NULL OR m.block_num <= (SELECT min(finalized) FROM app.webhook_positions p WHERE p.chain_id = w.chain_id))
      LIMIT ${ROWS_MAX})
    RETURNING id`.execute(app)
  const envelopes = await sql<{ id: number }>`
    UPDATE app.webhook_messages SET envelope = NULL WHERE id IN (
      SELECT m.id FROM app.webhook_messages m
      WHERE ${ended} AND envelope IS NOT NULL
        AND m.created_at < clock_timestamp() - ${ENVELOPE_DAYS} * interval '1 day' LIMIT ${ROWS_MAX})
    RETURNING id`.execute(app)
  const deleted = await removeDeleted(app)
  return removed.rows.length + excess.rows.length + messages.rows.length + envelopes.rows.length + deleted
}

/** Rows of subscriptions that were deleted, their own the last. */
async function removeDeleted(app: AppDatabase): Promise<number> {
  const { rows } = await sql<{ id: number }>`
    DELETE FROM app.webhook_messages WHERE id IN (
      SELECT m.id FROM app.webhooks w JOIN app.webhook_messages m ON m.webhook_id = w.id
      WHERE w.deleted_at IS NOT NULL LIMIT ${ROWS_MAX})
    RETURNING id`.execute(app)
  if (rows.length > 0) return rows.length
  await sql`
    DELETE FROM app.webhook_replays WHERE webhook_id IN (SELECT id FROM app.webhooks WHERE deleted_at IS NOT NULL)`.execute(
    app,
  )
  const gone = await sql<{ id: string }>`
    DELETE FROM app.webhooks WHERE deleted_at IS NOT NULL RETURNING id`.execute(app)
  return gone.rows.length
}

/**
 * Takes back what was queued for a subscription and will not be sent: it begins again at the
 * present. The first block of what was, or null.
 */
export async function withdrawQueued(app: AppDatabase, webhookId: string): Promise<number | null> {
  const { rows } = await sql<{ first: number | null }>`
    WITH dropped AS (
      DELETE FROM app.webhook_messages WHERE webhook_id = ${webhookId} AND state IN ('waiting', 'unfinal') AND replay IS NULL
      RETURNING block_num),
    withdrawn AS (
      UPDATE app.webhook_messages SET state = 'withdrawn'
      WHERE webhook_id = ${webhookId} AND state IN ('retrying', 'sending') AND replay IS NULL RETURNING block_num)
    SELECT min(block_num) AS first FROM (TABLE dropped UNION ALL TABLE withdrawn) AS queued`.execute(app)
  return rows[0]?.first ?? null
}
