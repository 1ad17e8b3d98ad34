// Goal: what is looked through at a time is bounded by what it makes, is tried smaller when it fails, and
// a stream that stands still says so (W3).
// Method: thousands of subscriptions over a recorded chain, a matcher moved step by step, and triggers
// in the database that refuse what it writes.
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { silentLogger } from '#telemetry.ts'
import { batchesOf, recorded } from './support/forks.ts'
import { copySubscription, openMatcher } from './support/openMatcher.ts'
import { openService, type Service } from './support/openService.ts'

const COPIES = 1_999
/** Messages of one piece that has more than one block. */
const MESSAGES_MAX = 10_000

let service: Service
const main = recorded(60)

const said: string[] = []

beforeAll(async () => {
  const log = (_fields: object, message: string) => void said.push(message)
  service = await openService({ log: { ...silentLogger, info: log } })
  await service.append(batchesOf(main, 0, 9))
})
afterAll(() => service.close())
afterEach(() => query('DROP TRIGGER IF EXISTS refuse ON app.webhook_blocks'))

const query = async (text: string) => (await service.store.postgres.pool.query(text)).rows
const matched = () => {
  const { app, id: chainId, store } = service
  return { app, chainId, schema: store.schema, postgres: store.postgres }
}
const counted = async (table: string): Promise<number> =>
  (await query(`SELECT count(*) AS n FROM app.${table}`))[0].n
const reached = async (): Promise<number> =>
  (await query(`SELECT block_num AS n FROM app.webhook_positions WHERE stream = 'blocks'`))[0].n

/** Has the database refuse more blocks than these in one statement. */
const refuseOver = (blocks: number) =>
  query(`
    CREATE OR REPLACE FUNCTION app.refuse() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF (SELECT count(*) FROM fresh) > ${blocks} THEN RAISE EXCEPTION 'refused by the test'; END IF;
      RETURN NULL;
    END $$;
    CREATE OR REPLACE TRIGGER refuse AFTER INSERT ON app.webhook_blocks
      REFERENCING NEW TABLE AS fresh FOR EACH STATEMENT EXECUTE FUNCTION app.refuse()`)

test('thousands of subscriptions to every block are served in pieces, each in the order of the chain', async () => {
  const destination = { type: 'url', url: 'http://127.0.0.1:9/' }
  const { id } = await service.subscribe({ eventType: 'block:created', destination })
  await copySubscription(service.store.postgres, id, COPIES)
  const matcher = await openMatcher(matched())
  await service.append(batchesOf(main, 10, 21))
  const pieces: number[] = []
  for (let before = 0; await matcher.step(new AbortController().signal); ) {
    const now = await counted('webhook_messages')
    pieces.push(now - before)
    before = now
  }
  expect(pieces.reduce((sum, count) => sum + count, 0)).toBe(12 * (COPIES + 1))
  expect(Math.max(...pieces)).toBeLessThanOrEqual(MESSAGES_MAX)
  const sequences = await query(`
    SELECT DISTINCT string_agg(block_num::text, ' ' ORDER BY id) AS blocks FROM app.webhook_messages GROUP BY webhook_id`)
  expect(sequences).toEqual([{ blocks: '10 11 12 13 14 15 16 17 18 19 20 21' }])
  await query(`DELETE FROM app.webhook_messages`)
  await query(`DELETE FROM app.webhooks WHERE id <> '${id}'`)
  await query('UPDATE app.webhook_positions SET subscriptions = subscriptions + 1')
})

test('a piece that cannot be stored is tried smaller, until it can', async () => {
  await refuseOver(3)
  const matcher = await openMatcher(matched())
  await service.append(batchesOf(main, 22, 49))
  const stop = new AbortController()
  const running = matcher.run(stop.signal)
  await expect.poll(reached).toBe(49)
  stop.abort()
  await running
  expect(await counted('webhook_messages')).toBe(28)
})

test('a stream that stands still says why in /status, until it moves', async () => {
  await refuseOver(0)
  await service.append(batchesOf(main, 50, 52))
  service.start()
  const problem = async () =>
    (await service.watch?.report())?.chains.find(({ stream }) => stream === 'blocks')?.problem
  await expect.poll(problem).toMatch(/refused by the test/)
  expect(service.problems()).toEqual([
    { stream: 'blocks', problem: expect.stringMatching(/refused by the test/) },
    { stream: 'fills', problem: null },
  ])
  await query('DROP TRIGGER refuse ON app.webhook_blocks')
  await expect.poll(problem).toBeNull()
  expect(await reached()).toBe(52)
})

test('a stream that another process has taken over is no problem of this one', async () => {
  await query(`
    UPDATE app.leases SET holder = 'another', fence = fence + 1, expires_at = clock_timestamp() + interval '1 hour'
    WHERE name = 'webhooks:${service.id}:blocks'`)
  await query(`UPDATE app.webhook_positions SET fence = fence + 1 WHERE stream = 'blocks'`)
  await service.append(batchesOf(main, 53, 53))
  await expect.poll(() => said).toContain('standing by: another process holds the lease')
  expect(service.problems()).toEqual([
    { stream: 'blocks', problem: null },
    { stream: 'fills', problem: null },
  ])
})
