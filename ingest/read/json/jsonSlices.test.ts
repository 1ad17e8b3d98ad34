import fc from 'fast-check'
import { expect, test } from 'vitest'
import { sliceItems, sliceMembers, sliceText } from './jsonSlices.ts'

test('pieces of any JSON are the texts that parse to its members and items', () => {
  const spaced = (value: unknown, space: number) => JSON.stringify(value, null, space)
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.nat(3), (object, space) => {
      const text = spaced(object, space)
      const found = [...(sliceMembers(text) ?? [])].map(([name, slice]) => [
        name,
        JSON.parse(sliceText(text, slice)),
      ])
      expect(new Map(found as [string, unknown][])).toEqual(new Map(Object.entries(JSON.parse(text))))
    }),
  )
  fc.assert(
    fc.property(fc.array(fc.jsonValue()), fc.nat(3), (list, space) => {
      const text = spaced(list, space)
      expect(sliceItems(text)?.map((slice) => JSON.parse(sliceText(text, slice)))).toEqual(JSON.parse(text))
    }),
  )
})

test('what is none of both is null, and cut texts end', () => {
  expect([sliceMembers('[1]'), sliceItems('{}'), sliceMembers('{"a" 1}'), sliceItems('[1 2]')]).toEqual([
    null,
    null,
    null,
    null,
  ])
  for (const cut of ['{', '{"a', '{"a":', '{"a":{"b":[1', '[', '["x', '[1,']) {
    expect(sliceMembers(cut)).toBeNull()
    expect(sliceItems(cut)).toBeNull()
  }
})
