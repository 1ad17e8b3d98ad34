import { expect, test } from 'vitest'
import { rangeBelow } from './rangeBelow.ts'

test('a range that the chain has stays, one beyond it is cut and told', () => {
  expect(rangeBelow({ from: 3, to: 470 }, 470, 'head')).toEqual({ range: { from: 3, to: 470 }, note: null })
  expect(rangeBelow({ from: 0, to: 100_000 }, 470, 'head')).toEqual({
    range: { from: 0, to: 470 },
    note: 'head is 470: blocks 471 to 100000 are left out',
  })
})

test('a range of which nothing is there is refused by its bound', () => {
  expect(() => rangeBelow({ from: 471, to: 500 }, 470, 'head')).toThrow(
    '--from: block 471 is not there yet: head is 470',
  )
  expect(() => rangeBelow({ from: 9, to: 8 }, 470, 'head')).toThrow(
    '--to: block 8 is below --from, which is 9',
  )
})
