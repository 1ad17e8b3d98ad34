// Goal: a link brings back the columns of a chart, and nothing that a result has not. Method: examples.
import { expect, test } from 'vitest'
import { axesFields, axesOfFields, pickAxes } from './namedAxes.ts'

const answer = {
  columns: ['minute', 'token', 'n', 'two\twords', 'sum'],
  columnTypes: ['timestamp', 'text', 'bigint', 'float', 'numeric'],
}

test('columns come back by their names', () => {
  for (const axes of [
    { x: 0, ys: [2], by: null },
    { x: 0, ys: [2, 3, 4], by: 1 },
    { x: 1, ys: [4], by: null },
  ])
    expect(axesOfFields(axesFields(axes, answer), answer)).toEqual(axes)
})

test('a column that the result has not, or that cannot be drawn there, is left out', () => {
  expect(axesOfFields(pickAxes({ sql: 'SELECT 1', view: 'x' }), answer)).toBeNull()
  expect(axesOfFields({ x: 'hour', y: 'n' }, answer)).toBeNull()
  expect(axesOfFields({ x: 'minute', y: 'token' }, answer)).toBeNull()
  expect(axesOfFields({ x: 'minute', y: 'n\ngone', by: 'minute' }, answer)).toEqual({
    x: 0,
    ys: [2],
    by: null,
  })
})
