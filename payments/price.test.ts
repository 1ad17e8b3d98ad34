import { expect, test } from 'vitest'
import { amountOf, decimalOf } from './price.ts'

test('prices are rounded up to the smallest unit', () => {
  expect(amountOf('0.0005', 1, 6)).toBe(500n)
  expect(amountOf('0.0000001', 1, 6)).toBe(1n)
  expect(amountOf('0.0000001', 10, 6)).toBe(1n)
  expect(amountOf('0.0000001', 11, 6)).toBe(2n)
  expect(amountOf('123456789.123456789012345678', 1, 18)).toBe(123456789123456789012345678n)
  expect(amountOf('0', 1, 6)).toBe(0n)
  expect(amountOf('1', 1_000_000, 0)).toBe(1_000_000n)
})

test.each(['', '-1', '1.', '.5', '1e3', '0x1', '1,5', ' 1', '1.0000000000000000001', '1234567890'])(
  '%o is no price',
  (text) => expect(() => amountOf(text, 1, 6)).toThrow(RangeError),
)

test('amounts are told as decimal text', () => {
  expect(decimalOf(500n, 6)).toBe('0.0005')
  expect(decimalOf(1_000_000n, 6)).toBe('1')
  expect(decimalOf(0n, 6)).toBe('0')
  expect(decimalOf(12n, 0)).toBe('12')
})
