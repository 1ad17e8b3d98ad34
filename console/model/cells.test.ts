// Goal: values of any size are ordered and written as what they are. Method: examples, and
// random decimals against bigint.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { compareCells } from './cells.ts'
import { toCsv, toJson } from './csv.ts'
import { compareDecimals, sumOfDecimals } from './decimal.ts'
import type { Cell } from './queryAnswer.ts'

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
