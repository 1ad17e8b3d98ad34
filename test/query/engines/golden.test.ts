// Goal: the two engines mean the same by the same SQL: rows and types, over a chain of real
// transactions. Method: at least twenty queries of each class over the recorded chain; one that
// gives nothing proves nothing, so none may be empty.

import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Engine } from '#primitives.ts'
import type { QueryResult, UserQueryEngine } from '#query/result.ts'
import { openSqlEngines, type SqlEngines } from '../../api/support/sqlEngines.ts'
import { type ChainStore, openChainStore, recordedBatches, writeAll } from '../../store/support/chainStore.ts'
import { onceTest, share } from '../../support/breadth.ts'
import { readQueriesPage } from '../support/queriesPage.ts'
import { isAdvanced, readNaturals } from './natural.ts'

/** Queries of each class, and natural ones, in the short run; the full one has all. */
const GOLDENS_SHORT = 7
const NATURALS_SHORT = 40

interface Golden {
  readonly class: string
  readonly sql: string
  readonly signatures: readonly string[]
}

const naturals = readNaturals()
const goldens = readGoldens()
const classes = Map.groupBy(goldens, (golden) => golden.class)

test('there are two hundred, and twenty of each class', () => {
  expect(goldens.length).toBeGreaterThanOrEqual(200)
  expect([...classes.keys()]).toEqual([
    'joins',
    'windows',
    '256-bit sums',
    'tuples',
    'NULL topics',
    'byte literals',
    'bytes as text',
    'times',
    'tables by signature',
    'calls by signature',
    'overflowing sums',
    'numbers',
  ])
  for (const [name, queries] of classes) expect(queries.length, name).toBeGreaterThanOrEqual(20)
  expect(new Set(goldens.map(({ sql, signatures }) => `${sql} ${signatures}`)).size).toBe(goldens.length)
})

test('natural queries are at least three hundred, plain and advanced by halves', () => {
  const advanced = naturals.filter(isAdvanced)
  expect(advanced.length).toBeGreaterThanOrEqual(150)
  expect(naturals.length - advanced.length).toBeGreaterThanOrEqual(150)
  expect(new Set(naturals.map(({ sql, signatures }) => `${sql} ${signatures}`)).size).toBe(naturals.length)
})

describe('golden queries', () => {
  let store: ChainStore
  let engines: SqlEngines
  beforeAll(async () => {
    store = await openChainStore({ headFrom: 0 })
    for (const batch of recordedBatches('tempo-dev-2k', 20)) await store.head.append(batch)
    await store.head.finalize(122)
    await writeAll(store)
    engines = await openSqlEngines(store)
  })
  afterAll(async () => {
    await engines?.postgres.close()
    await engines?.clickhouse.close()
    await store?.close()
  })

  const run = (
    engine: UserQueryEngine,
    { sql, signatures }: Pick<Golden, 'sql' | 'signatures'>,
  ): Promise<QueryResult> =>
    engine.run({ chainId: store.chainId, sql, signatures, limit: 10_000, timeoutMs: 20_000 })

  const shares = [...classes].map(([name, queries]) => [name, share(queries, GOLDENS_SHORT)] as const)
  describe.each(shares.filter(([, { length }]) => length > 0))('%s', (_, queries) => {
    test.each(queries)('$sql', async (golden) => {
      const [one, two] = await Promise.all([run(engines.postgres, golden), run(engines.clickhouse, golden)])
      expect(two.columns).toEqual(one.columns)
      expect(two.columnTypes).toEqual(one.columnTypes)
      expect(two.rows).toEqual(one.rows)
      expect(one.rowCount).toBeGreaterThan(0)
    })
  })

  // Goal: the page of queries runs on both engines, and its answers stay what they are.
  onceTest('docs/queries.md', async () => {
    const page = readQueriesPage()
    expect(page).toHaveLength(40)
    const answers: string[] = []
    for (const query of page) {
      const [one, two] = await Promise.all([run(engines.postgres, query), run(engines.clickhouse, query)])
      expect({ sql: query.sql, ...shown(two) }).toEqual({ sql: query.sql, ...shown(one) })
      expect(one.rowCount, query.sql).toBeGreaterThan(0)
      answers.push(
        `${query.sql}\n${JSON.stringify(one.columns)}\n${one.rows.map((row) => JSON.stringify(row)).join('\n')}\n`,
      )
    }
    await expect(answers.join('\n')).toMatchFileSnapshot('queriesPage.answers.txt')
  })

  // Goal: SQL as analysts write it runs, with one answer on both engines, or is refused with a hint
  // that leads to a form that does.
  describe.each([...Map.groupBy(share(naturals, NATURALS_SHORT), ({ theme }) => theme)])(
    '%s',
    (_, queries) => {
      test.each(queries)('$sql', async (natural) => {
        const answers: Partial<Record<Engine, QueryResult>> = {}
        for (const engine of ['postgres', 'clickhouse'] as const) {
          if (natural.runsOn.includes(engine)) answers[engine] = await run(engines[engine], natural)
          else
            await expect(run(engines[engine], natural)).rejects.toMatchObject({
              status: 422,
              hint: expect.any(String),
            })
        }
        const form = { sql: natural.instead ?? natural.sql, signatures: natural.signatures }
        const one = answers.postgres ?? (await run(engines.postgres, form))
        const two = answers.clickhouse ?? (await run(engines.clickhouse, form))
        expect(two.columnTypes).toEqual(one.columnTypes)
        expect(two.rows).toEqual(one.rows)
        if (natural.instead === undefined) expect(two.columns).toEqual(one.columns)
        expect(one.rowCount).toBeGreaterThan(0)
        if (natural.runsOn.length === 2 || natural.instead === undefined) return
        const [again, other] = await Promise.all([run(engines.postgres, form), run(engines.clickhouse, form)])
        expect([again.rows, other.rows]).toEqual([one.rows, one.rows])
      })
    },
  )
})

const shown = ({ columns, columnTypes, rows }: QueryResult) => ({ columns, columnTypes, rows })

/** A query a line, its signatures behind tabs; a comment begins a class. */
function readGoldens(): Golden[] {
  const lines = readFileSync(new URL('golden.txt', import.meta.url), 'utf8').split('\n')
  let name = ''
  return lines.flatMap((line) => {
    name = /^# class: (.+)$/.exec(line)?.[1] ?? name
    if (line === '' || line.startsWith('#')) return []
    const [sql = '', ...signatures] = line.split('\t')
    return [{ class: name, sql, signatures }]
  })
}
