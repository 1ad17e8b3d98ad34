// Goal: where the engines cannot mean the same, one says why instead of a wrong number. Each
// refusal is a 422 in our words.
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Engine, UserQueryEngine } from '#query/result.ts'
import { UserQueryError } from '#query/UserQueryError.ts'
import { isFull } from '../support/breadth.ts'
import { compareEngines } from './differential.ts'
import { openEngine } from './engine.ts'
import { createExampleChain, type ExampleChain } from './exampleChain.ts'

let chain: ExampleChain
let engines: Readonly<Record<Engine, UserQueryEngine>>

beforeAll(async () => {
  chain = await createExampleChain()
  engines = { postgres: openEngine(chain, 'postgres'), clickhouse: openEngine(chain, 'clickhouse') }
})

afterAll(async () => {
  await engines?.postgres.close()
  await engines?.clickhouse.close()
  await chain?.close()
})

const failureOf = (engine: UserQueryEngine, sql: string): Promise<unknown> =>
  engine.run({ chainId: chain.chainId, sql, limit: 100, timeoutMs: 20_000 }).then(
    ({ rows }) => rows,
    (error: unknown) => error,
  )

const cases = readFileSync(new URL('unequal.txt', import.meta.url), 'utf8')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'))
  .map((line) => {
    const [engine = '', message = '', sql = ''] = line.split('\t')
    return {
      names: engine === 'both' ? (['postgres', 'clickhouse'] as const) : (['clickhouse'] as const),
      message,
      sql,
    }
  })

it.each(cases)('is refused in words: $sql', async ({ names, message, sql }) => {
  for (const name of names) {
    const error = await failureOf(engines[name], sql)
    expect(error).toBeInstanceOf(UserQueryError)
    expect(error).toMatchObject({ status: 422, message: expect.stringContaining(message) })
    expect(error).not.toMatchObject({ message: 'the query failed' })
  }
})

it('what is too wide is said with the way out, which runs', async () => {
  const sql = (of: string) =>
    `SELECT sum(${of}) > 1 AS much FROM token_transfers, txs WHERE value > 1000000000000000000000`
  const wide = 'amount * value'
  expect(await failureOf(engines.clickhouse, sql(wide))).toMatchObject({
    hint: expect.stringContaining('float8'),
  })
  expect(await failureOf(engines.clickhouse, sql('amount::float8 * value::float8'))).toEqual([[true]])
})

// The long suite runs thousands (differential.long.test.ts); a failure prints its seed and its
// query.
it('random queries mean the same on both engines', async () => {
  const seeds = Array.from({ length: isFull ? 200 : 40 }, (_, index) => 20_000 + index)
  const { equal, found } = await compareEngines([engines.postgres, engines.clickhouse], chain.chainId, seeds)
  expect(found).toEqual([])
  expect(equal).toBeGreaterThan(seeds.length / 2)
})
