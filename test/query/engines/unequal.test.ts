// Goal: where the engines cannot mean the same, one says why instead of a wrong number. Each
// refusal is a 422 in our words.

import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Engine } from '#primitives.ts'
import { functionNamesOf } from '#query/functionNames.ts'
import type { UserQueryEngine } from '#query/result.ts'
import { UserQueryError } from '#query/UserQueryError.ts'
import { everywhere, instead } from '#query/words/hints.ts'
import { seedsFrom } from '../../support/breadth.ts'
import { openEngine } from '../support/engine.ts'
import { createExampleChain, type ExampleChain } from '../support/exampleChain.ts'
import { compareEngines } from './differential.ts'

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

const failureOf = (
  engine: UserQueryEngine,
  sql: string,
  signatures: readonly string[] = [],
): Promise<unknown> =>
  engine.run({ chainId: chain.chainId, sql, signatures, limit: 100, timeoutMs: 20_000 }).then(
    ({ rows }) => rows,
    (error: unknown) => error,
  )

const cases = readFileSync(new URL('unequal.txt', import.meta.url), 'utf8')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'))
  .map((line) => {
    const [engine = '', message = '', sql = '', ...signatures] = line.split('\t')
    return {
      names: engine === 'both' ? (['postgres', 'clickhouse'] as const) : (['clickhouse'] as const),
      message,
      sql,
      signatures,
    }
  })

it.each(cases)('is refused in words: $sql', async ({ names, message, sql, signatures }) => {
  for (const name of names) {
    const error = await failureOf(engines[name], sql, signatures)
    expect(error).toBeInstanceOf(UserQueryError)
    expect(error).toMatchObject({ status: 422, message: expect.stringContaining(message) })
    expect(error).not.toMatchObject({ message: 'the query failed' })
  }
})

const hints = readFileSync(new URL('hints.txt', import.meta.url), 'utf8')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'))
  .map((line) => {
    const [engine = '', hint = '', refused = '', followed = '', rows = '', ...signatures] = line.split('\t')
    const [wrong = '', ...before] = refused.split(';')
    const names: readonly Engine[] =
      engine === 'both' ? ['postgres', 'clickhouse'] : [engine === 'postgres' ? 'postgres' : 'clickhouse']
    return { names, hint, wrong, before, followed, rows: JSON.parse(rows) as unknown, signatures }
  })

// Goal: nobody is sent to a form that fails or means something else. Method: what is refused, and
// what its hint leads to, with the rows it gives.
it.each(hints)('a hint leads to what runs: $hint', async (given) => {
  for (const name of given.names) {
    expect(await failureOf(engines[name], given.wrong, given.before)).toMatchObject({
      status: 422,
      hint: expect.stringContaining(given.hint),
    })
    expect(await failureOf(engines[name], given.followed, given.signatures)).toEqual(given.rows)
  }
})

it.each(['postgres', 'clickhouse'] as const)('every form that %s is told of is followed', (engine) => {
  const known = new Set(functionNamesOf(engine).map((name) => name.toLowerCase()))
  const forms = Object.entries({ ...everywhere, ...instead[engine] }).filter(([name]) => !known.has(name))
  for (const [name] of Object.entries(instead[engine])) expect(known).not.toContain(name)
  const followed = hints.filter(({ names }) => names.includes(engine)).map(({ hint }) => hint)
  expect(forms.map(([, form]) => form).filter((form) => !followed.includes(form))).toEqual([])
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

it.each([
  ['address', `0x${'00'.repeat(12)}${'20c0'.padEnd(40, '0')}`, `write '0x${'20c0'.padEnd(40, '0')}'`],
  ['bytes4', '0xddf252ad'.padEnd(66, '0'), "write '0xddf252ad'"],
  ['bytes32', '0xddf252ad', "write substring(x, 1, 4) = '0xddf252ad'"],
])('a constant beside %s of a signature is refused with the form that matches', async (type, text, hint) => {
  const sql = `SELECT count(*) AS n FROM (SELECT x AS y FROM Seen) s WHERE y = '${text}'`
  for (const engine of Object.values(engines))
    for (const indexed of ['', ' indexed'])
      expect(await failureOf(engine, sql, [`event Seen(${type}${indexed} x)`])).toMatchObject({
        status: 422,
        hint: expect.stringContaining(hint),
      })
})

it.each([
  'coalesce(topic1, topic2)',
  'nullif(topic1, topic2)',
  'greatest(topic1, topic2)',
  'CASE WHEN log_idx = 0 THEN topic1 ELSE topic2 END',
  'CASE WHEN log_idx = 0 THEN topic1 END',
])('%s beside a constant of another width is refused', async (chosen) => {
  const address = `'0x${'20c0'.padEnd(40, '0')}'`
  for (const engine of Object.values(engines)) {
    for (const sql of [
      `SELECT count(*) AS n FROM logs WHERE ${chosen} = ${address}`,
      `SELECT count(*) AS n FROM (SELECT ${chosen} AS y FROM logs) s WHERE y IN (${address})`,
    ])
      expect(await failureOf(engine, sql)).toMatchObject({ status: 422 })
    const fits = `SELECT count(*) AS n FROM logs WHERE ${chosen} = '0x${'00'.repeat(32)}'`
    expect(await failureOf(engine, fits)).toEqual([['0']])
  }
})

it('the least of a column beside a constant of another width is refused', async () => {
  for (const engine of Object.values(engines))
    for (const compared of ['min(address)', 'max(address)'])
      expect(
        await failureOf(engine, `SELECT block_num FROM logs GROUP BY 1 HAVING ${compared} = '0xddf252ad'`),
      ).toMatchObject({ status: 422 })
})

it.each([
  ['SELECT num, address AS x FROM logs, blocks INTERSECT SELECT block_num, topic0 FROM logs', 72],
  ["SELECT '0xabcd' AS x EXCEPT SELECT '0xab'", 36],
  ["SELECT hash AS x FROM blocks UNION SELECT '0X1234'", 43],
])('what is below another column tells its place: %s', async (sql, column) => {
  for (const engine of Object.values(engines))
    expect(await failureOf(engine, sql)).toMatchObject({
      status: 422,
      line: 1,
      column,
      hint: expect.any(String),
    })
})

it('values of two widths in one column are compared with a constant of either', async () => {
  const both = 'SELECT address AS x FROM logs UNION ALL SELECT topic0 FROM logs'
  for (const engine of Object.values(engines))
    for (const bytes of [20, 32])
      expect(
        await failureOf(engine, `SELECT count(*) AS n FROM (${both}) s WHERE x = '0x${'00'.repeat(bytes)}'`),
      ).toEqual([['0']])
})

// The long suite runs thousands (differential.long.test.ts); a failure prints its seed and its
// query.
it('random queries mean the same on both engines', async () => {
  const seeds = seedsFrom(20_000, 40, 200)
  const { equal, found } = await compareEngines([engines.postgres, engines.clickhouse], chain.chainId, seeds)
  expect(found).toEqual([])
  expect(equal).toBeGreaterThan(seeds.length / 2)
})
