// Goal: what the schema names can be asked for: every relation and column is described, and every
// sample and example runs on its engine. Method: the recorded chain in both stores, over HTTP, as
// the console asks.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ChainApi, openChainApi } from '../api/support/chainApi.ts'
import { recordedBatches } from '../store/support/chainStore.ts'

interface Described {
  readonly name: string
  readonly comment: string
}

describe('the schema', () => {
  let api: ChainApi
  beforeAll(async () => {
    api = await openChainApi()
    await api.append(recordedBatches('tempo-dev-2k', 10))
    await api.finalize(122)
    await api.fillClickHouse()
  })
  afterAll(() => api?.close())

  const schemaOf = async (engine: string) => (await api.get(`/v1/indexer/schema?engine=${engine}`)).body
  const run = (sql: string, engine: string) =>
    api.get(`/v1/indexer/query?engine=${engine}&sql=${encodeURIComponent(sql)}`)

  test.each([
    ['postgres', 4],
    ['clickhouse', 22],
  ])('on %s describes at least %i relations and each of their columns', async (engine, count) => {
    const { relations, functions } = await schemaOf(engine)
    expect(relations.length).toBeGreaterThanOrEqual(count)
    expect(functions.length).toBeGreaterThan(50)
    for (const { name, comment, columns } of relations) {
      expect(comment, name).not.toBe('')
      for (const column of columns as Described[])
        expect(column.comment, `${name}.${column.name}`).not.toBe('')
    }
  })

  test.each(['postgres', 'clickhouse'])(
    'on %s every sample and every example runs and gives rows',
    async (engine) => {
      const { relations, examples } = await schemaOf(engine)
      const queries = [
        ...relations.map(({ sample }: { sample: string }) => sample),
        ...examples.map(({ sql }: { sql: string }) => sql),
      ]
      for (const sql of queries) {
        const { status, body } = await run(sql, engine)
        expect([status, body.error?.message], sql).toEqual([200, undefined])
        // Tempo has no coin of its own.
        if (/native_transfers/.test(sql)) expect(body.row_count).toBe(0)
        else expect(body.row_count, sql).toBeGreaterThan(0)
      }
    },
  )
})
