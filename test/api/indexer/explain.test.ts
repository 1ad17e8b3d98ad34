// Goal: a query's plan, size and price are known before it runs, and a limit on the price keeps a
// dear one from running.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { recordedBatches } from '../../store/support/chainStore.ts'
import { ask, type ChainApi, openChainApi } from '../support/chainApi.ts'

describe('cost first', () => {
  let api: ChainApi
  let logs: number
  beforeAll(async () => {
    api = await openChainApi()
    await api.append(recordedBatches('tempo-dev-2k', 10))
    await api.finalize(122)
    await api.fillClickHouse()
    await api.store.postgres.pool.query('ANALYZE')
    logs = Number((await run('SELECT count(*) AS n FROM logs')).body.rows[0][0])
  })
  afterAll(() => api?.close())

  const post = (path: string, body: object) =>
    ask(`${api.server.origin}/v1/indexer/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  const explain = (sql: string, engine: string) => post('explain', { sql, engine })
  const run = (sql: string, more = '') => api.get(`/v1/indexer/query?sql=${encodeURIComponent(sql)}${more}`)

  test.each(['postgres', 'clickhouse'])('on %s a plan comes with what it reads and costs', async (engine) => {
    const { status, body } = await explain('SELECT address, count(*) AS n FROM logs GROUP BY address', engine)
    expect(status).toBe(200)
    expect(body).toMatchObject({ ok: true, engine, relations: ['logs'], price: { currency: 'USD' } })
    expect(body.estimate.rows).toBe(logs)
    expect(body.estimate.bytes).toBeGreaterThanOrEqual(logs * 20)
    expect(body.estimate.time_ms).toBeGreaterThan(0)
    expect(body.price.amount).toMatch(/^0\.\d{9}$/)
    expect(JSON.stringify(body.plan)).toContain('logs')
  })

  test.each(['postgres', 'clickhouse'])(
    'on %s one block is cheaper than all, a join dearer',
    async (engine) => {
      const costs = await Promise.all(
        [
          'SELECT * FROM blocks WHERE num = 7',
          'SELECT * FROM logs',
          'SELECT * FROM logs l JOIN logs r ON l.data = r.data',
        ].map((sql) => explain(sql, engine).then(({ body }) => Number(body.price.amount))),
      )
      expect(costs).toEqual([...costs].sort((one, two) => one - two))
      expect(new Set(costs).size).toBe(3)
    },
  )

  test('a table by signature is explained on both engines, and its result has one digest', async () => {
    const signature = 'event Transfer(address indexed from, address indexed to, uint256 amount)'
    const sql = 'SELECT "to", max(amount) AS m FROM transfer GROUP BY "to" ORDER BY 2 DESC, 1'
    const digests = new Set<string>()
    for (const engine of ['postgres', 'clickhouse']) {
      const { status, body } = await post('explain', { sql, engine, signature: [signature] })
      expect([status, body.engine, body.relations]).toEqual([200, engine, ['transfer']])
      expect(body.estimate.rows).toBeGreaterThan(0)
      const answer = await run(sql, `&engine=${engine}&signature=${encodeURIComponent(signature)}`)
      expect(answer.body.row_count).toBeGreaterThan(0)
      digests.add(answer.body.digest)
    }
    expect(digests.size).toBe(1)
  })

  test('nothing runs: a query that would fail or never end is explained', async () => {
    const endless =
      'SELECT count(*) AS n FROM logs a, logs b, logs c, logs d WHERE a.log_idx + d.log_idx <> b.log_idx'
    expect((await explain(endless, 'postgres')).status).toBe(200)
    expect((await explain(endless, 'clickhouse')).status).toBe(200)
  })

  test.each(['postgres', 'clickhouse'])('on %s maxCost refuses what is dearer', async (engine) => {
    const sql = 'SELECT data FROM logs'
    const { amount } = (await explain(sql, engine)).body.price
    const more = `&engine=${engine}&maxCost=`
    expect((await run(sql, more + amount)).status).toBe(200)
    const refused = await run(sql, `${more}0.000000001`)
    expect([refused.status, refused.body.ok, refused.body.error.code]).toEqual([422, false, 'cost_exceeded'])
    expect(refused.body.error.message).toContain(amount)
    const posted = await post('query', { sql, engine, maxCost: '0.000000001' })
    expect([posted.status, posted.body.error.code]).toEqual([422, 'cost_exceeded'])
    const live = await run(sql, `${more}0.000000001&live=true`)
    expect([live.status, live.body.error.code]).toEqual([422, 'cost_exceeded'])
  })

  test('a limit that is no number is refused', async () => {
    const answer = await run('SELECT 1 AS one FROM blocks', '&maxCost=cheap')
    expect([answer.status, answer.body.error.code]).toEqual([400, 'query_invalid'])
  })

  test('a mistake is told as the query itself would tell it', async () => {
    const { status, body } = await explain('SELECT nothing FROM logs', 'postgres')
    expect([status, body.ok, body.error.code]).toEqual([422, false, 'sql_invalid'])
    expect(body.error.details[0]).toMatchObject({ line: 1, column: 8 })
  })
})
