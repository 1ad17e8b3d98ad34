import { describe, expect, it } from 'vitest'
import { assertPerBlock, assertRelationsPerBlock } from './perBlock.ts'

describe.each(['postgres', 'clickhouse'] as const)('assertPerBlock on %s', (engine) => {
  it.each([
    'SELECT * FROM logs',
    'SELECT count(*) FROM logs GROUP BY address ORDER BY 1',
    'SELECT 1 FROM logs, blocks',
    'SELECT row_number() OVER (PARTITION BY block_num ORDER BY log_idx) FROM logs',
    'SELECT row_number() OVER (PARTITION BY l.address, l.tx_hash ORDER BY log_idx) FROM logs l',
    'SELECT sum(log_idx) OVER w FROM logs WINDOW w AS (PARTITION BY block_num)',
    'SELECT * FROM logs QUALIFY rank() OVER (PARTITION BY block_num ORDER BY log_idx) = 1',
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

  it.each([
    'SELECT sum(tx_count) OVER (ORDER BY num) FROM blocks',
    'SELECT count(*) OVER () FROM blocks',
    'SELECT count(*) OVER (PARTITION BY address) FROM logs',
    'SELECT sum(tx_count) OVER w FROM blocks WINDOW w AS (ORDER BY num)',
    'SELECT * FROM logs QUALIFY rank() OVER (ORDER BY log_idx) = 1',
    'SELECT * FROM (SELECT lag(num) OVER (ORDER BY num) AS l FROM blocks) x',
    'SELECT sum(n) OVER (PARTITION BY block_num) FROM (SELECT address AS block_num, log_idx AS n FROM logs) x',
  ])('refuses the window of %s, and names the snapshot', async (sql) => {
    await expect(assertPerBlock(engine, sql)).rejects.toMatchObject({
      code: 'sql_refused',
      message: 'a window goes over the rows of all blocks',
      hint: expect.stringContaining('live=snapshot'),
    })
  })

  it('survives a chain as deep as is allowed', async () => {
    const outcome = assertPerBlock(engine, `SELECT 1${'+1'.repeat(3_900)}`).catch((error: unknown) => error)
    expect(await outcome).not.toBeInstanceOf(RangeError)
  })
})

it('refuses LIMIT BY of ClickHouse', async () => {
  await expect(assertPerBlock('clickhouse', 'SELECT * FROM logs LIMIT 1 BY address')).rejects.toThrow(
    'LIMIT BY chooses among the rows of all blocks',
  )
})

it('refuses WITH FILL of ClickHouse, which makes rows between blocks', async () => {
  await expect(
    assertPerBlock('clickhouse', 'SELECT num AS n FROM blocks ORDER BY n WITH FILL'),
  ).rejects.toThrow('WITH FILL makes rows between those of all blocks')
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
