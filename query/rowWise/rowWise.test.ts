import { describe, expect, it } from 'vitest'
import { isRowWise } from './rowWise.ts'

const rowWise = [
  'SELECT * FROM logs',
  'SELECT 1 FROM logs, blocks',
  'SELECT num, hash FROM blocks ORDER BY num DESC',
  'SELECT l.* FROM logs l ORDER BY l.block_num, log_idx DESC',
  'SELECT block_num AS height, idx FROM txs ORDER BY height DESC',
  'SELECT block_timestamp, hash FROM txs ORDER BY 1',
  'SELECT num FROM (SELECT num FROM blocks ORDER BY size) b',
  'SELECT block_num, count(*) FROM logs GROUP BY block_num ORDER BY block_num',
  'SELECT address, count(*), block_num FROM logs GROUP BY 1, 3',
  'SELECT b.num, b.hash, count(l.log_idx) AS logs FROM blocks b LEFT JOIN logs l ON l.block_num = b.num GROUP BY b.num, b.hash',
  'SELECT b.num AS block_num, sum(idx) FROM blocks b JOIN txs ON block_num = num GROUP BY b.num',
  'SELECT tx_hash, max(log_idx) FROM logs GROUP BY tx_hash HAVING count(*) > 1',
  'SELECT DISTINCT block_num, address FROM logs',
  'SELECT DISTINCT * FROM logs',
  'SELECT DISTINCT ON (block_num) block_num, hash FROM txs ORDER BY block_num, idx',
  'SELECT hash, (SELECT count(*) FROM logs l WHERE l.tx_hash = t.hash AND log_idx > 1) AS logs FROM txs t',
  'WITH a AS (SELECT block_num, count(*) AS n FROM logs GROUP BY block_num) SELECT * FROM a WHERE n > 3',
  'SELECT num FROM blocks UNION ALL SELECT block_num FROM logs',
  'SELECT row_number() OVER (PARTITION BY block_num ORDER BY log_idx) FROM logs',
  'SELECT row_number() OVER (PARTITION BY l.address, l.tx_hash ORDER BY log_idx) FROM logs l',
  'SELECT sum(log_idx) OVER w FROM logs WINDOW w AS (PARTITION BY block_num)',
  'SELECT * FROM logs QUALIFY rank() OVER (PARTITION BY block_num ORDER BY log_idx) = 1',
]

const whole = [
  'SELECT count(*) FROM txs',
  'SELECT 1 + max(gas_used) FROM blocks',
  "SELECT date_trunc('minute', block_timestamp) AS minute, count(*) AS txs FROM txs GROUP BY 1 ORDER BY 1",
  'SELECT address, count(*) FROM logs GROUP BY address',
  'SELECT 1 FROM logs HAVING count(*) > 1',
  'SELECT DISTINCT address FROM logs',
  'SELECT DISTINCT ON (address) address, block_num FROM logs',
  'SELECT hash FROM txs ORDER BY idx',
  'SELECT hash FROM txs ORDER BY block_timestamp, idx',
  'SELECT block_num, count(*) AS n FROM logs GROUP BY block_num ORDER BY n',
  'SELECT num AS n FROM blocks UNION SELECT idx AS n FROM txs',
  'SELECT num FROM blocks EXCEPT SELECT block_num FROM logs',
  'SELECT address AS block_num, count(*) FROM logs GROUP BY block_num',
  'SELECT block_num, count(*) FROM (SELECT log_idx AS block_num FROM logs) l GROUP BY block_num',
  'SELECT block_num, count(*) FROM (SELECT log_idx FROM logs) AS l (block_num) GROUP BY block_num',
  'WITH l (block_num) AS (SELECT log_idx FROM logs) SELECT block_num, count(*) FROM l GROUP BY block_num',
  'SELECT num, count(*) FROM shop_sold GROUP BY num',
  'SELECT hash FROM txs WHERE gas_used > (SELECT avg(gas_used) FROM txs)',
  'SELECT hash, (SELECT count(*) FROM txs o WHERE o."from" = t."from") AS n FROM txs t',
  'SELECT hash, (SELECT count(*) FROM logs a, logs b WHERE a.tx_hash = b.tx_hash) AS n FROM txs t',
  'SELECT * FROM logs LIMIT 5',
  'SELECT * FROM (SELECT * FROM logs LIMIT 5) x',
  'SELECT * FROM logs LIMIT 5 OFFSET 1',
  'WITH a AS (SELECT * FROM logs LIMIT 1) SELECT * FROM a',
  'SELECT sum(tx_count) OVER (ORDER BY num) FROM blocks',
  'SELECT count(*) OVER () FROM blocks',
  'SELECT count(*) OVER (PARTITION BY address) FROM logs',
  'SELECT sum(tx_count) OVER w FROM blocks WINDOW w AS (ORDER BY num)',
  'SELECT * FROM logs QUALIFY rank() OVER (ORDER BY log_idx) = 1',
  'SELECT * FROM (SELECT lag(num) OVER (ORDER BY num) AS l FROM blocks) x',
  'SELECT sum(n) OVER (PARTITION BY block_num) FROM (SELECT address AS block_num, log_idx AS n FROM logs) x',
]

describe.each(['postgres', 'clickhouse'] as const)('isRowWise on %s', (engine) => {
  it.each(rowWise)('goes on by the rows of new blocks: %s', async (sql) => {
    expect(await isRowWise(engine, sql)).toBe(true)
  })

  it.each(whole)('needs all blocks: %s', async (sql) => {
    expect(await isRowWise(engine, sql)).toBe(false)
  })

  it('survives a chain as deep as is allowed', async () => {
    for (const chain of [
      `SELECT 1${'+1'.repeat(3_900)}`,
      `SELECT 1 WHERE ${'1 = 1 AND '.repeat(1_500)} true`,
    ]) {
      const outcome = await isRowWise(engine, chain).catch((error: unknown) => error)
      expect(outcome).not.toBeInstanceOf(RangeError)
    }
  })
})

it.each([
  'SELECT * FROM logs LIMIT 1 BY address',
  'SELECT num AS n FROM blocks ORDER BY num WITH FILL',
  'SELECT * FROM token_balances',
  'SELECT countIf(log_idx > 1) FROM logs',
  'SELECT block_num, count() FROM logs GROUP BY ROLLUP(block_num)',
  'SELECT uniq(address) FROM logs',
  'SELECT block_num, count() FROM generate_series(1, 3) AS block_num GROUP BY block_num',
])('ClickHouse needs all blocks: %s', async (sql) => {
  expect(await isRowWise('clickhouse', sql)).toBe(false)
})

it.each([
  'SELECT block_num, count(*) FROM logs GROUP BY ROLLUP(block_num)',
  'SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY log_idx) FROM logs',
  'SELECT countIf(log_idx > 1) FROM logs',
  'SELECT block_num, count(*) FROM generate_series(1, 3) AS block_num GROUP BY block_num',
])('Postgres needs all blocks: %s', async (sql) => {
  expect(await isRowWise('postgres', sql)).toBe(false)
})
