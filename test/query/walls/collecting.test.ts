// Goal: aggregates that keep what they are given take no more memory than a statement may, on any
// Postgres; small ones mean what they mean to Postgres.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { COLLECTED_BYTES_MAX } from '#query/postgres/gate/expressions/collecting.ts'
import type { UserQueryEngine } from '#query/result.ts'
import { openEngine } from '../support/engine.ts'
import { createExampleChain, type ExampleChain } from '../support/exampleChain.ts'

let chain: ExampleChain
let engine: UserQueryEngine

beforeAll(async () => {
  chain = await createExampleChain()
  engine = openEngine(chain, 'postgres')
})

afterAll(async () => {
  await engine?.close()
  await chain?.close()
})

async function run(sql: string): Promise<readonly (readonly unknown[])[]> {
  return (await engine.run({ chainId: chain.chainId, sql, limit: 100, timeoutMs: 30_000 })).rows
}

/** 10,000 rows of 16 KiB. */
const wide =
  "(SELECT n, lpad('', 4096, 'x') || lpad('', 4096) || lpad('', 4096) || lpad('', 4096) AS x FROM generate_series(1, 10000) AS n) AS w"

describe('collected values', () => {
  it.each([
    ['text', `SELECT length(string_agg(x, ',')) FROM ${wide}`],
    ['bytes', `SELECT length(string_agg(convert_from(x::bytea, 'UTF8')::bytea, '0x00')) FROM ${wide}`],
    ['arrays', `SELECT cardinality(array_agg(x)) FROM ${wide}`],
    ['a window', `SELECT length(string_agg(x, '') OVER ()) FROM ${wide} LIMIT 1`],
    ['JSON', `SELECT jsonb_typeof(jsonb_agg(x)) FROM ${wide}`],
    ['JSON objects', `SELECT jsonb_typeof(jsonb_object_agg(n, x)) FROM ${wide}`],
    ['rows', `SELECT jsonb_typeof(jsonb_agg(w)) FROM ${wide}`],
    ['an array of a SELECT', `SELECT cardinality(ARRAY(SELECT x FROM ${wide}))`],
    ['a long separator', `SELECT length(string_agg('', '${'y'.repeat(20_000)}')) FROM ${wide}`],
    [
      'two aggregates together',
      `SELECT length(string_agg(x, '') FILTER (WHERE n < 5000)), length(string_agg(x, '') FILTER (WHERE n >= 5000)) FROM ${wide}`,
    ],
    ['many groups', `SELECT n % 10, length(string_agg(x, '')) FROM ${wide} GROUP BY 1`],
  ])('of %s are bounded', async (_, sql) => {
    await expect(run(sql)).rejects.toMatchObject({
      code: 'sql_failed',
      message: `the values that aggregates collect are larger than ${COLLECTED_BYTES_MAX} bytes`,
      hint: 'collect from fewer rows',
    })
  })

  it('are counted anew for each query', async () => {
    const sql = `SELECT length(string_agg(x, '')) FROM ${wide} WHERE n <= 5000`
    expect(await run(sql)).toEqual([[81_920_000]])
    expect(await run(sql)).toEqual([[81_920_000]])
  })

  it('are what Postgres collects', async () => {
    const numbers = 'generate_series(1, 4) AS n'
    expect(
      await run(
        `SELECT string_agg(n::text, ',' ORDER BY n DESC), array_agg(DISTINCT n % 2 ORDER BY n % 2)::text,
          jsonb_agg(n) FILTER (WHERE n > 2), jsonb_object_agg(n, n * n), string_agg(n::text, '') FILTER (WHERE n > 9),
          ARRAY(SELECT m FROM generate_series(1, 3) AS m WHERE m <> 2 ORDER BY m DESC)::text FROM ${numbers}`,
      ),
    ).toEqual([['4,3,2,1', '{0,1}', [3, 4], { 1: 1, 2: 4, 3: 9, 4: 16 }, null, '{3,1}']])
    expect(await run(`SELECT n, string_agg(n::text, '') OVER (ORDER BY n) FROM ${numbers}`)).toEqual([
      [1, '1'],
      [2, '12'],
      [3, '123'],
      [4, '1234'],
    ])
    expect(await run(`SELECT jsonb_agg(q) FROM (SELECT n, 'x' AS t FROM ${numbers} LIMIT 1) AS q`)).toEqual([
      [[{ n: 1, t: 'x' }]],
    ])
    expect(
      await run(
        `SELECT n, ARRAY(SELECT n + m FROM generate_series(1, 2) AS m)::text FROM ${numbers} LIMIT 1`,
      ),
    ).toEqual([[1, '{2,3}']])
  })
})

describe('a statement', () => {
  it('has few of them', async () => {
    const list = (count: number) =>
      Array.from({ length: count }, (_, index) => `string_agg('${index}', '')`).join(', ')
    expect(await run(`SELECT ${list(8)}`)).toHaveLength(1)
    await expect(run(`SELECT ${list(9)}`)).rejects.toMatchObject({ code: 'sql_refused' })
  })

  it('has none within the inputs of another', async () => {
    const sql =
      "SELECT array_agg((SELECT string_agg(n::text, '') FROM generate_series(1, 2) AS n)) FROM blocks"
    await expect(run(sql)).rejects.toMatchObject({ code: 'sql_refused', hint: 'collect in a CTE first' })
  })
})
