// Goal: honest queries get their rows on both engines, within time, memory and size.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { QueryResult, UserQueryEngine } from '#query/result.ts'
import { readCorpus } from './corpus.ts'
import { openEngine } from './engine.ts'
import { createExampleChain, type ExampleChain } from './exampleChain.ts'

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

  it.each(readCorpus('honest.clickhouse.txt'))('run on ClickHouse: $sql', async ({ sql }) => {
    expect((await run(clickhouse, sql)).columns.length).toBeGreaterThan(0)
  })
})
