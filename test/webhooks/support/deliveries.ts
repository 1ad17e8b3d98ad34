/** Deliveries as a receiver proves them, and as rows that no sender makes in a test's time. */
import type { Postgres } from '#store/postgres.ts'
import { verifySignature } from '#webhooks/signature.ts'
import type { Received } from '../../support/receiver.ts'

/** Whether a received request is signed with the secret; false for none. */
export const isSignedWith = (secret: string, sent: Received | undefined): boolean =>
  verifySignature(
    String(sent?.headers['svc-signature']),
    sent?.body ?? '',
    secret,
    Number(sent?.headers['webhook-timestamp']),
  )

/** The last of eight attempts, `whd_000000000000001_x`, has failed, and its subscription fails since. */
export async function giveUpDelivery({ pool }: Pick<Postgres, 'pool'>, webhookId: string): Promise<void> {
  await pool.query(
    `WITH given_up AS (
       INSERT INTO app.webhook_messages (webhook_id, event_id, type, state, block_num, block_hash, event_index, envelope, attempts, is_logged)
       VALUES ($1, 'evt_1', 'block:created', 'exhausted', 1, '\\x00', 0, '{}', 8, true) RETURNING id)
     INSERT INTO app.webhook_deliveries (id, webhook_id, message, event_id, attempt, status, request_url)
     SELECT 'whd_000000000000001_x', $1, id, 'evt_1', 8, 'failed', 'http://x' FROM given_up`,
    [webhookId],
  )
  await pool.query(
    'UPDATE app.webhooks SET failure_count = 8, failing_since = clock_timestamp() WHERE id = $1',
    [webhookId],
  )
}
