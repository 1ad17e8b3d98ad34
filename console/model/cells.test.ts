// Goal: values of any size are ordered, drawn and written as what they are. Method: examples, and
// random decimals against bigint.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { barSeries, chooseAxes, lineSeries, thin } from './axes.ts'
import { compareCells } from './cells.ts'
import { toCsv, toJson } from './csv.ts'
import { compareDecimals, sumOfDecimals } from './decimal.ts'
import type { Cell, QueryAnswer } from './queryAnswer.ts'

const answer = (columns: Record<string, string>, rows: readonly (readonly Cell[])[]): QueryAnswer => ({
  engine: 'postgres',
  columns: Object.keys(columns),
  columnTypes: Object.values(columns),
  rows,
  truncated: false,
  elapsedMs: 1,
  horizon: null,
})

test('decimals of 256 bits are ordered exactly', () => {
  const integer = fc.bigInt({ min: -(2n ** 256n), max: 2n ** 256n })
  fc.assert(
    fc.property(integer, integer, (a, b) => {
      const order = compareDecimals(`${a}`, `${b}`)
      expect([order < 0, order > 0]).toEqual([a < b, a > b])
    }),
  )
  const ascending = ['-10', '-1.5', '-1.25', '-0', '0.001', '0.01', '1', '1.0000001', '9', '10']
  expect(ascending.toReversed().toSorted(compareDecimals)).toEqual(ascending)
  expect(compareDecimals('-0', '0')).toBe(0)
})

test('decimals are summed exactly', () => {
  expect(sumOfDecimals(['0.1', '0.2', '1', '-0.05'])).toBe('1.25')
  expect([sumOfDecimals([]), sumOfDecimals(['0.10', '-0.1']), sumOfDecimals(['0.1', '-1'])]).toEqual([
    '0',
    '0',
    '-0.9',
  ])
  expect(sumOfDecimals(['99999999999999999999.000000000000000001', '1'])).toBe(
    '100000000000000000000.000000000000000001',
  )
})

test('a column is ordered by its type, NULL last and NaN above every number', () => {
  const sorted = (type: string, cells: readonly Cell[]) => cells.toSorted(compareCells(type))
  expect(sorted('bigint', ['10', null, '9'])).toEqual(['9', '10', null])
  expect(sorted('text', ['10', null, '9'])).toEqual(['10', '9', null])
  expect(sorted('float', ['NaN', 2, null, 'Infinity', 1])).toEqual([1, 2, 'Infinity', 'NaN', null])
})

test('a CSV tells NULL from an empty text, and quotes what it must', () => {
  const rows = [
    [null, ''],
    ['a,b', 'say "hi"'],
    ['two\nlines', { x: [1] }],
  ]
  expect(toCsv({ columns: ['a', 'b "c"'], rows })).toBe(
    'a,"b ""c"""\r\n,""\r\n"a,b","say ""hi"""\r\n"two\nlines","{""x"":[1]}"\r\n',
  )
})

test('JSON keeps columns of one name apart', () => {
  expect(JSON.parse(toJson({ columns: ['n', 'n', 'n_2'], rows: [[1, 2, 3]] }))).toEqual([
    { n: 1, n_2: 2, n_2_2: 3 },
  ])
})

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
  const [line] = lineSeries(answer({ num: 'bigint', n: 'bigint' }, rows), { x: 0, ys: [1], by: null }, 200)
  expect(line?.points.length).toBeLessThanOrEqual(220)
  expect(line?.points.find(({ y }) => y === 999)).toEqual({ x: 4_321, y: 999, row: 4_321 })
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
  const [line] = lineSeries(answer({ hour: 'bigint', n: 'bigint' }, rows), { x: 0, ys: [1], by: null }, 200)
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
    lineSeries(result, { x: 0, ys, by }, 200).map(({ label, points }) => [label, points.map(({ y }) => y)])
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
    { x: 0, y: 6, row: 1 },
    { x: 1, y: 7, row: 2 },
  ])
})
