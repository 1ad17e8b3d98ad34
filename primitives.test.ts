// Goal: decimals are what a uint8 holds; whatever else a contract tells is unknown.
import { expect, test } from 'vitest'
import { decimalsOf } from './primitives.ts'

test.each([0n, 0, 6n, 18, 77n, 78n, 255n, 255])('decimals may be %s', (told) => {
  expect(decimalsOf(told)).toBe(Number(told))
})

const none = [
  256n,
  256,
  -1,
  2n ** 32n,
  2n ** 256n - 1n,
  30_000,
  Number.NaN,
  Infinity,
  null,
  undefined,
  '6',
  {},
]

test.each(none)('%s are unknown decimals', (told) => {
  expect(decimalsOf(told)).toBeNull()
})
