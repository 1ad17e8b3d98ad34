import { expect, test } from 'vitest'
import { amountOf, decimalText, limitOf, millionthsOf, multiplied, rescaled, shareOf } from './amounts.ts'

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

test('costs are rounded up; limits and shares down', () => {
  expect([rescaled(15n, 1, 0), rescaled(15n, 1, 3)]).toEqual([2n, 1_500n])
  expect([multiplied(5n, '1.5'), multiplied(5n, '2')]).toEqual([8n, 10n])
  expect([shareOf(5n, '0.5'), shareOf(5n, '1')]).toEqual([2n, 5n])
  expect([limitOf('1.99', 1), limitOf('1.5', 3), limitOf('2', 6)]).toEqual([19n, 1_500n, 2_000_000n])
  expect([millionthsOf(0n), millionthsOf(1n), millionthsOf(10n ** 12n)]).toEqual([0n, 1n, 1n])
})

test('amounts are told as decimal text', () => {
  expect(decimalText(500n, 6)).toBe('0.0005')
  expect(decimalText(1_000_000n, 6)).toBe('1')
  expect(decimalText(0n, 6)).toBe('0')
  expect(decimalText(12n, 0)).toBe('12')
})
