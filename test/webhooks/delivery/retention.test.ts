// Goal: retention costs what it removes and not what is kept, and one statement that fails holds up no
// other (W9).
// Method: a log of attempts within its bounds, the rows that a pass reads of it as the database counts
// them, and a trigger that refuses what one statement does.
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Retention } from '#rows/webhooks/Retention.ts'
import { silentLogger } from '#telemetry.ts'
import { batchesOf, recorded } from '../support/forks.ts'
import { copySubscription } from '../support/openMatcher.ts'
import { openService, type Service } from '../support/openService.ts'

/** Messages with an attempt each, of each of the subscriptions. */
const KEPT = 900
const SUBSCRIPTIONS = 20
/** Rows that a pass may read of them. */
const READ_MAX = 500

let service: Service
let id: string

beforeAll(async () => {
  service = await openService()
  await service.append(batchesOf(recorded(20), 0, 19))
  await service.finalize(10)
  const destination = { type: 'url', url: 'http://127.0.0.1:9/' }
  id = (await service.subscribe({ eventType: 'block:created', destination })).id
  await copySubscription(service.store.postgres, id, SUBSCRIPTIONS - 1)
  await query('UPDATE app.webhook_positions SET finalized = 10')
})
afterAll(() => service.close())

const query = async (text: string, values: readonly unknown[] = []) =>
  (await service.store.postgres.pool.query(text, [...values])).rows

/** Delivered messages of an age. */
const put = (tag: string, count: number, age: string, more = '') =>
  query(
    `INSERT INTO app.webhook_messages (webhook_id, event_id, type, state, block_num, block_hash, event_index, envelope, created_at, is_logged)
     SELECT w.id, $1 || w.id || g, 'block:created', 'delivered', 5, '\\x00', g, '{}', clock_timestamp() - $3::interval, true
     FROM app.webhooks w, generate_series(1, $2::int) g WHERE true ${more}`,
    [tag, count, age],
  )

/** An attempt of each message of a name. */
const log = (tag: string, age: string) =>
  query(
    `INSERT INTO app.webhook_deliveries (id, webhook_id, message, event_id, attempt, status, request_url, created_at)
     SELECT 'whd_' || lpad(id::text, 15, '0'), webhook_id, id, event_id, 1, 'succeeded', 'http://x', clock_timestamp() - $2::interval
     FROM app.webhook_messages WHERE event_id LIKE $1 || '%'`,
    [tag, age],
  )

const held = async (tag: string): Promise<number> =>
  (await query(`SELECT count(*) AS n FROM app.webhook_messages WHERE event_id LIKE $1 || '%'`, [tag]))[0].n

/** Rows of messages and attempts that a pass reads, whatever index leads to them. */
const readByPass = () =>
  service.app.transaction().execute(async (transaction) => {
    // The connection's count: what ran on it before may be in it.
    const counted = async () => {
      const { rows } = await sql<{ read: number }>`
        SELECT coalesce(sum(seq_tup_read + idx_tup_fetch), 0)::integer AS read FROM pg_stat_xact_user_tables
        WHERE relname IN ('webhook_messages', 'webhook_deliveries')`.execute(transaction)
      return rows[0]?.read ?? Number.NaN
    }
    const before = await counted()
    await new Retention(transaction, silentLogger).pass()
    return (await counted()) - before
  })

test('a pass reads none of what is kept', async () => {
  await put('kept', KEPT, '1 day')
  await log('kept', '1 day')
  for (const table of ['webhook_messages', 'webhook_deliveries', 'webhooks'])
    await query(`VACUUM ANALYZE app.${table}`)
  expect(await readByPass()).toBeLessThan(READ_MAX)
  expect(await held('kept')).toBe(KEPT * SUBSCRIPTIONS)
})

test('the message of an attempt that leaves the log goes with it, and one that has another stays', async () => {
  await put('two', 1, '40 days', `AND w.id = '${id}'`)
  await log('two', '31 days')
  await query(
    `INSERT INTO app.webhook_deliveries (id, webhook_id, message, event_id, attempt, status, request_url)
     SELECT 'whd_later', webhook_id, id, event_id, 2, 'succeeded', 'http://x' FROM app.webhook_messages WHERE event_id LIKE 'two%'`,
  )
  await put('one', 3, '40 days', `AND w.id = '${id}'`)
  await log('one', '31 days')
  await new Retention(service.app, silentLogger).pass()
  expect([await held('one'), await held('two')]).toEqual([0, 1])
})

test('what is marked falsely, as rows of before are, is put right', async () => {
  await query(`UPDATE app.webhook_messages SET is_logged = false WHERE event_id LIKE 'kept%'`)
  const retention = new Retention(service.app, silentLogger)
  while (await retention.pass());
  expect(await held('kept')).toBe(KEPT * SUBSCRIPTIONS)
  await query('VACUUM ANALYZE app.webhook_messages')
  expect(await readByPass()).toBeLessThan(READ_MAX)
})

test('a statement that fails holds up no other, and is said', async () => {
  await put('old', 1, '40 days', `AND w.id = '${id}'`)
  await log('old', '31 days')
  await put('bare', 1, '2 hours', `AND w.id = '${id}'`)
  await query(`UPDATE app.webhook_messages SET is_logged = false WHERE event_id LIKE 'bare%'`)
  await query(`
    CREATE FUNCTION app.refuse() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE EXCEPTION 'refused by the test'; END $$;
    CREATE TRIGGER refuse BEFORE DELETE ON app.webhook_deliveries FOR EACH ROW EXECUTE FUNCTION app.refuse()`)
  const said: object[] = []
  const warn = (fields: object) => void said.push(fields)
  await new Retention(service.app, { ...silentLogger, warn }).pass()
  await query('DROP TRIGGER refuse ON app.webhook_deliveries')
  expect([await held('bare'), await held('old')]).toEqual([0, 1])
  expect(said).toEqual([
    { part: 'attempts past their time', problem: expect.stringMatching(/refused by the test/) },
  ])
})
