// Goal: what the program holds of an export does not grow with its rows, in any format and on both
// engines (19.10).
// Method: rows are counted where the engine gives them; after every tenth all garbage is collected
// and what is left is looked at, so that neither time nor the collector's mood decides.
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ResultEvent, UserQueryEngine } from '#query/result.ts'
import { recordedBatches } from '../../store/support/chainStore.ts'
import { type ChainApi, openChainApi } from '../support/chainApi.ts'

const ROWS = 1_000_000
const STEPS = 10
/**
 * Bytes by which the least that is held in the second half may be above that of the first: pieces
 * under way come and go. The rows have 200 MB and more, and notes on each piece of them had 60.
 */
const GROWTH_BYTES_MAX = 24_000_000
const sql = `SELECT a.num, b.num AS other, a.hash, b.hash AS other_hash, c.parent_hash
  FROM blocks a CROSS JOIN blocks b CROSS JOIN blocks c`

setFlagsFromString('--expose-gc')
const collect: () => void = runInNewContext('gc')

describe('memory of exports', () => {
  const held: number[] = []
  let api: ChainApi
  beforeAll(async () => {
    api = await openChainApi({ wrapEngine: (engine) => watched(engine, held) })
    await api.append(recordedBatches('tempo-dev-2k', 1).slice(0, 105))
    await api.finalize(104)
    await api.fillClickHouse()
  })
  afterAll(() => api?.close())

  test.each([
    ['postgres', 'csv'],
    ['clickhouse', 'ndjson'],
    ['postgres', 'arrow'],
    ['clickhouse', 'parquet'],
  ])('an export of %s as %s holds no more in its second half', async (engine, format) => {
    held.length = 0
    const query = new URLSearchParams({ sql, engine, format, limit: `${ROWS}` })
    const answer = await fetch(`${api.server.origin}/v1/indexer/query?${query}`)
    expect(answer.status).toBe(200)
    for await (const _ of answer.body ?? []);
    expect(held).toHaveLength(STEPS)
    const growth = Math.min(...held.slice(STEPS / 2)) - Math.min(...held.slice(0, STEPS / 2))
    expect(growth).toBeLessThan(GROWTH_BYTES_MAX)
  })
})

/** The engine; what the process holds is noted whenever a step of rows has passed. */
const watched = (engine: UserQueryEngine, held: number[]): UserQueryEngine => ({
  engine: engine.engine,
  run: (request) => engine.run(request),
  explain: (request) => engine.explain(request),
  assertReady: (request) => engine.assertReady(request),
  close: () => engine.close(),
  stream: async function* (request): AsyncGenerator<ResultEvent> {
    let rows = 0
    for await (const event of engine.stream(request)) {
      yield event
      if (event.kind !== 'rows') continue
      rows += event.rows.count
      if (rows < (held.length + 1) * (ROWS / STEPS)) continue
      collect()
      const { heapUsed, external } = process.memoryUsage()
      held.push(heapUsed + external)
    }
  },
})
