import { expect, it } from 'vitest'
import { UserQueryError } from '../UserQueryError.ts'
import { placedFailure } from './failurePlaces.ts'

const failure = new UserQueryError('sql_failed', 'division by zero')

it.each([
  ['SELECT 1 / 0', { line: 1, column: 10 }],
  ["SELECT num, '1 / 2' AS x,\n  tx_count % log_count FROM blocks -- a / b", { line: 2, column: 12 }],
  ['SELECT gas / 2, gas / 1e18, a."b/c" / n /* x / y */ FROM t', { line: 1, column: 37 }],
  ['SELECT mod(a, b) FROM t', { line: 1, column: 8 }],
  ['SELECT a / b, a % b FROM t', { line: undefined, column: undefined }],
  ['SELECT avg(a) FROM t', { line: undefined, column: undefined }],
])('the division of %s', (sql, place) => {
  expect(placedFailure(sql, failure)).toMatchObject({
    ...place,
    code: 'sql_failed',
    message: 'division by zero',
    hint: expect.stringContaining('nullif'),
  })
})

it('says no place of other failures', () => {
  const other = new UserQueryError('sql_failed', 'a number is wider than 256 bits')
  expect(placedFailure('SELECT 1 / 0', other)).toBe(other)
})

it.each([
  ['integer out of range', 'SELECT count(*), log_idx + 2147483647 FROM logs', { line: 1, column: 26 }],
  ['a number is out of the range of its type', 'SELECT *,\n  num::int FROM blocks', { line: 2, column: 6 }],
  ['bigint out of range', "SELECT '1 + 1' AS x, num /* - 1 */ * 9 FROM blocks", { line: 1, column: 36 }],
  [
    'invalid input syntax for type bigint: "x"',
    'SELECT "a::int", a::text::bigint FROM t',
    { line: 1, column: 25 },
  ],
  ['a pattern that no bytes match', "SELECT a FROM t WHERE a LIKE 'b%'", { line: 1, column: 25 }],
  ["Cannot parse string 'x' as UInt8", 'SELECT toInt64(a) FROM t', { line: 1, column: 8 }],
  ['invalid input syntax for type json', "SELECT a::text, b::jsonb->>'c' FROM t", { line: 1, column: 18 }],
  ['a text that is no document', 'SELECT cast(a AS text), cast(b AS jsonb) FROM t', { line: 1, column: 25 }],
  ['a time that is out of range', 'SELECT to_timestamp(a * 1000) FROM t', { line: 1, column: 8 }],
  ['cannot take logarithm of zero', 'SELECT a,\n  ln(b) FROM t', { line: 2, column: 3 }],
  ['negative substring length not allowed', 'SELECT substring(a, 1, b) FROM t', { line: 1, column: 8 }],
  ['invalid hexadecimal digit: "x"', "SELECT decode(a, 'hex') FROM t", { line: 1, column: 8 }],
  [
    'generate_series gives more than 10000 rows',
    'SELECT * FROM generate_series(1, (SELECT 2))',
    { line: 1, column: 15 },
  ],
  [
    'more than one row returned by a subquery used as an expression',
    'SELECT (SELECT a FROM t)',
    { line: 1, column: 8 },
  ],
  ['a number is wider than 256 bits', 'SELECT -a, 1e-5, b->>0, sum(c) FROM t', { line: 1, column: 25 }],
])('the place of %s in %s', (message, sql, place) => {
  expect(placedFailure(sql, new UserQueryError('sql_failed', message))).toMatchObject({ ...place, message })
})

it('names every part that can have failed', () => {
  const found = placedFailure('SELECT a / b,\n a % b FROM t', failure)
  expect(found).toMatchObject({
    line: undefined,
    hint: expect.stringContaining('one of those at 1:10, 2:4 (line:column)'),
  })
})

it('keeps a place that the engine told', () => {
  const told = new UserQueryError('sql_failed', 'integer out of range', { position: { line: 3, column: 1 } })
  expect(placedFailure('SELECT a + b', told)).toBe(told)
})
