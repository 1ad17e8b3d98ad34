import { globSync, readFileSync } from 'node:fs'
import { beforeAll, describe, expect, it } from 'vitest'
import { loadPostgresGrammar, parsePostgres } from './parse.ts'

beforeAll(() => loadPostgresGrammar())

describe('the WASM grammar', () => {
  it('is reached through parsePostgres alone, which bounds the text first', () => {
    const all = globSync(
      '{api,ingest,local,orchestrator,payments,program,query,store,transform,webhooks}/**/*.ts',
    )
    const files = all.filter((file) => !file.endsWith('.test.ts'))
    const importers = files.filter((file) =>
      /from 'libpg-query'|from 'pgsql-parser'/.test(readFileSync(file, 'utf8')),
    )
    expect(importers.sort()).toEqual(['query/postgres/gate/gate.ts', 'query/postgres/parse/parse.ts'])
  })

  it('never sees a chain of operators that would overflow its stack', () => {
    expect(() => parsePostgres(`SELECT 1${'+1'.repeat(28_000)}`)).toThrow('the query has too many parts')
    expect(parsePostgres('SELECT 1')).toHaveProperty('SelectStmt')
  })
})
