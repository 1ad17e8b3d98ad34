/** What is kept of deliveries, and for how long. What was not sent is never removed. */
import { type RawBuilder, sql } from 'kysely'
import { messageOf } from '#errors.ts'
import type { Logger } from '#telemetry.ts'
import type { AppDatabase } from '../database.ts'

/** Attempts a subscription's log holds. */
const DELIVERIES_MAX = 1_000
const DELIVERY_DAYS = 30
const ENVELOPE_DAYS = 7
/** Rows of one statement: with a pass each second, five times what 1,000 deliveries a second add. */
const ROWS_MAX = 5_000
/** Subscriptions whose logs are measured in one pass; each costs up to `DELIVERIES_MAX` index entries. */
const LOGS_MAX = 500

const ended = sql.raw(`m.state IN ('delivered', 'exhausted', 'withdrawn')`)

/** By the primary key: a planner that expects thousands of rows would rather read the whole table. */
const among = (ids: RawBuilder<unknown>) => sql`id = ANY (ARRAY(${ids}))`

/**
 * Removes what is past its time, pass by pass. Each statement finds its rows by an index of what has
 * ended (`statement_timestamp` stands still, as what an index is searched with has to), and one that
 * fails holds up no other.
 */
export class Retention {
  readonly #app: AppDatabase
  readonly #log: Logger
  /** The last subscription whose log was measured. */
  #measured = ''

  constructor(app: AppDatabase, log: Logger) {
    this.#app = app
    this.#log = log
  }

  /** True while there may be more to remove. */
  async pass(): Promise<boolean> {
    const parts = {
      'attempts past their time': () => this.#attempts(),
      'attempts beyond the bound': () => this.#excess(),
      'messages of no attempt': () => this.#messages(),
      'envelopes past their time': () => this.#envelopes(),
      'deleted subscriptions': () => this.#deleted(),
    }
    let isMore = false
    for (const [part, remove] of Object.entries(parts))
      try {
        isMore = (await remove()) || isMore
      } catch (error) {
        this.#log.warn({ part, problem: messageOf(error) }, 'past deliveries could not be removed')
      }
    return isMore
  }

  #attempts(): Promise<boolean> {
    return this.#removeAttempts(sql`
      SELECT id FROM app.webhook_deliveries
      WHERE status <> 'pending' AND created_at < statement_timestamp() - ${DELIVERY_DAYS} * interval '1 day'
      ORDER BY created_at LIMIT ${ROWS_MAX}`)
  }

  /** Walks through the subscriptions, and stays where a log has more than one statement removes. */
  async #excess(): Promise<boolean> {
    const { rows } = await sql<{ id: string }>`
      SELECT id FROM app.webhooks WHERE id > ${this.#measured} ORDER BY id LIMIT ${LOGS_MAX}`.execute(
      this.#app,
    )
    const ids = rows.map(({ id }) => id)
    const isMore = await this.#removeAttempts(sql`
      SELECT past.id FROM unnest(${ids}::text[]) AS w (id)
      CROSS JOIN LATERAL (
        SELECT d.id FROM app.webhook_deliveries d WHERE d.webhook_id = w.id
        ORDER BY d.id DESC OFFSET ${DELIVERIES_MAX} LIMIT ${ROWS_MAX}) AS past
      LIMIT ${ROWS_MAX}`)
    if (!isMore) this.#measured = rows.length === LOGS_MAX ? (ids.at(-1) ?? '') : ''
    return isMore || this.#measured !== ''
  }

  /** Their messages are looked at next. */
  async #removeAttempts(which: RawBuilder<unknown>): Promise<boolean> {
    const { rows } = await sql<{ removed: number }>`
      WITH gone AS (DELETE FROM app.webhook_deliveries WHERE ${among(which)} AND status <> 'pending' RETURNING message),
      marked AS (UPDATE app.webhook_messages SET is_logged = false WHERE ${among(sql`SELECT message FROM gone`)})
      SELECT count(*) AS removed FROM gone`.execute(this.#app)
    return rows[0]?.removed === ROWS_MAX
  }

  /** An event whose block may still be replaced is kept: its retraction needs it. */
  async #messages(): Promise<boolean> {
    const { rows } = await sql<{ found: number }>`
      WITH final AS (SELECT chain_id, min(finalized) AS block FROM app.webhook_positions GROUP BY chain_id),
      found AS MATERIALIZED (
        SELECT m.id, (SELECT true FROM app.webhook_deliveries d WHERE d.message = m.id LIMIT 1) IS NOT NULL AS is_logged
        FROM app.webhook_messages m JOIN app.webhooks w ON w.id = m.webhook_id
        LEFT JOIN final ON final.chain_id = w.chain_id
        WHERE ${ended} AND NOT m.is_logged AND m.created_at < statement_timestamp() - interval '1 hour'
          AND (m.block_num IS NULL OR m.block_num <= final.block)
        ORDER BY m.created_at LIMIT ${ROWS_MAX}),
      logged AS (
        UPDATE app.webhook_messages SET is_logged = true
        WHERE ${among(sql`SELECT id FROM found WHERE is_logged`)}),
      gone AS (DELETE FROM app.webhook_messages WHERE ${among(sql`SELECT id FROM found WHERE NOT is_logged`)})
      SELECT count(*) AS found FROM found`.execute(this.#app)
    return rows[0]?.found === ROWS_MAX
  }

  async #envelopes(): Promise<boolean> {
    const { numAffectedRows } = await sql`
      UPDATE app.webhook_messages SET envelope = NULL WHERE ${among(sql`
        SELECT m.id FROM app.webhook_messages m
        WHERE ${ended} AND m.envelope IS NOT NULL
          AND m.created_at < statement_timestamp() - ${ENVELOPE_DAYS} * interval '1 day'
        ORDER BY m.created_at LIMIT ${ROWS_MAX}`)}`.execute(this.#app)
    return numAffectedRows === BigInt(ROWS_MAX)
  }

  /** Rows of subscriptions that were deleted, their own the last. */
  async #deleted(): Promise<boolean> {
    const { numAffectedRows } = await sql`
      DELETE FROM app.webhook_messages WHERE ${among(sql`
        SELECT one.id FROM app.webhooks w CROSS JOIN LATERAL (
          SELECT m.id FROM app.webhook_messages m WHERE m.webhook_id = w.id LIMIT ${ROWS_MAX}) AS one
        WHERE w.deleted_at IS NOT NULL LIMIT ${ROWS_MAX}`)}`.execute(this.#app)
    if (numAffectedRows !== 0n) return true
    const gone = sql`SELECT id FROM app.webhooks WHERE deleted_at IS NOT NULL`
    await sql`DELETE FROM app.webhook_replays WHERE webhook_id IN (${gone})`.execute(this.#app)
    await sql`DELETE FROM app.webhooks WHERE id IN (${gone})`.execute(this.#app)
    return false
  }
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
