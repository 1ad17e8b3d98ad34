// Goal: values of any size are ordered, drawn and written as what they are. Method: examples, and
// random decimals against bigint.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { chooseAxes, linePoints, thin } from './axes.ts'
import { compareCells } from './cells.ts'
import { toCsv, toJson } from './csv.ts'
import { compareDecimals } from './decimal.ts'
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
  expect(axes({ num: 'bigint', timestamp: 'timestamp', gas: 'bigint' })).toEqual({ x: 1, y: 2 })
  expect(axes({ gas: 'bigint', block_num: 'bigint' })).toEqual({ x: 1, y: 0 })
  expect(axes({ token: 'bytes', n: 'bigint' })).toEqual({ x: 0, y: 1 })
  expect(axes({ token: 'bytes' })).toBeNull()
  expect(axes({ n: 'bigint' })).toBeNull()
})

test('points without a value are left out, and a spike outlives thinning', () => {
  const rows = Array.from({ length: 5_000 }, (_, index) => [
    `${index}`,
    index === 4_321 ? '999' : index % 7 ? '1' : null,
  ])
  const points = linePoints(answer({ num: 'bigint', n: 'bigint' }, rows), { x: 0, y: 1 }, 200)
  expect(points.length).toBeLessThanOrEqual(220)
  expect(points.find(({ y }) => y === 999)).toEqual({ x: 4_321, y: 999, row: 4_321 })
  expect(thin(points, 1_000)).toEqual(points)
})
