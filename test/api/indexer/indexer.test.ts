// Goal: a SQL query answers in the contract's shape on both engines, says what it saw, and fails in
// words with the right status. Method: the recorded chain in both stores, queries over HTTP.
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { UserQueryError } from '#query/UserQueryError.ts'
import { recordedBatches } from '../../store/support/chainStore.ts'
import { type Answer, ask, type ChainApi, openChainApi } from '../support/chainApi.ts'
import { type Oracle, readOracle } from '../support/oracle.ts'

const recording = 'tempo-dev-2k'
const finalBlock = 100
const lastBlock = 122

let api: ChainApi
let oracle: Oracle
beforeAll(async () => {
  oracle = readOracle(recording)
  api = await openChainApi()
  await api.append(recordedBatches(recording, 10))
  await api.finalize(finalBlock)
  await api.fillClickHouse()
})
afterAll(() => api.close())

const query = (sql: string, more = ''): Promise<Answer> =>
  api.get(`/v1/indexer/query?sql=${encodeURIComponent(sql)}${more}`)
const post = (body: object): Promise<Answer> =>
  ask(`${api.server.origin}/v1/indexer/query`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })

describe('answers of SQL', () => {
  test('the answer has the shape of the contract and says what it saw', async () => {
    const { status, headers, body } = await query(
      'SELECT num, hash, timestamp, tx_count FROM blocks WHERE num IN (5, 120) ORDER BY num',
    )
    const rows = [5, 120].map((number) => {
      const block = oracle.blocks[number] ?? {}
      const time = `${new Date(Number(block['timestamp']) * 1000).toISOString().slice(0, 19)}Z`
      return [`${number}`, block['hash'], time, block['transactions'].length]
    })
    expect(status).toBe(200)
    expect(body).toEqual({
      ok: true,
      columns: ['num', 'hash', 'timestamp', 'tx_count'],
      columnTypes: ['bigint', 'bytes', 'timestamp', 'int'],
      rows,
      row_count: 2,
      truncated: false,
      engine: 'postgres',
      query_time_ms: expect.any(Number),
      horizon: { from: 0, to: lastBlock },
      rows_read: expect.any(Number),
      bytes_read: expect.any(Number),
      digest: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
    })
    expect(headers.get('cache-control')).toContain('max-age=10')
  })

  test('ClickHouse answers the same below its horizon, which is what is final', async () => {
    const sql =
      'SELECT block_num, idx, hash, "from", status_word FROM (SELECT block_num, idx, hash, "from", type AS status_word FROM txs) t WHERE block_num <= 100 ORDER BY block_num, idx'
    const [postgres, clickhouse] = [await query(sql), await query(sql, '&engine=clickhouse')]
    expect(clickhouse.body.rows).toEqual(postgres.body.rows)
    expect(clickhouse.body.rows.length).toBe(
      oracle.transactions.filter((tx) => tx.blockNumber <= finalBlock).length,
    )
    expect(clickhouse.body).toMatchObject({ engine: 'clickhouse', horizon: { from: 0, to: finalBlock } })
    const newest = await query('SELECT max(num) AS newest FROM blocks', '&engine=clickhouse')
    expect(newest.body.rows).toEqual([[`${finalBlock}`]])
  })

  test('a result over its limit is flagged, never cut in silence', async () => {
    const { body } = await query('SELECT num FROM blocks ORDER BY num', '&limit=7')
    expect(body.rows.map(([num]: [string]) => num)).toEqual(['0', '1', '2', '3', '4', '5', '6'])
    expect([body.truncated, body.row_count]).toEqual([true, 7])
    const whole = await query('SELECT num FROM blocks ORDER BY num LIMIT 7', '&limit=7')
    expect(whole.body.truncated).toBe(false)
  })

  test('POST takes the same question as a body', async () => {
    const sql = 'SELECT count(*) AS n FROM txs -- 0\n'
    const { status, body, headers } = await post({
      sql,
      engine: 'clickhouse',
      chainId: api.chainId,
      limit: 1,
      timeout_ms: 10_000,
    })
    expect([status, headers.get('cache-control')]).toEqual([200, 'no-store'])
    expect(body.rows).toEqual([
      [`${oracle.transactions.filter((tx) => tx.blockNumber <= finalBlock).length}`],
    ])
  })
})

describe('SQL that is refused', () => {
  const badParameters = [
    ['limit=0', 'query_invalid'],
    ['limit=10001', 'query_invalid'],
    ['timeout_ms=99', 'query_invalid'],
    ['timeout_ms=30001', 'query_invalid'],
    ['engine=sqlite', 'query_invalid'],
    ['live=yes', 'query_invalid'],
    ['chainId=1', 'chain_id_unsupported'],
    ['chainId=x', 'query_invalid'],
    ['format=xml', 'query_invalid'],
  ] as const

  test.each(badParameters)('%s is 400 %s, with ok: false in the envelope', async (text, code) => {
    const { status, body } = await query('SELECT 1', `&${text}`)
    expect([status, body.ok, body.error.code]).toEqual([400, false, code])
    expect(body.requestId).toMatch(/^req_/)
  })

  test.each([
    [{ sql: 'SELECT 1', limit: 0 }, 'body_invalid'],
    [{ sql: 'SELECT 1', chainId: 'x' }, 'chain_id_invalid'],
    [{ sql: 'SELECT 1', chainId: 1 }, 'chain_id_unsupported'],
    [{ sql: 'SELECT 1', more: 1 }, 'body_invalid'],
    [{}, 'body_invalid'],
  ])('a body %j is 400 %s', async (body, code) => {
    const answer = await post(body)
    expect([answer.status, answer.body.ok, answer.body.error.code]).toEqual([400, false, code])
  })

  const refused = [
    'SELEC 1',
    'DELETE FROM blocks',
    'SELECT * FROM nothing',
    'SELECT 1/0 FROM blocks',
    'SELECT pg_sleep(9)',
    ' ',
  ]
  test.each(refused)('%s is 422', async (sql) => {
    for (const engine of ['postgres', 'clickhouse']) {
      if (engine === 'clickhouse' && sql.includes('/0')) continue
      const { status, body } = await query(sql, `&engine=${engine}`)
      expect([status, body.ok, body.error.code]).toEqual([422, false, 'sql_invalid'])
      expect(body.error.details[0].path).toEqual(['query', 'sql'])
    }
  })

  test('a mistake is told with its place', async () => {
    const { body } = await query('SELECT num\nFROM blocks\nWHERE nonsense = 1')
    expect(body.error.message).toMatch(/nonsense.*line 3, column 7/)
  })
})

describe('SQL that fails', () => {
  test('a query that runs too long is 504', async () => {
    const slow = 'SELECT count(*) FROM logs a, logs b, logs c WHERE a.log_idx + b.log_idx + c.log_idx = -1'
    const { status, body } = await query(slow, '&timeout_ms=100')
    expect([status, body.ok, body.error.code]).toEqual([504, false, 'request_timeout'])
  })

  const failures = [
    ['sql_busy', 503, 'overloaded'],
    ['sql_allowance', 429, 'rate_limit_exceeded'],
    ['sql_unavailable', 502, 'upstream_error'],
  ] as const
  let failing: ChainApi
  let error = new UserQueryError('sql_busy', 'no')
  beforeAll(async () => {
    failing = await openChainApi({
      wrapEngine: (engine) => ({
        engine: engine.engine,
        run: () => Promise.reject(error),
        // biome-ignore lint/correctness/useYield: it fails before the first piece
        stream: async function* () {
          throw error
        },
        explain: (request) => engine.explain(request),
        assertReady: (request) => engine.assertReady(request),
        close: () => engine.close(),
      }),
    })
    await failing.append(recordedBatches(recording, 10).slice(0, 1))
  })
  afterAll(() => failing.close())
  test.each(failures)('%s is %i %s', async (failure, status, code) => {
    error = new UserQueryError(failure, 'no', { retryMs: 61_500 })
    const answer = await failing.get('/v1/indexer/query?sql=SELECT+1')
    expect([answer.status, answer.body.ok, answer.body.error.code]).toEqual([status, false, code])
    if (status === 429) expect(answer.headers.get('retry-after')).toBe('62')
  })

  test('a store that holds nothing yet says so', async () => {
    const empty = await openChainApi()
    onTestFinished(() => empty.close())
    const postgres = await empty.get('/v1/indexer/query?sql=SELECT+1')
    expect([postgres.status, postgres.body.error.code]).toEqual([503, 'history_incomplete'])
    const clickhouse = await empty.get('/v1/indexer/query?sql=SELECT+1&engine=clickhouse')
    expect([clickhouse.status, clickhouse.body.error.code]).toEqual([503, 'store_rebuilding'])
  })
})
