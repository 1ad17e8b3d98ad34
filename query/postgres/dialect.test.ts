import { expect, it } from 'vitest'
import { inPostgresWords, placeOfByte, syntaxHint } from './dialect.ts'

it.each([
  ['SELECT `num` FROM blocks', 'SELECT "num" FROM blocks'],
  ['now() - INTERVAL 1 HOUR > x', "now() - INTERVAL'1HOUR' > x"],
  ['now() - interval  12  days', "now() - INTERVAL'12days'  "],
  ['SELECT 1 LIMIT 10, 3', 'SELECT 1 LIMIT 3 OFFSET 10'],
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
])('%s stays', (sql) => {
  expect(inPostgresWords(sql)).toBe(sql)
})

it('tells what to write instead, of what is no text', () => {
  expect(syntaxHint('SELECT num FROM blocks QUALIFY 1 = 1')).toContain('WHERE place = 1')
  expect(syntaxHint("SELECT 'QUALIFY'")).toBeUndefined()
})

it.each([
  ['SELECT num', 'num', 8],
  ['SELECT 1 LIMIT 10, 3 nub', 'nub', 22],
  ['(SELECT `é` LIMIT 1,2) UNION (SELECT 1 LIMIT 10 , 3) nub', 'nub', 54],
  ['SELECT `a` FROM (SELECT 1 LIMIT 10, 3) x', 'LIMIT', 27],
])('a place behind what was rewritten is that of the text: %s', (sql, word, column) => {
  const written = inPostgresWords(sql)
  const byte = Buffer.byteLength(written.slice(0, written.indexOf(word)))
  expect(placeOfByte(sql, byte)).toEqual({ line: 1, column })
})
