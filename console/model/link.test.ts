// Goal: a link brings back what was shared, labels are short, rates say only what was seen. Method:
// examples and round trips.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { numberLabel, shortened, timeLabel } from './labels.ts'
import { parseFragment, toFragment } from './link.ts'
import {
  blocksPerSecond,
  durationLabel,
  elapsedLabel,
  historyLabel,
  percentDone,
  remember,
  type Sighting,
} from './rates.ts'

test('whatever a page keeps comes back from its link', () => {
  const kept = fc.dictionary(
    fc.string({ minLength: 1 }).filter((name) => !['view', 'chain', '__proto__'].includes(name)),
    fc.string({ unit: 'grapheme' }),
  )
  const linked = fc.record({
    page: fc.option(fc.constantFrom('status', 'catalog')),
    chainId: fc.option(fc.integer({ min: 1, max: 1e9 })),
    fields: kept.map((fields) => ({ ...fields })),
  })
  fc.assert(
    fc.property(linked, (link) => {
      expect(parseFragment(toFragment(link))).toEqual(link)
    }),
  )
})

test('what a link says wrongly is left out', () => {
  expect(parseFragment('#view=admin&engine=mysql&chain=-1')).toEqual({
    page: 'admin',
    chainId: null,
    fields: { engine: 'mysql' },
  })
})

test('labels are short', () => {
  const midnight = Date.UTC(2026, 1, 1)
  expect(timeLabel(midnight, 3_600_000)).toBe('02-01')
  expect(timeLabel(midnight + 3_661_000, 1_000)).toBe('01:01:01')
  expect(timeLabel(midnight, 86_400_000)).toBe('2026-02-01')
  expect([0, 1_234, 5e6, 1e21, 0.00001].map(numberLabel)).toEqual(['0', '1.23K', '5M', '1.0e+21', '1.0e-5'])
  expect(['short', '0x0123456789abcdef'].map((text) => shortened(text, 9))).toEqual(['short', '0x01…cdef'])
  expect([3.2, 200, 7_000].map(durationLabel)).toEqual(['4 s', '4 min', '1.9 h'])
  expect([4.21, 350.4, 4_200, 1_282_910].map(elapsedLabel)).toEqual(['4.2 ms', '350 ms', '4.2 s', '21 min'])
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

test('a history that is read says nothing, and one that stands still no speed', () => {
  const chunks = [{ from: 0, to: 1_999, tip: 1_199 }]
  const label = (blocksDone: number, blocksTotal: number, rate: number | null, etaSeconds: number | null) =>
    historyLabel({ blocksDone, blocksTotal, blocksPerSecond: rate, etaSeconds, chunks })
  expect([label(1, 1, 0, 0), label(0, 0, null, null)]).toEqual([null, null])
  expect(label(1_200, 2_000, 250.4, 3.2)).toBe('1,200 of 2,000 blocks, 60 %, 250 blocks/s, 4 s left')
  expect(label(1_200, 2_000, 0.2, null)).toBe('1,200 of 2,000 blocks, 60 %')
  expect(label(0, 1, null, null)).toBe('0 of 1 block, 0 %')
})
