import { beforeAll, describe, expect, it } from 'vitest'
import { readSignatures } from '../../decoded/decodedTable.ts'
import { bindDecoded } from '../../relations/bindDecoded.ts'
import { bindViews } from '../../relations/catalog.ts'
import { relationsOf } from '../../relations/views.ts'
import { CheckedStatements } from './CheckedStatements.ts'
import { loadPostgresGrammar } from './gate.ts'

const catalog = bindViews(relationsOf('postgres'), 'chain_1_sql')
const sql = 'SELECT num FROM blocks'

describe('statements that were checked', () => {
  beforeAll(() => loadPostgresGrammar())

  it('take blocks as parameters, so that the next block is no other statement', () => {
    const statements = new CheckedStatements()
    const checked = statements.check(sql, catalog, 10, 2)
    expect(checked.sql).toContain('num BETWEEN $1 AND $2 OR num BETWEEN $3 AND $4')
    expect(checked.isBound).toBe(true)
    expect(statements.check(sql, catalog, 10, 2)).toBe(checked)
  })

  it('have none where no blocks are read, and read nothing where there are none', () => {
    const statements = new CheckedStatements()
    expect(statements.check('SELECT 1 AS x', catalog, 10, 1).isBound).toBe(false)
    expect(statements.check(sql, catalog, 10, 0).sql).toContain('WHERE false')
    expect(statements.check(sql, catalog, 10, undefined).sql).not.toContain('WHERE')
  })

  it('are others when a signature stands for another table', async () => {
    const statements = new CheckedStatements()
    const text = 'SELECT a FROM E'
    const withIndexed = async (count: number) =>
      bindDecoded(catalog, await readSignatures(['E(uint256 a)'], async () => count))
    const [inData, inTopic] = [await withIndexed(0), await withIndexed(1)]
    const checked = statements.check(text, inData, 10, 1)
    expect(statements.check(text, inTopic, 10, 1).sql).not.toBe(checked.sql)
    expect(statements.check(text, await withIndexed(0), 10, 1)).toBe(checked)
  })

  it('hold a bounded number of characters', () => {
    const statements = new CheckedStatements()
    const long = (index: number) => `SELECT '${'x'.repeat(60_000)}' AS x, ${index} AS n FROM blocks`
    for (let index = 0; index < 80; index++) statements.check(long(index), catalog, 10, 1)
    expect(statements.characters).toBeLessThanOrEqual(4 * 1024 * 1024)
  })

  it('refuse a parameter of the user', () => {
    expect(() =>
      new CheckedStatements().check('SELECT num FROM blocks WHERE num = $1', catalog, 10, 1),
    ).toThrow('parameters ($1) are not supported')
  })
})
