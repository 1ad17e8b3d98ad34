// Goal: a start finds every wall around analysts’ SQL closed, and refuses a reader that is an
// administrator.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ClickHouseUserQueryEngine } from '#query/clickhouse/ClickHouseUserQueryEngine.ts'
import { readerUserStatements } from '#query/clickhouse/readerUser.ts'
import { PostgresUserQueryEngine } from '#query/postgres/PostgresUserQueryEngine.ts'
import { systemRuntime } from '#runtime/runtime.ts'
import { silentLogger } from '#telemetry.ts'
import { catalogOf } from '../support/catalogs.ts'
import { createExampleChain, type ExampleChain } from '../support/exampleChain.ts'

const { clock } = systemRuntime()
/** The debts of a chain without exports. */
const noDebts = { leftMs: async () => 0, add: async () => 0 }
let chain: ExampleChain

beforeAll(async () => {
  chain = await createExampleChain()
})

afterAll(async () => {
  await chain?.close()
})

const request = () => ({ chainId: chain.chainId, sql: 'SELECT 1 AS x', limit: 1, timeoutMs: 20_000 })

function postgresAs(url: string): PostgresUserQueryEngine {
  return new PostgresUserQueryEngine({
    url,
    catalogOf: () => catalogOf('postgres', `chain_${chain.chainId}_sql`),
    exportDebts: noDebts,
    clock,
    log: silentLogger,
  })
}

function clickhouseAs(username: string, password: string): ClickHouseUserQueryEngine {
  const catalog = catalogOf('clickhouse', `chain_${chain.chainId}_sql`)
  const url = chain.database.clickhouseUrl
  return new ClickHouseUserQueryEngine({
    ...{ url, username, password, catalogOf: () => catalog },
    ...{ exportDebts: noDebts, clock },
  })
}

describe('checkWalls', () => {
  it('finds none open for the restricted readers', async () => {
    const { readerUsername, readerPassword } = chain.database
    for (const engine of [postgresAs(chain.readerUrl), clickhouseAs(readerUsername, readerPassword)]) {
      expect(await engine.checkWalls(chain.chainId)).toEqual([])
      expect((await engine.run(request())).rows).toEqual([[1]])
      await engine.close()
    }
  })

  it('lets nobody in when the reader is an administrator', async () => {
    const { databaseUrl, clickhouseUsername, clickhousePassword } = chain.database
    for (const engine of [postgresAs(databaseUrl), clickhouseAs(clickhouseUsername, clickhousePassword)]) {
      expect(await engine.checkWalls(chain.chainId)).toContain('physical tables')
      await expect(engine.run(request())).rejects.toMatchObject({ code: 'sql_unavailable' })
      await engine.close()
    }
  })
})

describe('readerUserStatements', () => {
  it('are statements of ClickHouse that never hold the password', async () => {
    const statements = readerUserStatements({ name: 'reader', password: "pa'ss", databases: ['chain_1_sql'] })
    expect(statements.join()).not.toContain("pa'ss")
    for (const query of statements) {
      const answer = await chain.clickhouse.query({
        query: 'SELECT formatQuery({sql:String}) AS sql',
        query_params: { sql: query },
        format: 'JSONEachRow',
      })
      expect(await answer.json()).toHaveLength(1)
    }
  })
})
