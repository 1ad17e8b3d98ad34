// Goal: a list whose time is over leaves nothing behind in Postgres: its statement is cancelled,
// its connection free again.
// Method: real tables under a lock of another session, so that a statement waits for ever; a clock
// that the test moves.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { generateHistory, transfersPerBlock } from '../../../bench/lists/generateChain.ts'
import { type ChainApi, openChainApi } from '../support/chainApi.ts'
import { ManualClock } from '../support/toolkitServer.ts'

const blocks = 3
const account = `0x${'ab'.repeat(20)}`
const clock = new ManualClock()
let api: ChainApi
beforeAll(async () => {
  api = await openChainApi({ headFrom: blocks, server: { clock } })
  const { postgres, schema } = api.store
  await generateHistory(postgres, schema, { from: 0, to: blocks - 1 }, [
    'blocks',
    'txs',
    'logs',
    'token_transfers',
    'raw',
  ])
  await api.state.refresh()
})
afterAll(() => api.close())

test.each([
  ['/v1/blocks', 'blocks'],
  ['/v1/transactions?include=totalCount', 'txs'],
  ['/v1/transactions', 'txs'],
  ['/v1/receipts', 'raw'],
  ['/v1/transfers?timestamp.from=2026-01-01T00:00:00Z', 'blocks'],
  ['/v1/transfers', 'token_transfers'],
  [`/v1/tokens/${account}/transactions`, 'logs'],
  [`/v1/addresses/${account}/activities`, 'token_transfers'],
])('%s waiting for %s is cancelled after 60 s and answered with 504', async (path, table) => {
  const { postgres, schema } = api.store
  await postgres.transaction(async (client) => {
    await client.query(`LOCK TABLE ${schema}.${table} IN ACCESS EXCLUSIVE MODE`)
    const answer = api.get(path)
    await expect.poll(statementsWaiting, patiently).toBe(1)
    await clock.advance(60_500)
    const { status, headers, body } = await answer
    expect(status).toBe(504)
    expect(body).toEqual({
      error: { code: 'request_timeout', message: expect.any(String) },
      requestId: headers.get('svc-request-id'),
    })
    expect(headers.get('cache-control')).toBe('no-store')
    // The lock is still held: what waited for it was told to stop.
    await expect.poll(statementsWaiting, patiently).toBe(0)
  })
  await expect.poll(() => postgres.reads.totalCount - postgres.reads.idleCount, patiently).toBe(0)
  const served = await api.get(path)
  expect(served.status).toBe(200)
})

test('there is something to read', async () => {
  const { body } = await api.get('/v1/transfers?include=totalCount')
  expect(body.data.length).toBeGreaterThan(0)
  expect(body.meta.totalCount).toBeLessThanOrEqual(blocks * transfersPerBlock)
})

const patiently = { timeout: 60_000, interval: 50 }

async function statementsWaiting(): Promise<number> {
  const found = await api.store.postgres.pool.query<{ n: number }>(
    `SELECT count(*) AS n FROM pg_stat_activity
     WHERE datname = current_database() AND state = 'active' AND wait_event_type = 'Lock'`,
  )
  return Number(found.rows[0]?.n)
}
