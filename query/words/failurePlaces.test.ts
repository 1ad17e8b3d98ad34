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
