// Goal: prices are exact, rates have five decimals and are rounded half up.
import { expect, test } from 'vitest'
import { presentOrderRate, presentPrice, presentRate } from './exchange.ts'

test.each([
  [0, '1.00000'],
  [10, '1.00010'],
  [-2_000, '0.98000'],
  [2_000, '1.02000'],
])('the price of tick %i is %s', (tick, price) => {
  expect(presentPrice(tick)).toBe(price)
})

test.each([
  [1n, 200_000n, '0.00001'],
  [1n, 200_001n, '0.00000'],
  [3n, 200_000n, '0.00002'],
  [299_999n, 200_000n, '1.50000'],
  [2n, 3n, '0.66667'],
  [1n, 3n, '0.33333'],
  [2n ** 128n, 1n, `${2n ** 128n}.00000`],
  [0n, 7n, '0.00000'],
  [7n, 0n, '0.00000'],
])('%i of %i is %s', (got, given, rate) => {
  expect(presentRate(got, given)).toBe(rate)
})

test('the taker of a bid gets its price, the taker of an ask the inverse', () => {
  expect([presentOrderRate(10, true), presentOrderRate(10, false)]).toEqual(['1.00010', '0.99990'])
  expect(presentOrderRate(-2_000, false)).toBe('1.02041')
})
