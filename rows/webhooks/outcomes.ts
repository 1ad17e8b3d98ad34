/** Outcomes of attempts: on their rows, on their messages, and on the subscriptions they are of. */
import { sql } from 'kysely'
import { unnested } from '../arrays.ts'
import type { AppDatabase } from '../database.ts'

export interface DeliveryOutcome {
  /** `whd_…` */
  readonly delivery: string
  readonly message: number
  readonly webhookId: string
  readonly succeeded: boolean
  readonly responseStatus: number | null
  readonly responseMs: number | null
  /** Only of a failure. */
  readonly error: string | null
  /** Until the next attempt; null when there is none. */
  readonly retryInMs: number | null
  /** Pings, replays and failed retries by hand change no counter. */
  readonly counts: boolean
  /** Answered that it is gone: nothing more is sent there. */
  readonly isGone: boolean
}

/** Consecutive failures are counted up to here; that many are needed to disable. */
export const FAILURES_MAX = 100
/** A subscription is disabled when nothing was taken for this long. */
export const FAILING_MS = 72 * 60 * 60 * 1_000
/** The moment of the last success is written once in this time. */
const LAST_DELIVERY_MS = 60_000

/** A subscription that was just disabled. */
export interface Disabled {
  readonly webhookId: string
  readonly owner: string
  readonly chainId: number
  readonly reason: 'failing' | 'gone' | 'requested' | 'backlog' | 'expired'
}

/** Stores outcomes; returned are the subscriptions they disabled. */
export async function storeOutcomes(
  transaction: AppDatabase,
  outcomes: readonly DeliveryOutcome[],
): Promise<readonly Disabled[]> {
  await storeOnDeliveries(transaction, outcomes)
  await storeOnMessages(transaction, outcomes)
  return countOutcomes(transaction, outcomes)
}

async function storeOnDeliveries(
  transaction: AppDatabase,
  outcomes: readonly DeliveryOutcome[],
): Promise<void> {
  const one = unnested('one', {
    delivery: ['text', outcomes.map(({ delivery }) => delivery)],
    status: ['text', outcomes.map(({ succeeded }) => (succeeded ? 'succeeded' : 'failed'))],
    answered: ['integer', outcomes.map(({ responseStatus }) => responseStatus)],
    ms: ['integer', outcomes.map(({ responseMs }) => responseMs)],
    problem: ['text', outcomes.map(({ error }) => error)],
  })
  await transaction
    .updateTable('app.webhook_deliveries as d')
    .from(one)
    .set((row) => ({
      status: row.ref('one.status'),
      response_status: row.ref('one.answered'),
      response_ms: row.ref('one.ms'),
      error: row.ref('one.problem'),
    }))
    .whereRef('d.id', '=', 'one.delivery')
    .where('d.status', '=', 'pending')
    .execute()
}

/** A message taken back or disabled while it was sent stays so; one claimed again is another's. */
async function storeOnMessages(
  transaction: AppDatabase,
  outcomes: readonly DeliveryOutcome[],
): Promise<void> {
  const one = unnested('one', {
    message: ['bigint', outcomes.map(({ message }) => message)],
    succeeded: ['boolean', outcomes.map(({ succeeded }) => succeeded)],
    retry: ['double precision', outcomes.map(({ retryInMs }) => retryInMs)],
  })
  await transaction
    .updateTable('app.webhook_messages as m')
    .from(one)
    .set((row) => ({
      accepted_at: row
        .case()
        .when('one.succeeded', '=', true)
        .then(sql<Date | null>`clock_timestamp()`)
        .else(row.ref('m.accepted_at'))
        .end(),
      state: row
        .case()
        .when('m.state', 'not in', ['sending', 'retrying', 'exhausted'])
        .then(row.ref('m.state'))
        .when('one.succeeded', '=', true)
        .then('delivered')
        .when('m.state', '<>', 'sending')
        .then(row.ref('m.state'))
        .when('one.retry', 'is', null)
        .then('exhausted')
        .else('retrying')
        .end(),
      due_at: row
        .case()
        .when('m.state', '=', 'sending')
        .then(sql<Date | null>`clock_timestamp() + one.retry * interval '1 ms'`)
        .else(row.ref('m.due_at'))
        .end(),
    }))
    .whereRef('m.id', '=', 'one.message')
    .execute()
}

interface Count {
  readonly webhookId: string
  anySucceeded: boolean
  failuresAfter: number
  isGone: boolean
}

async function countOutcomes(
  transaction: AppDatabase,
  outcomes: readonly DeliveryOutcome[],
): Promise<readonly Disabled[]> {
  const counts = new Map<string, Count>()
  for (const { webhookId, succeeded, counts: isCounted, isGone } of outcomes) {
    if (!isCounted && !isGone) continue
    const count = counts.get(webhookId) ?? { webhookId, anySucceeded: false, failuresAfter: 0, isGone: false }
    counts.set(webhookId, count)
    count.isGone ||= isGone
    if (!isCounted) continue
    count.anySucceeded ||= succeeded
    count.failuresAfter = succeeded ? 0 : count.failuresAfter + 1
  }
  // In one order, so that processes never wait for each other in a circle.
  const ordered = [...counts.values()].sort((a, b) => (a.webhookId < b.webhookId ? -1 : 1))
  if (ordered.length === 0) return []
  const { rows } = await sql<{
    id: string
    owner: string
    chain_id: number
    disabled_reason: 'failing' | 'gone'
  }>`
    WITH one AS (
      SELECT * FROM unnest(
        ${ordered.map(({ webhookId }) => webhookId)}::text[], ${ordered.map(({ anySucceeded }) => anySucceeded)}::boolean[],
        ${ordered.map(({ failuresAfter }) => failuresAfter)}::integer[], ${ordered.map(({ isGone }) => isGone)}::boolean[])
        AS one (webhook, succeeded, failures, gone)),
    held AS (
      SELECT w.id, w.status, gone, succeeded, failures,
        least(${FAILURES_MAX}, CASE WHEN succeeded THEN 0 ELSE failure_count END + failures) AS count,
        CASE WHEN failures = 0 AND succeeded THEN NULL WHEN failures = 0 THEN failing_since
             WHEN succeeded OR failing_since IS NULL THEN clock_timestamp() ELSE failing_since END AS since
      FROM app.webhooks w JOIN one ON w.id = webhook
      WHERE gone OR failures > 0 OR failure_count > 0 OR last_delivery_at IS NULL
        OR last_delivery_at < clock_timestamp() - ${LAST_DELIVERY_MS} * interval '1 ms'
      ORDER BY w.id FOR NO KEY UPDATE OF w),
    decided AS (
      SELECT *, CASE WHEN status <> 'active' THEN NULL WHEN gone THEN 'gone'
        WHEN count >= ${FAILURES_MAX} AND since <= clock_timestamp() - ${FAILING_MS} * interval '1 ms' THEN 'failing' END AS reason
      FROM held)
    UPDATE app.webhooks AS w
    SET failure_count = count, failing_since = since,
        last_delivery_at = CASE WHEN succeeded AND (last_delivery_at IS NULL
            OR last_delivery_at < clock_timestamp() - ${LAST_DELIVERY_MS} * interval '1 ms')
          THEN clock_timestamp() ELSE last_delivery_at END,
        status = CASE WHEN reason IS NULL THEN w.status ELSE 'disabled' END,
        disabled_reason = coalesce(reason, w.disabled_reason),
        disabled_from = CASE WHEN reason IS NULL THEN w.disabled_from
          ELSE (SELECT max(block_num) + 1 FROM app.webhook_positions p WHERE p.chain_id = w.chain_id
            AND p.stream = CASE w.event_type WHEN 'exchange:filled' THEN 'fills' ELSE 'blocks' END) END,
        updated_at = CASE WHEN reason IS NULL THEN w.updated_at ELSE clock_timestamp() END
    FROM decided WHERE w.id = decided.id
    RETURNING w.id, w.owner, w.chain_id, reason AS disabled_reason`.execute(transaction)
  return rows
    .filter(({ disabled_reason }) => disabled_reason !== null)
    .map(({ id, owner, chain_id, disabled_reason: reason }) => ({
      webhookId: id,
      owner,
      chainId: chain_id,
      reason,
    }))
}
