/** The retention of deliveries. A message that was not sent is never removed. */
import { type Expression, type ExpressionBuilder, sql } from 'kysely'
import { messageOf } from '#errors.ts'
import type { Logger } from '#telemetry.ts'
import { unnested } from '../arrays.ts'
import type { AppDatabase } from '../database.ts'
import type { AppSchema } from '../tables.ts'
import { deleteEnded } from './terms.ts'

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
const among = <Id>(ids: Expression<unknown>) => sql<Id>`any(ARRAY(${ids}))`

/** Stands still, as what an index is searched with has to. */
const daysAgo = (days: number) => sql<Date>`statement_timestamp() - ${days} * interval '1 day'`

type Messages = ExpressionBuilder<AppSchema & { m: AppSchema['app.webhook_messages'] }, 'm'>

const hasEnded = (row: Messages) => row('m.state', 'in', ['delivered', 'exhausted', 'withdrawn'])

/**
 * Removes what is past its time, pass by pass. Each statement finds its rows by an index of what has
 * ended, and one that fails holds up no other.
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
      'subscriptions past their time': () => deleteEnded(this.#app).then(() => false),
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
    return this.#removeAttempts(
      this.#app
        .selectFrom('app.webhook_deliveries')
        .select('id')
        .where('status', '<>', 'pending')
        .where('created_at', '<', daysAgo(DELIVERY_DAYS))
        .orderBy('created_at')
        .limit(ROWS_MAX),
    )
  }

  /** Walks through the subscriptions, and stays where a log has more than one statement removes. */
  async #excess(): Promise<boolean> {
    const rows = await this.#app
      .selectFrom('app.webhooks')
      .select('id')
      .where('id', '>', this.#measured)
      .orderBy('id')
      .limit(LOGS_MAX)
      .execute()
    const ids = rows.map(({ id }) => id)
    const past = this.#app
      .selectFrom(unnested('w', { id: ['text', ids] }))
      .innerJoinLateral(
        (row) =>
          row
            .selectFrom('app.webhook_deliveries as d')
            .select('d.id')
            .whereRef('d.webhook_id', '=', 'w.id')
            .orderBy('d.id', 'desc')
            .offset(DELIVERIES_MAX)
            .limit(ROWS_MAX)
            .as('past'),
        (join) => join.onTrue(),
      )
      .select('past.id')
      .limit(ROWS_MAX)
    const isMore = await this.#removeAttempts(past)
    if (!isMore) this.#measured = rows.length === LOGS_MAX ? (ids.at(-1) ?? '') : ''
    return isMore || this.#measured !== ''
  }

  /** Their messages are looked at next. */
  async #removeAttempts(which: Expression<unknown>): Promise<boolean> {
    const { removed } = await this.#app
      .with('gone', (query) =>
        query
          .deleteFrom('app.webhook_deliveries')
          .where('id', '=', among<string>(which))
          .where('status', '<>', 'pending')
          .returning('message'),
      )
      .with('marked', (query) =>
        query
          .updateTable('app.webhook_messages')
          .set({ is_logged: false })
          .where('id', '=', among<number>(sql`SELECT message FROM gone`)),
      )
      .selectFrom('gone')
      .select((row) => row.fn.countAll<number>().as('removed'))
      .executeTakeFirstOrThrow()
    return removed === ROWS_MAX
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
        WHERE id = ${among(sql`SELECT id FROM found WHERE is_logged`)}),
      gone AS (DELETE FROM app.webhook_messages WHERE id = ${among(sql`SELECT id FROM found WHERE NOT is_logged`)})
      SELECT count(*) AS found FROM found`.execute(this.#app)
    return rows[0]?.found === ROWS_MAX
  }

  async #envelopes(): Promise<boolean> {
    const past = this.#app
      .selectFrom('app.webhook_messages as m')
      .select('m.id')
      .where(hasEnded)
      .where('m.envelope', 'is not', null)
      .where('m.created_at', '<', daysAgo(ENVELOPE_DAYS))
      .orderBy('m.created_at')
      .limit(ROWS_MAX)
    const { numUpdatedRows } = await this.#app
      .updateTable('app.webhook_messages')
      .set({ envelope: null })
      .where('id', '=', among<number>(past))
      .executeTakeFirst()
    return numUpdatedRows === BigInt(ROWS_MAX)
  }

  /** Rows of subscriptions that were deleted, their own the last. */
  async #deleted(): Promise<boolean> {
    const theirs = this.#app
      .selectFrom('app.webhooks as w')
      .innerJoinLateral(
        (row) =>
          row
            .selectFrom('app.webhook_messages as m')
            .select('m.id')
            .whereRef('m.webhook_id', '=', 'w.id')
            .limit(ROWS_MAX)
            .as('one'),
        (join) => join.onTrue(),
      )
      .select('one.id')
      .where('w.deleted_at', 'is not', null)
      .limit(ROWS_MAX)
    const { numDeletedRows } = await this.#app
      .deleteFrom('app.webhook_messages')
      .where('id', '=', among<number>(theirs))
      .executeTakeFirst()
    if (numDeletedRows !== 0n) return true
    const gone = this.#app
      .selectFrom('app.webhooks as w')
      .select('w.id')
      .where('w.deleted_at', 'is not', null)
    await this.#app.deleteFrom('app.webhook_replays').where('webhook_id', 'in', gone).execute()
    await this.#app.deleteFrom('app.webhooks').where('id', 'in', gone).execute()
    return false
  }
}

/**
 * Takes back what was queued for a subscription and will not be sent: it begins again at the
 * present. The first block of what was, or null.
 */
export async function withdrawQueued(app: AppDatabase, webhookId: string): Promise<number | null> {
  const { first } = await app
    .with('dropped', (query) =>
      query
        .deleteFrom('app.webhook_messages')
        .where('webhook_id', '=', webhookId)
        .where('state', 'in', ['waiting', 'unfinal'])
        .where('replay', 'is', null)
        .returning('block_num'),
    )
    .with('withdrawn', (query) =>
      query
        .updateTable('app.webhook_messages')
        .set({ state: 'withdrawn' })
        .where('webhook_id', '=', webhookId)
        .where('state', 'in', ['retrying', 'sending'])
        .where('replay', 'is', null)
        .returning('block_num'),
    )
    .selectFrom((row) =>
      row
        .selectFrom('dropped')
        .select('block_num')
        .unionAll(row.selectFrom('withdrawn').select('block_num'))
        .as('queued'),
    )
    .select((row) => row.fn.min('queued.block_num').as('first'))
    .executeTakeFirstOrThrow()
  return first
}
