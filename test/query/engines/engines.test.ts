// Goal: honest queries get their rows on both engines, within time, memory and size.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { functionRules } from '#query/clickhouse/compile/calls/functions.ts'
import type { QueryResult, UserQueryEngine } from '#query/result.ts'
import { readCorpus } from '../support/corpus.ts'
import { openEngine } from '../support/engine.ts'
import { createExampleChain, type ExampleChain } from '../support/exampleChain.ts'

let chain: ExampleChain
let postgres: UserQueryEngine
let clickhouse: UserQueryEngine

beforeAll(async () => {
  chain = await createExampleChain()
  postgres = openEngine(chain, 'postgres', [{ from: 0, to: 100 }])
  clickhouse = openEngine(chain, 'clickhouse', [{ from: 0, to: 100 }])
})

afterAll(async () => {
  await postgres?.close()
  await clickhouse?.close()
  await chain?.close()
})

const run = (engine: UserQueryEngine, sql: string, limit = 100): Promise<QueryResult> =>
  engine.run({ chainId: chain.chainId, sql, limit, timeoutMs: 20_000 })

describe('honest queries', () => {
  it.each(readCorpus('honest.both.txt'))('answer alike on both engines: $sql', async ({ sql }) => {
    const [one, two] = [await run(postgres, sql), await run(clickhouse, sql)]
    expect(two.columns).toEqual(one.columns)
    expect(two.columnTypes).toEqual(one.columnTypes)
    expect(two.rows).toEqual(one.rows)
    expect(one.rowCount).toBeGreaterThan(0)
  })

  it.each(readCorpus('honest.postgres.txt'))('run on Postgres: $sql', async ({ sql }) => {
    expect((await run(postgres, sql)).columns.length).toBeGreaterThan(0)
  })

  it.each([
    ['countIf(num > 2) / count()', 'float', 0.6],
    ['(countIf(num > 2) + countIf(num > 4)) / count(*)', 'float', 0.8],
    ['coalesce(uniq(num), 0) / 2', 'float', 2.5],
    ['sum(toInt32(tx_count)) / 4', 'float', 2.5],
    ['count(*) / 2', 'bigint', '2'],
    ['count(*) FILTER (WHERE num > 2) / count(*)', 'bigint', '0'],
    ['intDiv(count(), 2)', 'bigint', '2'],
    ['uniq(num) % 2', 'bigint', '1'],
  ])('divide on ClickHouse as it does what its own functions count: %s', async (sql, type, value) => {
    const { columnTypes, rows } = await run(clickhouse, `SELECT ${sql} AS x FROM blocks`)
    expect([columnTypes, rows]).toEqual([[type], [[value]]])
    const through = `SELECT a / b AS x FROM (SELECT countIf(num > 2) AS a, count(*) AS b FROM blocks) t`
    expect((await run(clickhouse, through)).rows).toEqual([[0.6]])
  })

  it('call functions that the engine has', async () => {
    const rows = await chain.clickhouse.query({
      query: 'SELECT name FROM system.functions',
      format: 'JSONEachRow',
    })
    const known = new Set((await rows.json<{ name: string }>()).map(({ name }) => name.toLowerCase()))
    const written =
      /^(?:abi_\w+|percentile_\w+|div|encode|decode|md5|split_part|to_char|grouping|string_agg|octet_length|->>?)$/
    const called = [...functionRules.values()].map(({ name }) => name.toLowerCase())
    expect(called.filter((name) => !known.has(name) && !written.test(name))).toEqual([])
  })

  it.each(readCorpus('honest.clickhouse.txt'))('run on ClickHouse: $sql', async ({ sql }) => {
    expect((await run(clickhouse, sql)).columns.length).toBeGreaterThan(0)
  })
})
