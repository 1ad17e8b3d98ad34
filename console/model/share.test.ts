// Goal: a link brings back what was shared, scales have round ticks, rates say only what was seen. Method: examples and round trips.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { blocksPerSecond, durationLabel, percentDone, remember, type Sighting } from './rates.ts'
import { numberLabel, roundScale, roundStep, timeLabel, timeStep } from './scale.ts'
import { parseFragment, toFragment } from './share.ts'

test('any query comes back from its link', () => {
  const shared = fc.record({
    view: fc.constantFrom('query' as const, 'status' as const),
    sql: fc.option(fc.string({ unit: 'grapheme', minLength: 1 })),
    chainId: fc.option(fc.integer({ min: 1, max: 1e9 })),
  })
  fc.assert(
    fc.property(shared, fc.constantFrom('postgres' as const, 'clickhouse' as const), (view, chosen) => {
      const engine = view.sql === null ? 'postgres' : chosen
      expect(parseFragment(toFragment({ ...view, engine }))).toEqual({ ...view, engine })
    }),
  )
})

test('what a link says wrongly is left out', () => {
  expect(parseFragment('#view=admin&engine=mysql&chain=-1')).toEqual({
    view: 'query',
    sql: null,
    engine: 'postgres',
    chainId: null,
  })
})

test('scales cover their values with round ticks', () => {
  const { min, max, ticks, at } = roundScale({ min: 0, max: 83 }, { from: 100, to: 0 }, 5)
  expect([min, max, ticks]).toEqual([0, 100, [0, 20, 40, 60, 80, 100]])
  expect([at(0), at(50), at(100)]).toEqual([100, 50, 0])
  expect(roundScale({ min: 0.1, max: 0.35 }, { from: 0, to: 1 }, 5).ticks).toContain(0.3)
  expect([0.3, 3, 11].map(roundStep)).toEqual([0.5, 5, 20])
  expect([400, 61_000, 90 * 86_400_000 + 1].map(timeStep)).toEqual([1_000, 120_000, 365 * 86_400_000])
})

test('labels are short', () => {
  const midnight = Date.UTC(2026, 1, 1)
  expect(timeLabel(midnight, 3_600_000)).toBe('02-01')
  expect(timeLabel(midnight + 3_661_000, 1_000)).toBe('01:01:01')
  expect(timeLabel(midnight, 86_400_000)).toBe('2026-02-01')
  expect([0, 1_234, 5e6, 1e21, 0.00001].map(numberLabel)).toEqual(['0', '1.23K', '5M', '1.0e+21', '1.0e-5'])
  expect([3.2, 200, 7_000].map(durationLabel)).toEqual(['4 s', '4 min', '1.9 h'])
  expect([percentDone(999, 1_000), percentDone(99_999, 100_000), percentDone(1, 0)]).toEqual([99.9, 99.9, 0])
})

test('a rate is of the last half minute, and unknown before a second has passed', () => {
  let seen: Sighting[] = []
  const at = (atMs: number, height: number | null) => {
    seen = remember(seen, { height, atMs })
    return blocksPerSecond(seen)
  }
  expect([at(0, null), at(100, 5), at(600, 6)]).toEqual([null, null, null])
  expect(at(2_100, 25)).toBe(10)
  expect(at(60_000, 100)).toBeNull()
  expect(at(61_000, 90)).toBe(0)
})
