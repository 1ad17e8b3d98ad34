import { expect, test } from 'vitest'
import { FEE_MAX, statedFeeAt } from './statedFee.ts'

test('a fee is stated by the price of gas, rounded up, and never above the bound', () => {
  expect(statedFeeAt(21_000_000_000n)).toBe(8_820n)
  expect(statedFeeAt(1n)).toBe(1n)
  expect(statedFeeAt(10n ** 15n)).toBe(FEE_MAX)
})
