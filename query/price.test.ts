import { expect, it } from 'vitest'
import { isDearer, queryPriceOf } from './price.ts'

it('charges for time and for bytes, rounded up', () => {
  expect(queryPriceOf({ rows: 1, bytes: 0, timeMs: 3_600_000 })).toBe('0.100000000')
  expect(queryPriceOf({ rows: 1, bytes: 1e12, timeMs: 0 })).toBe('5.000000000')
  expect(queryPriceOf({ rows: 0, bytes: 1, timeMs: 1 })).toBe('0.000000028')
})

it('compares numbers, not texts', () => {
  expect(isDearer('0.100000000', '0.1')).toBe(false)
  expect(isDearer('10.000000000', '9')).toBe(true)
})
