// Goal: amounts of any decimals are written exactly, and unknown decimals as null.
import { formatUnits } from 'viem/utils'
import { expect, test } from 'vitest'
import { formattedAmount } from './formattedAmount.ts'

const amounts = [
  0n,
  1n,
  5n,
  10n,
  1_500_000n,
  29_000n,
  10n ** 18n,
  10n ** 77n + 1n,
  2n ** 256n - 1n,
  10n ** 300n,
]

test('amounts of up to 255 decimals are as viem writes them', () => {
  for (const amount of amounts)
    for (const sign of [1n, -1n])
      for (const decimals of [0, 1, 2, 6, 18, 76, 77, 78, 254, 255])
        expect(formattedAmount(sign * amount, decimals)).toBe(formatUnits(sign * amount, decimals))
})

test('unknown decimals are told, never taken for none', () => {
  expect(formattedAmount(29_000n, null)).toBeNull()
})
