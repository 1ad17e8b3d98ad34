/**
 * Both gates over texts made of pieces of the corpora: they answer with a statement or a
 * UserQueryError, nothing else.
 */

import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { catalogOf } from '#test/query/support/catalogs.ts'
import { readCorpus } from '#test/query/support/corpus.ts'
import { gateClickHouse } from './clickhouse/gate.ts'
import { gatePostgres, loadPostgresGrammar } from './postgres/gate/gate.ts'
import { parseStatements } from './postgres/parse/parse.ts'
import { UserQueryError } from './UserQueryError.ts'

const names = [
  'attacks.postgres',
  'attacks.clickhouse',
  'honest.both',
  'honest.postgres',
  'honest.clickhouse',
]
const queries = names.flatMap((name) => readCorpus(`${name}.txt`).map(({ sql }) => sql))
const pieces = [...new Set(queries.flatMap((sql) => sql.match(/\w+|'[^']*'|\s+|[^\s\w]/g) ?? []))]

/** A query of a corpus with some of its pieces replaced, left out or doubled. */
const mutated = fc
  .tuple(
    fc.constantFrom(...queries),
    fc.array(fc.tuple(fc.nat(), fc.constantFrom(...pieces), fc.nat(2)), { maxLength: 6 }),
  )
  .map(([sql, edits]) => {
    const parts = sql.match(/\w+|'[^']*'|\s+|[^\s\w]/g) ?? []
    for (const [place, piece, kind] of edits) {
      const at = place % (parts.length + 1)
      parts.splice(at, kind === 0 ? 1 : 0, ...(kind === 1 ? [] : [piece]))
    }
    return parts.join('')
  })

/** Runs a gate; undefined when it refuses in its own words. */
function attempt(gate: () => string): string | undefined {
  try {
    return gate()
  } catch (error) {
    if (error instanceof UserQueryError) return undefined
    throw error
  }
}

/** Values of every field of a name, anywhere in a tree. */
function* fieldsNamed(name: string, tree: unknown): Generator<unknown> {
  if (typeof tree !== 'object' || tree === null) return
  for (const [key, value] of Object.entries(tree)) {
    if (key === name) yield value
    yield* fieldsNamed(name, value)
  }
}

/**
 * Every table of the printed text, as the server's grammar reads it, is a view of the chain or a
 * CTE.
 */
function assertPostgresTables(printed: string): void {
  const tree = parseStatements(printed)
  const ctes = new Set(fieldsNamed('ctename', tree))
  for (const table of fieldsNamed('RangeVar', tree)) {
    const { schemaname, relname } = Object.fromEntries(Object.entries(table ?? {}))
    if (schemaname !== 'chain_1_sql') expect([...ctes]).toContain(relname)
  }
}

/**
 * Every table of the printed text is a view of the chain, a sub-select or a CTE, and no clause
 * follows the last.
 */
function assertClickHouseTables(printed: string): void {
  // A text in quotes is no SQL; plain names stay, since tables are known by them.
  const bare = printed.replaceAll(/'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`/g, (quoted) =>
    /^`\w+`$/.test(quoted) ? quoted : "''",
  )
  for (const [, table = ''] of bare.matchAll(/(?<!ARRAY )\b(?:FROM|JOIN) (\S+)/g)) {
    expect(table).toMatch(/^(\(|c\d+\b|`chain_1_sql`\.`\w+`)/)
  }
  expect(bare.replaceAll(/`(?:[^`\\]|\\.)*`/g, '``')).not.toMatch(/\b(SETTINGS|FORMAT|OUTFILE|system\.)/)
}

beforeAll(() => loadPostgresGrammar())

describe('mutated queries', () => {
  const postgres = catalogOf('postgres', 'chain_1_sql')
  const clickhouse = catalogOf('clickhouse', 'chain_1_sql')

  it('are printed within the catalog or refused, on Postgres', () => {
    const property = fc.property(mutated, (sql) => {
      const printed = attempt(() => gatePostgres(sql, postgres, 11).sql)
      if (printed !== undefined) assertPostgresTables(printed)
    })
    fc.assert(property, { numRuns: 2_000 })
  })

  it('are printed within the catalog or refused, on ClickHouse', () => {
    const property = fc.property(mutated, (sql) => {
      const printed = attempt(() => gateClickHouse(sql, clickhouse, 11).sql)
      if (printed !== undefined) assertClickHouseTables(printed)
    })
    fc.assert(property, { numRuns: 2_000 })
  })
})
