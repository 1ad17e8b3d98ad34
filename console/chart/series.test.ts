// Goal: a chart shows the values of a result as what they are: gaps, spikes, and what is not over.
// Method: examples.
import { expect, test } from 'vitest'
import type { Cell, QueryAnswer } from '../model/queryAnswer.ts'
import { type Axes, chooseAxes } from './axes.ts'
import { thin } from './points.ts'
import { barSeries, lineSeries, valueText } from './series.ts'

const answer = (columns: Record<string, string>, rows: readonly (readonly Cell[])[]): QueryAnswer => ({
  engine: 'postgres',
  columns: Object.keys(columns),
  columnTypes: Object.values(columns),
  rows,
  truncated: false,
  elapsedMs: 1,
  horizon: null,
})

const linesOf = (result: QueryAnswer, axes: Axes) => lineSeries(result, axes, 200, []).series

test('a chart takes time across, then heights, then names, and the number that is not a height', () => {
  const axes = (columns: Record<string, string>) => chooseAxes(answer(columns, []))
  expect(axes({ num: 'bigint', timestamp: 'timestamp', gas: 'bigint' })).toEqual({ x: 1, ys: [2], by: null })
  expect(axes({ gas: 'bigint', block_num: 'bigint' })).toEqual({ x: 1, ys: [0], by: null })
  expect(axes({ token: 'bytes', n: 'bigint' })).toEqual({ x: 0, ys: [1], by: null })
  expect(axes({ token: 'bytes' })).toBeNull()
  expect(axes({ n: 'bigint' })).toBeNull()
})

test('a spike outlives thinning', () => {
  const rows = Array.from({ length: 5_000 }, (_, index) => [
    `${index}`,
    index === 4_321 ? '999' : index % 7 ? '1' : null,
  ])
  const [line] = linesOf(answer({ num: 'bigint', n: 'bigint' }, rows), { x: 0, ys: [1], by: null })
  expect(line?.points.length).toBeLessThanOrEqual(220)
  expect(line?.points.find(({ y }) => y === 999)).toEqual({ x: 4_321, y: 999, rows: [4_321] })
  expect(thin(line?.points ?? [], 1_000)).toEqual(line?.points)
})

test('a value that is null, and an hour that has no row, are gaps', () => {
  const rows = [
    ['1', '10'],
    ['2', null],
    ['3', '12'],
    ['4', '13'],
    ['9', '14'],
  ]
  const [line] = linesOf(answer({ hour: 'bigint', n: 'bigint' }, rows), { x: 0, ys: [1], by: null })
  expect(line?.points.map(({ x, y }) => [x, y])).toEqual([
    [1, 10],
    [2, null],
    [3, 12],
    [4, 13],
    [5, null],
    [9, 14],
  ])
})

test('several columns, or names of one column, are several series', () => {
  const rows = [
    ['1', 'a', '5', '50'],
    ['1', 'b', '6', '60'],
    ['2', 'b', '7', '70'],
  ]
  const result = answer({ num: 'bigint', token: 'text', n: 'bigint', sum: 'bigint' }, rows)
  const drawn = (ys: number[], by: number | null) =>
    linesOf(result, { x: 0, ys, by }).map(({ label, points }) => [label, points.map(({ y }) => y)])
  expect(drawn([2], 1)).toEqual([
    ['a', [5]],
    ['b', [6, 7]],
  ])
  expect(drawn([2, 3], null)).toEqual([
    ['n', [5, 6, 7]],
    ['sum', [50, 60, 70]],
  ])
  expect(drawn([2, 3], 1).map(([label]) => label)).toEqual(['a n', 'a sum', 'b n', 'b sum'])
  const bars = barSeries(result, { x: 1, ys: [2], by: 0 }, 60)
  expect(bars.map(({ label, points }) => [label, points.map(({ x, y }) => [x, y])])).toEqual([
    [
      '1',
      [
        [0, 5],
        [1, 6],
      ],
    ],
    ['2', [[1, 7]]],
  ])
})

test('a row without a value has no bar, and leaves no place for one', () => {
  const withNull = answer({ token: 'text', n: 'bigint' }, [
    ['a', null],
    ['b', '6'],
    ['c', '7'],
  ])
  const [shown] = barSeries(withNull, { x: 0, ys: [1], by: null }, 60)
  expect(shown?.points).toEqual([
    { x: 0, y: 6, rows: [1] },
    { x: 1, y: 7, rows: [2] },
  ])
})

test('the point of a bucket that is not over stands apart from the line that it continues', () => {
  const minute = (n: number) => `2026-11-30T10:0${n}:00Z`
  const rows = [
    [minute(2), 'a', '3'],
    [minute(0), 'a', '9'],
    [minute(1), 'a', '8'],
    [minute(1), 'b', '7'],
  ]
  const result = answer({ minute: 'timestamp', token: 'text', n: 'bigint' }, rows)
  const drawn = (moment: string) => {
    const { series, openAt } = lineSeries(result, { x: 0, ys: [2], by: 1 }, 200, [Date.parse(moment)])
    return [openAt, ...series.map(({ points, open }) => [points, open].map((one) => one.map(({ y }) => y)))]
  }
  expect(drawn('2026-11-30T10:02:30Z')).toEqual([
    Date.parse(minute(2)),
    [
      [9, 8],
      [8, 3],
    ],
    [[7], []],
  ])
  expect(drawn('2026-11-30T10:03:00Z')).toEqual([null, [[9, 8, 3], []], [[7], []]])
})

test('of more than eight names the largest seven have a series each, and the others one of sums', () => {
  const tokens = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i']
  const rows = tokens.flatMap((token, index) => [
    ['1', token, `${index === 1 ? -90 : index + 1}`],
    ['2', token, index === 0 ? null : '1000'],
  ])
  const result = answer({ num: 'bigint', token: 'text', n: 'numeric' }, rows)
  const axes = { x: 0, ys: [2], by: 1 }
  const lines = linesOf(result, axes)
  expect(lines.map(({ label }) => label)).toEqual(['b', 'd', 'e', 'f', 'g', 'h', 'i', '2 others, summed'])
  const rest = lines.at(-1)?.points ?? []
  expect(rest.map(({ x, y }) => [x, y])).toEqual([
    [1, 4],
    [2, 1_000],
  ])
  expect(rest.map((point) => valueText(result, 2, point.rows))).toEqual(['4', '1000'])
  const few = answer({ num: 'bigint', token: 'text', n: 'numeric' }, rows.slice(0, 16))
  expect(linesOf(few, axes).map(({ label }) => label)).toEqual(tokens.slice(0, 8))
  const bars = barSeries(result, { x: 0, ys: [2], by: 1 }, 60)
  expect(bars.at(-1)?.points.map(({ x, y }) => [x, y])).toEqual([
    [0, 4],
    [1, 1_000],
  ])
})

test('values of several rows are added exactly, floats as floats', () => {
  const whole = answer({ n: 'numeric' }, [['100000000000000000000'], ['0.5'], [null]])
  expect(valueText(whole, 0, [0, 1, 2])).toBe('100000000000000000000.5')
  const result = answer({ num: 'bigint', n: 'float' }, [
    ['1', 0.5],
    ['2', 1e3],
    ['3', null],
  ])
  expect(valueText(result, 1, [0, 1, 2])).toBe('1000.5')
  expect([valueText(result, 1, [1]), valueText(result, 1, [2])]).toEqual(['1000', ''])
})
