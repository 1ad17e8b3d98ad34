// Goal: the restricted reader of the embedded ClickHouse reads views and can do nothing else.
/** The powers and limits of the restricted reader of the embedded engine. */

import { existsSync } from 'node:fs'
import { beforeAll, expect, test } from 'vitest'

import { openTestClickHouse, rowsOf, type TestClickHouse } from './clients.ts'

let clickhouse: TestClickHouse
beforeAll(async () => {
  clickhouse = await openTestClickHouse()
  const { admin, tables, views } = clickhouse
  await admin.command({
    query: `CREATE TABLE ${tables}.t (n UInt64, secret String) ENGINE = MergeTree ORDER BY n`,
  })
  await admin.command({ query: `INSERT INTO ${tables}.t VALUES (1, 'a'), (2, 'b')` })
  const definer = 'DEFINER = default SQL SECURITY DEFINER'
  await admin.command({ query: `CREATE VIEW ${views}.v ${definer} AS SELECT n FROM ${tables}.t` })
  await admin.command({ query: `CREATE VIEW ${views}.invoker AS SELECT n FROM ${tables}.t` })
})

test('the reader reads a view with its definer’s rights', async () => {
  const { reader, views } = clickhouse
  expect(await rowsOf(reader, `SELECT n FROM ${views}.v ORDER BY n`)).toEqual([{ n: 1 }, { n: 2 }])
  const sql = `WITH big AS (SELECT n FROM ${views}.v WHERE n > 1) SELECT count() AS c, max(n) AS m FROM big`
  expect(await rowsOf(reader, sql)).toEqual([{ c: 1, m: 2 }])
})

test.each([
  ['SELECT * FROM {tables}.t', '497'],
  ['SELECT n FROM {views}.invoker', '497'],
  ['SELECT 1 IN (SELECT n FROM {tables}.t)', '497'],
  ['SELECT 1 IN {tables}.t', '497'],
  [`SELECT * FROM merge('{tables}', '.*')`, undefined],
  [`SELECT * FROM mergeTreeIndex({tables}, t)`, '497'],
  [`SELECT * FROM loop({tables}.t)`, undefined],
  [`SELECT * FROM view(SELECT * FROM {tables}.t)`, '497'],
  [`SELECT * FROM remote('127.0.0.1', {tables}.t)`, undefined],
  [`SELECT * FROM file('/etc/passwd', 'LineAsString')`, '497'],
  [`SELECT file('/etc/passwd')`, '497'],
  [`SELECT * APPLY file FROM (SELECT '/etc/passwd')`, '497'],
  [`SELECT arrayMap(file, ['/etc/passwd'])`, '497'],
  [`SELECT * FROM url('http://127.0.0.1:1/', 'LineAsString')`, undefined],
  [`SELECT 1 INTO OUTFILE '/tmp/millrace-outfile'`, '164'],
  ['SELECT * FROM system.processes', '497'],
  ['SELECT * FROM information_schema.tables', '497'],
  [`INSERT INTO {tables}.t VALUES (3, 'c')`, '164'],
  [`INSERT INTO {tables}.t SELECT 3, 'c'`, '164'],
  ['CREATE TABLE {views}.x (n UInt8) ENGINE = Memory', '164'],
  ['DROP VIEW {views}.v', '164'],
  ['ALTER TABLE {tables}.t DELETE WHERE 1', '164'],
  ['SET ROLE admin', undefined],
  ['SET max_threads = 1', undefined],
  ['KILL QUERY WHERE 1', undefined],
  ['SYSTEM STOP MERGES', undefined],
  ['GRANT admin TO api_role', undefined],
  ['USE {tables}', undefined],
  ['SELECT 1; SET ROLE admin', '62'],
  ['SELECT n FROM {views}.v SETTINGS max_execution_time = 0', '164'],
])('the reader is refused %s', async (template, code) => {
  const { reader, tables, views } = clickhouse
  const query = template.replaceAll('{tables}', tables).replaceAll('{views}', views)
  const error = await reader.command({ query }).catch((reason: unknown) => reason)
  expect(error).toMatchObject({ code: code ?? expect.any(String) })
  expect(existsSync('/tmp/millrace-outfile')).toBe(false)
})

test('refusals left nothing behind', async () => {
  const { admin, tables, views } = clickhouse
  expect(await rowsOf(admin, `SELECT count() AS rows FROM ${tables}.t`)).toEqual([{ rows: 2 }])
  expect(await rowsOf(admin, `SHOW TABLES FROM ${views}`)).toEqual([{ name: 'invoker' }, { name: 'v' }])
})

test('the reader cannot take another role, nor lift its limits', async () => {
  const { reader } = clickhouse
  await expect(reader.query({ query: 'SELECT 1', role: 'admin' })).rejects.toMatchObject({ code: '512' })
  const answer = await reader.query({
    query: `SELECT getSetting('readonly') AS readonly, getSetting('max_memory_usage') AS memory,
      getSetting('max_execution_time') AS seconds, currentRoles() AS roles`,
    clickhouse_settings: { readonly: '0', max_memory_usage: '0', max_execution_time: 5 },
    format: 'JSONEachRow',
  })
  expect(await answer.json()).toEqual([
    { readonly: 1, memory: 2_000_000_000, seconds: 5, roles: ['api_role'] },
  ])
})

test('each query has its own limits, asked for again or for the first time, also after one that failed', async () => {
  const { reader, views } = clickhouse
  for (const limit of [7, 7, 7, 9, 7, 9, 9]) {
    const settings = { max_result_rows: String(limit), use_query_cache: 0 } as const
    const answer = await reader.query({
      query: `SELECT toString(getSetting('max_result_rows')) AS held, currentRoles() AS roles FROM ${views}.v LIMIT 1`,
      format: 'JSONEachRow',
      clickhouse_settings: settings,
    })
    expect(await answer.json()).toEqual([{ held: `${limit}`, roles: ['api_role'] }])
    const refused = reader.query({ query: 'SELECT nothing', clickhouse_settings: settings })
    await expect(refused).rejects.toMatchObject({ code: '47' })
  }
})

test('what costs too much ends with an error, and the engine goes on', async () => {
  const { reader, admin } = clickhouse
  const settings = { max_execution_time: 2, max_memory_usage: '200000000' }
  for (const query of [
    'SELECT count() FROM numbers(1000000000000) WHERE NOT ignore(sipHash64(number))',
    'SELECT groupArray(number) FROM numbers(1000000000)',
    'SELECT sleep(3) FROM numbers(100) SETTINGS max_block_size = 1',
  ]) {
    const asked = reader.query({ query, clickhouse_settings: settings, format: 'JSONEachRow' })
    await expect(asked.then((answer) => answer.json())).rejects.toThrow()
  }
  expect(await rowsOf(admin, 'SELECT 1 AS one')).toEqual([{ one: 1 }])
})
