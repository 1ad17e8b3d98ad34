import { expect, it } from 'vitest'
import { inPostgresWords, placeOfByte, syntaxHint } from './dialect.ts'

it.each([
  ['SELECT `num` FROM blocks', 'SELECT "num" FROM blocks'],
  ['now() - INTERVAL 1 HOUR > x', "now() - INTERVAL'1HOUR' > x"],
  ['now() - interval  12  days', "now() - INTERVAL'12days'  "],
  ['SELECT 1 LIMIT 10, 3', 'SELECT 1 LIMIT 3 OFFSET 10'],
  [
    'SELECT a FROM t QUALIFY rank() OVER (ORDER BY a) = 1 /* x */ ORDER BY a',
    'SELECT a FROM t WINDOW "QUALIFY " AS (PARTITION BY ( rank() OVER (ORDER BY a) = 1)) /* x */ ORDER BY a',
  ],
  [
    '(SELECT a FROM t WINDOW w AS () QUALIFY b) UNION SELECT c FROM t QUALIFY d WINDOW w AS ()',
    '(SELECT a FROM t WINDOW w AS () , "QUALIFY " AS (PARTITION BY ( b))) UNION SELECT c FROM t WINDOW "QUALIFY " AS (PARTITION BY ( d)) , w AS ()',
  ],
])('%s is %s', (sql, expected) => {
  expect(inPostgresWords(sql)).toBe(expected)
})

it.each([
  "SELECT '`a` INTERVAL 1 HOUR LIMIT 1, 2'",
  'SELECT 1 -- `a` LIMIT 1, 2',
  'SELECT 1 /* INTERVAL 1 DAY */',
  'SELECT "`a`"',
  "SELECT E'\\'` INTERVAL 1 HOUR'",
  "INTERVAL '1 hour'",
  'SELECT qualify, t.qualify AS qualify FROM t WHERE qualify = 1 ORDER BY qualify',
])('%s stays', (sql) => {
  expect(inPostgresWords(sql)).toBe(sql)
})

it('tells what to write instead, of what is no text', () => {
  expect(syntaxHint('SELECT num FROM blocks FINAL')).toContain('leave FINAL out')
  expect(syntaxHint("SELECT 'FINAL'")).toBeUndefined()
})

it.each([
  ['SELECT num', 'num', 8],
  ['SELECT a FROM t QUALIFY rank() OVER () = nub ORDER BY b', 'nub', 42],
  ['SELECT a FROM t QUALIFY c ORDER BY nub', 'nub', 36],
  ['SELECT 1 LIMIT 10, 3 nub', 'nub', 22],
  ['(SELECT `é` LIMIT 1,2) UNION (SELECT 1 LIMIT 10 , 3) nub', 'nub', 54],
  ['SELECT `a` FROM (SELECT 1 LIMIT 10, 3) x', 'LIMIT', 27],
])('a place behind what was rewritten is that of the text: %s', (sql, word, column) => {
  const written = inPostgresWords(sql)
  const byte = Buffer.byteLength(written.slice(0, written.indexOf(word)))
  expect(placeOfByte(sql, byte)).toEqual({ line: 1, column })
})
