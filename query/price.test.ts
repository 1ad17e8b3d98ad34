import { expect, it } from 'vitest'
import { isDearer, priceOf } from './price.ts'

it('charges for time and for bytes, rounded up', () => {
  expect(priceOf({ rows: 1, bytes: 0, timeMs: 3_600_000 })).toBe('0.100000000')
  expect(priceOf({ rows: 1, bytes: 1e12, timeMs: 0 })).toBe('5.000000000')
  expect(priceOf({ rows: 0, bytes: 1, timeMs: 1 })).toBe('0.000000028')
})

it('compares numbers, not texts', () => {
  expect(isDearer('0.100000000', '0.1')).toBe(false)
  expect(isDearer('10.000000000', '9')).toBe(true)
})
