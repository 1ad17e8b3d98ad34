import { expect, it } from 'vitest'
import { type Label, labelled, several } from './labels.ts'

const cases: readonly (readonly [string[], Label[], string[]])[] = [
  [
    ['num', 'count'],
    ['Num', undefined],
    ['Num', 'count'],
  ],
  [
    ['a', 'b', 'c', 'd'],
    ['A', several, 'D'],
    ['A', 'b', 'c', 'D'],
  ],
  [
    ['a', 'b', 'c'],
    [several, 'B', several],
    ['a', 'b', 'c'],
  ],
  [['a'], ['Other'], ['a']],
]

it.each(cases)('names %j by %j', (names, labels, expected) => {
  expect(labelled(names, labels)).toEqual(expected)
})
