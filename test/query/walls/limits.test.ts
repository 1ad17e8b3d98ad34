// Goal: a cut result is told, and only covered blocks are read; a caller has so many minutes of exports,
// in all processes.

import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { RangeSet } from '#ingest/range.ts'
import type { Engine } from '#primitives.ts'
import { EXPORT_SILENT_MS_MAX } from '#query/limits.ts'
import type { QueryRequest, UserQueryEngine } from '#query/result.ts'
import type { UserQueryError } from '#query/UserQueryError.ts'
import { systemRuntime } from '#runtime/runtime.ts'
import { everybody } from '#runtime/Slots.ts'
import { migrateApp } from '#store/maintain/migrate.ts'
import { openEngine } from '../support/engine.ts'
import { createExampleChain, type ExampleChain } from '../support/exampleChain.ts'

const MINUTE_MS = 60_000

let chain: ExampleChain
const open: UserQueryEngine[] = []

beforeAll(async () => {
  chain = await createExampleChain()
  // Exports are counted in rows of the service.
  await migrateApp(chain.postgres)
})

afterAll(async () => {
  for (const engine of open) await engine.close()
  await chain?.close()
})

function engineOf(name: Engine, ranges?: RangeSet): UserQueryEngine {
  const engine = openEngine(chain, name, ranges)
  open.push(engine)
  return engine
}

const request = (sql: string, more: Partial<QueryRequest> = {}): QueryRequest => ({
  chainId: chain.chainId,
  sql,
  limit: 100,
  timeoutMs: 20_000,
  ...more,
})

/** Seven to the power of twelve rows: days of work that no check on the text can see. */
const endless = `SELECT count(*) AS n FROM ${'abcdefghijkl'
  .split('')
  .map((name) => `logs ${name}`)
  .join(
    ', ',
  )} WHERE a.log_idx + b.log_idx + c.log_idx + d.log_idx + e.log_idx <> l.log_idx + k.log_idx + f.log_idx`

/** Queries of users the engine runs now, as the administrator sees them. */
async function running(name: Engine): Promise<number> {
  if (name === 'postgres') {
    const { rows } = await chain.postgres.pool.query(
      "SELECT count(*)::int AS n FROM pg_stat_activity WHERE application_name = 'millrace user query' AND state = 'active' AND datname = current_database()",
    )
    return Number(rows[0]?.n)
  }
  const answer = await chain.clickhouse.query({
    query: `SELECT count() AS n FROM system.processes WHERE startsWith(query_id, 'user_query_')`,
    format: 'JSONEachRow',
  })
  const [row] = await answer.json<{ n: string }>()
  return Number(row?.n)
}

/** An endless query runs for days, so that any limit tells it from one that was ended. */
async function until(isTrue: () => Promise<boolean>): Promise<boolean> {
  const deadline = performance.now() + 120_000
  while (performance.now() < deadline) {
    if (await isTrue()) return true
    await wait(50)
  }
  return await isTrue()
}

describe.each(['postgres', 'clickhouse'] as const)('limits on %s', (name) => {
  it('flags a result that was cut, and never one that the query cut itself', async () => {
    const engine = engineOf(name)
    const sql = 'SELECT block_num, log_idx FROM logs ORDER BY block_num, log_idx'
    const cut = await engine.run(request(sql, { limit: 3 }))
    expect([cut.rowCount, cut.truncated]).toEqual([3, true])
    const own = await engine.run(request(`${sql} LIMIT 3`, { limit: 3 }))
    expect([own.rowCount, own.truncated]).toEqual([3, false])
    const whole = await engine.run(request(sql, { limit: 7 }))
    expect([whole.rowCount, whole.truncated]).toEqual([7, false])
    expect(whole.rows.slice(0, 3)).toEqual(cut.rows)
  })

  it('shows rows of covered blocks only', async () => {
    const sql = 'SELECT count(*) AS n, min(num) AS first, max(num) AS last FROM blocks'
    const some = [
      { from: 1, to: 2 },
      { from: 4, to: 4 },
    ]
    expect((await engineOf(name, some).run(request(sql))).rows).toEqual([['3', '1', '4']])
    expect((await engineOf(name, []).run(request(sql))).rows).toEqual([['0', null, null]])
  })

  it('reads only the blocks a request names, of those that are covered', async () => {
    const engine = engineOf(name, [{ from: 1, to: 3 }])
    const sql = 'SELECT num FROM blocks ORDER BY num'
    const { rows } = await engine.run(request(sql, { blocks: [{ from: 3, to: 5 }] }))
    expect(rows).toEqual([['3']])
  })

  it('tells the columns of an empty result', async () => {
    const result = await engineOf(name).run(request('SELECT num, hash FROM blocks WHERE num > 1000'))
    expect(result).toMatchObject({ columns: ['num', 'hash'], columnTypes: ['bigint', 'bytes'], rows: [] })
    expect(result.relations).toEqual(['blocks'])
  })

  it('ends a query that takes too long, in the engine too', async () => {
    const engine = engineOf(name)
    const failure = engine.run(request(endless, { timeoutMs: 300 }))
    await expect(failure).rejects.toMatchObject({ code: 'sql_timeout', status: 504 })
    expect(await until(async () => (await running(name)) === 0)).toBe(true)
    expect((await engine.run(request('SELECT 1 AS x'))).rows).toEqual([[1]])
  })

  it('ends a query whose caller went away, in the engine too', async () => {
    const engine = engineOf(name)
    const caller = new AbortController()
    const failure = expect(engine.run(request(endless, { signal: caller.signal }))).rejects.toMatchObject({
      code: 'sql_cancelled',
    })
    expect(await until(async () => (await running(name)) === 1)).toBe(true)
    caller.abort()
    await failure
    expect(await until(async () => (await running(name)) === 0)).toBe(true)
    expect((await engine.run(request('SELECT 1 AS x'))).rows).toEqual([[1]])
  })

  it('gives a caller so many minutes of exports, in whichever process, which come back', async () => {
    let leapMs = 0
    const { clock } = systemRuntime()
    const leaping = { ...clock, monotonic: () => clock.monotonic() + leapMs }
    const processes = ['one', 'other'].map(() => openEngine(chain, name, undefined, undefined, leaping))
    open.push(...processes)
    const [one, other] = processes as [UserQueryEngine, UserQueryEngine]
    const sql = 'SELECT num FROM blocks'
    const ask = async (engine: UserQueryEngine, party: string, passMs = 0, limit = 20_000) => {
      for await (const { kind } of engine.stream(request(sql, { limit, party })))
        if (kind === 'head') leapMs += passMs
    }
    await ask(one, 'a', 14 * MINUTE_MS)
    await ask(other, 'a', 5 * MINUTE_MS)
    const refusal = await ask(one, 'a').catch((error: unknown) => error)
    expect(refusal).toMatchObject({ code: 'sql_allowance', status: 429 })
    // A minute too many takes four to come back, and the database's clock does not leap.
    const { retryMs = 0 } = refusal as UserQueryError
    expect(Math.round(retryMs / MINUTE_MS)).toBe(16)
    await expect(ask(other, 'a')).rejects.toMatchObject({ code: 'sql_allowance' })
    await ask(one, 'a', 0, 100)
    await ask(one, 'b')
    await ask(one, everybody, 60 * MINUTE_MS)
    await expect(ask(one, 'a')).rejects.toMatchObject({ code: 'sql_allowance' })
    await chain.postgres.pool.query(
      "UPDATE app.export_debts SET returned_at = returned_at - interval '17 minutes' WHERE subject = $1",
      [`a:${name}`],
    )
    await ask(other, 'a', 14 * MINUTE_MS)
    await expect(ask(one, 'a')).rejects.toMatchObject({ code: 'sql_allowance' })
  })

  it('ends an export that gives no row, in the engine too, and runs another caller’s beside it', async () => {
    const { clock } = systemRuntime()
    const silent = Promise.withResolvers<void>()
    const sleep: typeof clock.sleep = (ms, signal) =>
      ms === EXPORT_SILENT_MS_MAX
        ? Promise.race([silent.promise, clock.sleep(ms, signal)])
        : clock.sleep(ms, signal)
    const engine = openEngine(chain, name, undefined, undefined, { ...clock, sleep })
    open.push(engine)
    const ask = (sql: string, party: string) =>
      engine.run(request(sql, { limit: 20_000, timeoutMs: 300_000, party }))
    const holding = ask(endless, 'silent')
    const ended = expect(holding).rejects.toMatchObject({ code: 'sql_timeout', status: 504 })
    expect(await until(async () => (await running(name)) === 1)).toBe(true)
    expect((await ask('SELECT num FROM blocks', 'b')).rowCount).toBeGreaterThan(0)
    expect((await ask('SELECT num FROM blocks', 'c')).rowCount).toBeGreaterThan(0)
    silent.resolve()
    await ended
    expect(await until(async () => (await running(name)) === 0)).toBe(true)
  })

  it('refuses an answer of too many bytes and lives on', async () => {
    const engine = engineOf(name)
    const wide = name === 'postgres' ? "lpad('x', 4096)" : "leftPad('x', 4096)"
    const sql = `SELECT ${wide} AS x FROM logs a, logs b, logs c, logs d, logs e`
    const failure = engine.run(request(sql, { limit: 10_000 }))
    await expect(failure).rejects.toMatchObject({ code: 'sql_failed', status: 422 })
    expect((await engine.run(request('SELECT 1 AS x'))).rows).toEqual([[1]])
  })

  it('answers many at once and gives every slot back', async () => {
    const engine = engineOf(name)
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, n) => engine.run(request(`SELECT ${n} AS n`))),
    )
    expect(answers.map(({ rows }) => rows[0]?.[0])).toEqual(Array.from({ length: 12 }, (_, n) => n))
    const refusals = Array.from({ length: 200 }, () =>
      engine.run(request('SELECT 1 / (num - num) FROM blocx')),
    )
    for (const refusal of await Promise.allSettled(refusals)) expect(refusal.status).toBe('rejected')
    expect((await engine.run(request('SELECT 1 AS x'))).rows).toEqual([[1]])
  })

  it('says that it cannot be reached', async () => {
    const engine = openEngine(chain, name, undefined, 'http://127.0.0.1:1')
    await expect(engine.run(request('SELECT 1 AS x'))).rejects.toMatchObject({
      code: 'sql_unavailable',
      status: 502,
    })
    await engine.close()
  })
})

it('tells what one request has read, whatever the session read before', async () => {
  const engine = engineOf('postgres')
  const read = async () => (await engine.run(request('SELECT count(*) AS n FROM logs'))).rowsRead
  const first = await read()
  expect(first).toBeGreaterThan(0)
  expect([await read(), await read(), await read()]).toEqual([first, first, first])
})

describe('a series', () => {
  const from = "generate_series('2026-01-01', '2026-12-01', INTERVAL"
  it.each(['postgres', 'clickhouse'] as const)(
    'is at most 10,000 rows on %s, and tells its place',
    async (name) => {
      const run = (sql: string) => engineOf(name).run(request(sql))
      const whole = await run('SELECT count(*) AS n FROM generate_series(1, (SELECT 10000)) AS g(n)')
      expect(whole.rows).toEqual([['10000']])
      for (const series of [
        `${from} '1 second')`,
        'generate_series((SELECT 1), 10001)',
        'generate_series(1, (SELECT 2), 0 + 0)',
      ])
        await expect(run(`SELECT count(*) FROM ${series} AS g(n)`)).rejects.toMatchObject({
          ...{
            code: 'sql_failed',
            line: 1,
            column: 22,
            hint: 'take a wider step, or bounds that are closer',
          },
          message: expect.stringMatching(/generate_series gives more than 10000 rows|step/),
        })
    },
  )

  it('of months begins on a day that all have on ClickHouse', async () => {
    const sql = "SELECT d FROM generate_series('2026-01-31', '2026-12-01', INTERVAL '1 month') AS d"
    await expect(engineOf('clickhouse').run(request(sql))).rejects.toMatchObject({
      ...{ code: 'sql_failed', message: 'a generate_series of months begins on a day up to 28' },
    })
  })

  it('that is filled is bounded by memory on ClickHouse', async () => {
    const sql = 'SELECT num * 1000000000 AS k FROM blocks ORDER BY k WITH FILL'
    await expect(engineOf('clickhouse').run(request(sql))).rejects.toMatchObject({ code: 'sql_failed' })
  })
})

describe('errors', () => {
  it('keep the words of Postgres about the query itself', async () => {
    const engine = engineOf('postgres')
    await expect(engine.run(request('SELECT 1 / (num - num) FROM blocks'))).rejects.toMatchObject({
      code: 'sql_failed',
      message: 'division by zero',
    })
    await expect(engine.run(request("SELECT 1 FROM txs WHERE calls = '0xab'"))).rejects.toMatchObject({
      code: 'sql_invalid',
      hint: expect.stringContaining("'0x…'::text"),
    })
    await expect(engine.run(request('SELECT (1, 2)'))).rejects.toMatchObject({ code: 'sql_invalid' })
  })

  it('never show paths, hosts or the text that was sent to ClickHouse', async () => {
    const engine = engineOf('clickhouse')
    const failures = [
      "SELECT 'x' + 1",
      'SELECT sum(hash) FROM blocks',
      'SELECT num FROM blocks GROUP BY hash',
    ]
    for (const sql of failures) {
      const failure = await engine.run(request(sql)).catch((error: unknown) => error)
      expect(failure).toMatchObject({ code: 'sql_invalid' })
      expect(String(failure)).not.toMatch(/chain_\d|127\.0\.0\.1|\/tmp|In scope|Stack trace/)
    }
  })
})
