import { describe, expect, it } from 'vitest'
import { assertPerBlock, assertRelationsPerBlock } from './perBlock.ts'

describe.each(['postgres', 'clickhouse'] as const)('assertPerBlock on %s', (engine) => {
  it.each([
    'SELECT * FROM logs',
    'SELECT count(*) FROM logs GROUP BY address ORDER BY 1',
    'SELECT 1 FROM logs, blocks',
  ])('takes %s', async (sql) => {
    await expect(assertPerBlock(engine, sql)).resolves.toBeUndefined()
  })

  it.each([
    'SELECT * FROM logs LIMIT 5',
    'SELECT * FROM (SELECT * FROM logs LIMIT 5) x',
    'SELECT * FROM logs LIMIT 5 OFFSET 1',
    'WITH a AS (SELECT * FROM logs LIMIT 1) SELECT * FROM a',
  ])('refuses %s', async (sql) => {
    await expect(assertPerBlock(engine, sql)).rejects.toMatchObject({ code: 'sql_refused', status: 422 })
  })

  it('survives a chain as deep as is allowed', async () => {
    const outcome = assertPerBlock(engine, `SELECT 1${'+1'.repeat(3_900)}`).catch((error: unknown) => error)
    expect(await outcome).not.toBeInstanceOf(RangeError)
  })
})

describe('assertRelationsPerBlock', () => {
  const known = [
    { name: 'logs', blockColumn: 'block_num', columns: [] },
    { name: 'token_balances', blockColumn: null, columns: [] },
  ]

  it('takes rows of single blocks', () => {
    expect(() => assertRelationsPerBlock(known, ['logs'])).not.toThrow()
  })

  it('refuses rows made of many blocks', () => {
    expect(() => assertRelationsPerBlock(known, ['logs', 'token_balances'])).toThrow(
      'a row of token_balances is made of many blocks',
    )
  })
})
