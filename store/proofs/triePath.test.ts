import { expect, it } from 'vitest'
import { keccak256Hex } from '#ingest/verify/tries/keccak.ts'
import { plainTrieRoot } from '#test/support/plainTrie.ts'
import { triePath } from './triePath.ts'

const rootOf = (values: readonly Uint8Array[]): string =>
  plainTrieRoot(values.map((value) => `0x${Buffer.from(value).toString('hex')}` as const))

// 127 to 129 and 255 to 257 items are where the keys grow a byte; short values stand in their parents.
it.each([1, 2, 15, 16, 17, 127, 128, 129, 255, 256, 257, 600])(
  'begins at the root and ends at the item, for any of %i items',
  (count) => {
    for (const size of [3, 40, 300]) {
      const values = Array.from({ length: count }, (_, index) =>
        Buffer.from(`${index}:`.padEnd(size, `value ${index} `)),
      )
      const root = rootOf(values)
      for (const index of [0, 1, Math.floor(count / 2), count - 1].filter((each) => each < count)) {
        const path = triePath(values, index)
        expect(keccak256Hex(path[0] ?? Buffer.of())).toBe(root)
        const value = values[index] ?? Buffer.of()
        expect(Buffer.from(path.at(-1) ?? Buffer.of()).includes(value)).toBe(true)
        for (const [depth, node] of path.slice(1).entries())
          expect(Buffer.from(path[depth] ?? Buffer.of()).toString('hex')).toContain(
            keccak256Hex(node).slice(2),
          )
      }
    }
  },
)

it('of no items is empty', () => {
  expect(triePath([], 0)).toEqual([])
})
