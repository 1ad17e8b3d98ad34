// Goal: what is put around bytes so that they are text costs nothing on Postgres: the planner sees a
// range of bytes, which an index may serve, and none of our functions.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { gatePostgres, loadPostgresGrammar } from '#query/postgres/gate/gate.ts'
import { catalogOf } from '../support/catalogs.ts'
import { createExampleChain, type ExampleChain } from '../support/exampleChain.ts'

let chain: ExampleChain

beforeAll(async () => {
  await loadPostgresGrammar()
  chain = await createExampleChain()
})
afterAll(() => chain?.close())

async function planOf(sql: string): Promise<string> {
  const statement = gatePostgres(sql, catalogOf('postgres', `chain_${chain.chainId}_sql`), 10)
  const client = await chain.postgres.pool.connect()
  try {
    await client.query('BEGIN')
    // The tables of the example are too small for an index to be worth it.
    await client.query('SET LOCAL enable_seqscan = off')
    const { rows } = await client.query(`EXPLAIN (COSTS OFF) ${statement.sql}`)
    return rows.map((row) => row['QUERY PLAN']).join('\n')
  } finally {
    await client.query('ROLLBACK')
    client.release()
  }
}

it.each([
  ['0xab%', "((hash >= '\\xab'::bytea) AND (hash < '\\xac'::bytea))"],
  ['0XABC%', "((hash >= '\\xabc0'::bytea) AND (hash < '\\xabd0'::bytea))"],
])('LIKE %s is a range of bytes', async (pattern, range) => {
  expect(await planOf(`SELECT num FROM blocks WHERE hash LIKE '${pattern}'`)).toContain(range)
})

it('nothing is left of the functions in the plan', async () => {
  const sql = "SELECT t || '!' FROM (SELECT num::text AS t FROM blocks) x WHERE t LIKE 'a%' AND t ~ 'b'"
  const plan = await planOf(sql)
  expect(plan).toContain("~~ 'a%'")
  expect(plan).not.toMatch(/as_text|cased|begins/)
  const joined = await planOf(
    "SELECT 1 FROM (SELECT num::text AS t, hash FROM blocks) x WHERE t || hash > 'a'::text",
  )
  expect(joined).toContain("encode(hash, 'hex'::text)")
  expect(joined).not.toContain('joined(')
})

it('a text joined with bytes is text, bytes joined with bytes are bytes', async () => {
  const sql = `SELECT t || hash AS after, hash || t AS before, hash || hash AS bytes, t || num, ARRAY[num] || num AS list
    FROM (SELECT num::text AS t, num, hash FROM blocks ORDER BY num LIMIT 1) b`
  const { sql: sent } = gatePostgres(sql, catalogOf('postgres', `chain_${chain.chainId}_sql`), 10)
  const { rows } = await chain.postgres.pool.query(sent)
  const [row] = rows
  expect(row).toMatchObject({
    after: expect.stringMatching(/^\d+0x[0-9a-f]{64}$/),
    bytes: expect.any(Buffer),
  })
  expect(row).toMatchObject({ before: expect.stringMatching(/^0x[0-9a-f]{64}\d+$/) })
  expect(row).toHaveProperty('?column?')
})
