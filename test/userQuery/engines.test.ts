import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { systemRuntime } from '#runtime.ts'
import { ClickHouseUserQueryEngine } from '#store/userQuery/clickhouse/ClickHouseUserQueryEngine.ts'
import { PostgresUserQueryEngine } from '#store/userQuery/postgres/PostgresUserQueryEngine.ts'
import type { QueryResult, UserQueryEngine } from '#store/userQuery/result.ts'
import { silentLogger } from '#telemetry.ts'
import { catalogOf } from './catalogs.ts'
import { readCorpus } from './corpus.ts'
import { createExampleChain, type ExampleChain } from './exampleChain.ts'

const { clock } = systemRuntime()
let chain: ExampleChain
let postgres: UserQueryEngine
let clickhouse: UserQueryEngine

beforeAll(async () => {
  chain = await createExampleChain()
  const { chainId, readerUrl, database } = chain
  const schema = `chain_${chainId}_sql`
  const ranges = [{ from: 0, to: 100 }]
  postgres = new PostgresUserQueryEngine({
    url: readerUrl,
    catalogOf: () => catalogOf('postgres', schema, ranges),
    clock,
    log: silentLogger,
  })
  clickhouse = new ClickHouseUserQueryEngine({
    url: database.clickhouseUrl,
    username: database.readerUsername,
    password: database.readerPassword,
    catalogOf: () => catalogOf('clickhouse', schema, ranges),
    clock,
  })
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

  it.each(readCorpus('honest.clickhouse.txt'))('run on ClickHouse: $sql', async ({ sql }) => {
    expect((await run(clickhouse, sql)).columns.length).toBeGreaterThan(0)
  })
})
