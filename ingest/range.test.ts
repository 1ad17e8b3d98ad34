import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  covers,
  difference,
  formatMultirange,
  intersection,
  normalize,
  parseMultirange,
  splitAligned,
  union,
} from './range.ts'

const range = fc.tuple(fc.nat(60), fc.nat(15)).map(([from, length]) => ({ from, to: from + length }))
const set = fc.array(range, { maxLength: 8 }).map(normalize)
const members = (ranges: readonly { from: number; to: number }[]) => {
  const all = new Set<number>()
  for (const r of ranges) for (let n = r.from; n <= r.to; n++) all.add(n)
  return all
}

test('union, difference and intersection agree with sets of numbers', () => {
  fc.assert(
    fc.property(set, set, (a, b) => {
      const x = members(a)
      const y = members(b)
      expect(members(union(a, b))).toEqual(x.union(y))
      expect(members(difference(a, b))).toEqual(x.difference(y))
      expect(members(intersection(a, b))).toEqual(x.intersection(y))
    }),
  )
})

test('touching ranges become one', () => {
  expect(
    normalize([
      { from: 4, to: 5 },
      { from: 1, to: 3 },
    ]),
  ).toEqual([{ from: 1, to: 5 }])
})

test('a multirange survives its text form', () => {
  fc.assert(
    fc.property(set, (a) => {
      expect(parseMultirange(formatMultirange(a))).toEqual(a)
    }),
  )
})

test('aligned pieces cover the range and straddle no boundary', () => {
  fc.assert(
    fc.property(range, fc.integer({ min: 1, max: 20 }), (r, width) => {
      const pieces = splitAligned(r, width)
      expect(normalize(pieces)).toEqual([r])
      for (const p of pieces) expect(Math.floor(p.from / width)).toBe(Math.floor(p.to / width))
      expect(covers(pieces, { from: r.from, to: r.from })).toBe(true)
    }),
  )
})
