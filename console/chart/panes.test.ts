// Goal: no series is drawn so low beside another that it cannot be read. Method: examples, and random
// sizes.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { panesOf } from './panes.ts'
import type { Series } from './series.ts'

const seriesOf = (label: string, ...ys: readonly (number | null)[]): Series => ({
  label,
  column: 0,
  points: ys.map((y, x) => ({ x, y, rows: [x] })),
  open: [],
})
const labels = (...series: readonly Series[]) => panesOf(series).map((pane) => pane.map(({ label }) => label))

test('series of one size share a chart, others have one of their own, in the order of the series', () => {
  const [gas, fee, count] = [seriesOf('gas', 9e6, null), seriesOf('fee', 5e6), seriesOf('count', 3, 12)]
  expect(labels(gas, fee)).toEqual([['gas', 'fee']])
  expect(labels(count, gas, fee)).toEqual([['count'], ['gas', 'fee']])
  expect(labels(seriesOf('loss', -100, 1), seriesOf('gain', 6))).toEqual([['loss', 'gain']])
  expect(labels(gas, seriesOf('none', 0, null))).toEqual([['gas', 'none']])
  expect(labels()).toEqual([])
})

test('there are three charts at most, and the last holds what is lower still', () => {
  expect(labels(...[1e9, 1e6, 1e3, 1, 0].map((y) => seriesOf(`${y}`, y)))).toEqual([
    ['1000000000'],
    ['1000000'],
    ['1000', '1', '0'],
  ])
})

test('every series is in one chart, with none of twenty times its size unless it is the third', () => {
  const heights = fc.array(fc.double({ min: 0, max: 1e12, noNaN: true }), { minLength: 1, maxLength: 8 })
  fc.assert(
    fc.property(heights, (ys) => {
      const series = ys.map((y, index) => seriesOf(`${index}`, y))
      const panes = panesOf(series)
      expect(panes.flat()).toHaveLength(series.length)
      expect(new Set(panes.flat())).toEqual(new Set(series))
      if (panes.length === 3) return
      for (const pane of panes) {
        const sizes = pane.flatMap(({ points }) => points.map(({ y }) => y ?? 0)).filter((y) => y > 0)
        expect(Math.min(...sizes)).toBeGreaterThanOrEqual(Math.max(...sizes, 0) / 20)
      }
    }),
  )
})
