import { describe, expect, test } from 'vitest'
import { sliceRange } from './sliceRange.ts'

const range = { from: 100, to: 101 }
const results: readonly unknown[] = [{ b: 100 }, ['r100'], { b: 101 }, []]

const withVersion = (id: number, result: unknown) => ({ jsonrpc: '2.0', id, result })
const short = (id: number, result: unknown) => ({ id, result })

function sliced(items: readonly object[]): unknown {
  const answers = sliceRange(Buffer.from(JSON.stringify(items)), range)
  return answers?.map(({ number, block, receipts }) => [
    number,
    JSON.parse(block.toString()),
    JSON.parse(receipts.toString()),
  ])
}

describe.each([
  ['as nodes write them', withVersion],
  ['without a version', short],
])('items %s', (_, itemOf) => {
  const expected = [
    [100, results[0], results[1]],
    [101, results[2], results[3]],
  ]
  const items = results.map((result, id) => itemOf(id, result))

  test('are found in whatever order they come', () => {
    expect(sliced(items)).toEqual(expected)
    expect(sliced(items.toReversed())).toEqual(expected)
  })

  test('are found beside objects inside of them that begin alike', () => {
    const inner = { deep: [1, itemOf(3, 0)], next: itemOf(2, 'j') }
    expect(sliced([itemOf(0, inner), ...items.slice(1)])).toEqual([[100, inner, results[1]], expected[1]])
  })

  test('are left to the parser when one is missing, twice there, or not asked for', () => {
    expect(sliced(items.slice(1))).toBe(undefined)
    expect(sliced([...items, itemOf(0, {})])).toBe(undefined)
    expect(sliced([...items.slice(1), itemOf(4, {})])).toBe(undefined)
  })
})
