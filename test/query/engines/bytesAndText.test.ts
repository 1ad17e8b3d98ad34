// Goal: no comparison of bytes with a text is false whatever the row and answered 200. Method: a value
// that is there, written right and in the ways that analysts get wrong, in every place that compares:
// what is answered finds it, all else is refused with a hint.

import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Engine } from '#primitives.ts'
import type { UserQueryEngine } from '#query/result.ts'
import { onceTest, seedsFrom } from '../../support/breadth.ts'
import { openEngine } from '../support/engine.ts'
import { createExampleChain, type ExampleChain } from '../support/exampleChain.ts'
import { Choices } from '../support/randomExpression.ts'

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

/** A table, and a column of it that is bytes. */
const columns = [
  ['blocks', 'hash'],
  ['blocks', 'parent_hash'],
  ['txs', 'hash'],
  ['txs', '"from"'],
  ['receipts', 'tx_hash'],
  ['logs', 'address'],
  ['logs', 'topic1'],
  ['logs', 'topic0'],
] as const

/** The item in FROM: the table, and what hides it. */
const hidings: readonly ((table: string, column: string) => string)[] = [
  (table) => table,
  (table) => `${table} t`,
  (table) => `(SELECT * FROM ${table}) t`,
  (table, column) => `(SELECT ${column} AS ${column}, 1 AS one FROM ${table} LIMIT 1000) t`,
  (table, column) => `(SELECT DISTINCT ${column} FROM (SELECT ${column} FROM ${table}) u) t`,
]

/** Ways to write a value; those that are not right are what people write. */
const writings: readonly ((hex: string) => string)[] = [
  (hex) => `0x${hex}`,
  (hex) => `0x${hex.toUpperCase()}`,
  (hex) => `0X${hex}`,
  (hex) => hex,
  (hex) => `\\x${hex}`,
  (hex) => `0x${hex.slice(0, 8)}`,
  (hex) => `0x${hex.slice(1)}`,
  (hex) => `0x${'00'.repeat(12)}${hex}`,
  (hex) => ` 0x${hex}`,
  () => '0xzz',
  () => 'vitalik',
]

/** Comparisons that are true for the value's own row. */
const comparisons: readonly ((column: string, text: string) => string)[] = [
  (column, text) => `${column} = '${text}'`,
  (column, text) => `'${text}' = ${column}`,
  (column, text) => `${column} IN ('${text}')`,
  (column, text) => `${column} IS NOT DISTINCT FROM '${text}'`,
  (column, text) => `NOT (${column} <> '${text}')`,
  (column, text) => `${column} >= '${text}'`,
  (column, text) => `CASE WHEN ${column} = '${text}' THEN 1 ELSE 0 END = 1`,
  (column, text) => `(${column}, 1) = ('${text}', 1)`,
  (column, text) => `${column} = lower('${text}')`,
  (column, text) => `${column} IN ('${text}'::text)`,
]

/** Comparisons with a constant that stands in a row of its own. */
const inRows: readonly ((column: string, text: string) => string)[] = [
  (column, text) => `${column} IN (SELECT '${text}')`,
  (column, text) => `(${column}, 1) IN (SELECT '${text}', 1)`,
  (column, text) => `${column} = (SELECT max('${text}'))`,
  (column, text) => `${column} IN (SELECT v FROM (VALUES ('${text}')) AS x(v))`,
]
/** Among rows of the column; what a UNION has beside them may be of any length. */
const besideRows = (column: string, text: string, table: string) =>
  `${column} IN (SELECT ${column} FROM ${table} WHERE false UNION ALL SELECT '${text}')`

const answerOf = (engine: UserQueryEngine, sql: string): Promise<unknown> =>
  engine.run({ chainId: chain.chainId, sql, limit: 10, timeoutMs: 20_000 }).then(
    ({ rows }) => rows[0]?.[0],
    (error: unknown) => error,
  )

it.each([
  ['beside the column', comparisons],
  ['in a row of its own', inRows],
])('a constant %s is found, or refused with a hint', async (_where, among) => {
  const found: string[] = []
  for (const seed of seedsFrom(0, 60, 400)) {
    const choices = new Choices(seed)
    const [table, column] = choices.of(columns)
    const value = String(await answerOf(engines.postgres, `SELECT max(${column}) FROM ${table}`))
    const text = choices.of(writings)(value.slice(2))
    const from = choices.of(hidings)(table, column)
    const sql = `SELECT count(*) AS n FROM ${from} WHERE ${choices.of(among)(column, text)}`
    for (const engine of Object.values(engines)) {
      const answer = await answerOf(engine, sql)
      if (answer === '0') found.push(`${engine.engine}: ${sql}`)
      if (answer instanceof Error) expect(answer, sql).toMatchObject({ status: 422 })
    }
  }
  expect(found).toEqual([])
})

/** Comparisons of two columns. */
const pairings: readonly ((a: string, b: string, table: string) => string)[] = [
  (a, b, table) => `SELECT count(*) AS n FROM ${table} WHERE ${a} = ${b}`,
  (a, b, table) => `SELECT count(*) AS n FROM ${table} WHERE ${a} IN (${b})`,
  (a, b, table) => `SELECT count(*) AS n FROM ${table} WHERE ${a} IN (SELECT ${b} FROM ${table})`,
  (a, b, table) => `SELECT count(*) AS n FROM ${table} x JOIN ${table} y ON x.${a} = y.${b}`,
  (a, b, table) => `SELECT count(*) AS n FROM (SELECT ${a} AS p, ${b} AS q FROM ${table}) x WHERE p = q`,
  (a, b, table) => `SELECT count(nullif(${a}, ${b})) AS n FROM ${table}`,
  (a, b, table) => `SELECT count(CASE ${a} WHEN ${b} THEN 1 END) AS n FROM ${table}`,
  (a, b, table) =>
    `SELECT count(*) AS n FROM ${table} WHERE coalesce(${a}, ${a}) = (SELECT max(${b}) FROM ${table})`,
]

onceTest(
  'columns of unlike lengths are refused wherever they are compared, those of one length never',
  async () => {
    const widths: readonly (readonly [string, string, string, boolean])[] = [
      ['logs', 'address', 'topic1', false],
      ['logs', 'topic0', 'address', false],
      ['logs', 'topic0', 'topic1', true],
      ['logs', 'tx_hash', 'topic1', true],
      ['txs', 'hash', '"from"', false],
      ['txs', '"from"', '"to"', true],
      ['blocks', 'hash', 'parent_hash', true],
      ['blocks', 'miner', 'hash', false],
    ]
    for (const [table, a, b, isAlike] of widths)
      for (const pairing of pairings)
        for (const engine of Object.values(engines)) {
          const sql = pairing(a, b, table)
          const answer = await answerOf(engine, sql)
          if (isAlike) expect(answer, `${engine.engine}: ${sql}`).toMatch(/^\d+$/)
          else
            expect(answer, `${engine.engine}: ${sql}`).toMatchObject({
              status: 422,
              hint: expect.any(String),
            })
        }
  },
)

onceTest('a constant in a row of its own is found', async () => {
  for (const [table, column] of columns) {
    const value = String(await answerOf(engines.postgres, `SELECT max(${column}) FROM ${table}`))
    for (const comparison of [...inRows, besideRows])
      for (const engine of Object.values(engines)) {
        const sql = `SELECT count(*) > 0 AS found FROM ${table} WHERE ${comparison(column, value, table)}`
        expect(await answerOf(engine, sql), sql).toBe(true)
      }
  }
})
