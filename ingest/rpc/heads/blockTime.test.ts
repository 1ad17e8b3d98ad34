import { expect, test } from 'vitest'
import { afterHead, type BlockTime, pollIntervalMs } from './blockTime.ts'

const watch = (heads: readonly (readonly [number, number])[]) =>
  heads.reduce<BlockTime | null>((state, [number, atMs]) => afterHead(state, number, atMs), null)

test('the poll interval is a fifth of the block time seen', () => {
  expect(pollIntervalMs(watch([[10, 0]]))).toBe(200)
  expect(
    pollIntervalMs(
      watch([
        [10, 0],
        [11, 500],
      ]),
    ),
  ).toBe(100)
  expect(
    pollIntervalMs(
      watch([
        [10, 0],
        [14, 2_000],
      ]),
    ),
  ).toBe(100)
})

test('it stays within bounds for very fast and very slow chains', () => {
  expect(
    pollIntervalMs(
      watch([
        [10, 0],
        [11, 20],
      ]),
    ),
  ).toBe(50)
  expect(
    pollIntervalMs(
      watch([
        [10, 0],
        [11, 60_000],
      ]),
    ),
  ).toBe(2_000)
})

test('a pause of the chain hardly slows the polls after it', () => {
  const pace = Array.from({ length: 20 }, (_, k) => [10 + k, 500 * k] as const)
  const resumed = [30, 500 * 19 + 60_000] as const
  expect(pollIntervalMs(watch([...pace, resumed]))).toBe(160)
  expect(
    pollIntervalMs(watch([[10, 0], [11, 60_000], ...pace.map(([k, at]) => [k + 2, at + 60_500] as const)])),
  ).toBeCloseTo(100, 0)
})

test('a head that stands still or goes back teaches nothing', () => {
  expect(
    watch([
      [10, 0],
      [11, 500],
      [11, 900],
      [9, 950],
    ]),
  ).toEqual({ number: 11, seenAtMs: 500, averageMs: 500 })
})
