import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fullTest } from '#test/support/breadth.ts'
import { plainTrieRoot } from '#test/support/plainTrie.ts'
import { RlpWriter } from './rlp.ts'
import { orderedTrieRoot } from './trie.ts'

function rootOf(values: readonly Uint8Array[]): string {
  const writer = new RlpWriter()
  const root = orderedTrieRoot(writer, values.length, (index) =>
    writer.writeBytes(values[index] ?? Buffer.of()),
  )
  expect(writer.written).toBe(0)
  return root
}

function plainRootOf(values: readonly Uint8Array[]): string {
  return plainTrieRoot(values.map((value) => `0x${Buffer.from(value).toString('hex')}` as const))
}

describe('orderedTrieRoot', () => {
  it('gives the well-known root of no items', () => {
    expect(rootOf([])).toBe('0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421')
  })

  it('agrees with a trie built plainly, for any few values, short ones inlined', () => {
    const value = fc.uint8Array({ minLength: 1, maxLength: 40 })
    fc.assert(
      fc.property(fc.array(value, { maxLength: 40 }), (values) => rootOf(values) === plainRootOf(values)),
    )
  })

  // 127 to 129 and 255 to 257 items are where the keys grow a byte.
  it.each([1, 2, 15, 16, 17, 126, 127, 128, 129, 255, 256, 257, 600])('agrees for %i items', (count) => {
    const values = Array.from({ length: count }, (_, index) =>
      Buffer.from(`value ${index} of ${count}`.repeat(1 + (index % 4))),
    )
    expect(rootOf(values)).toBe(plainRootOf(values))
  })

  fullTest('agrees for more items than two bytes can number', () => {
    const values = Array.from({ length: 65_540 }, (_, index) => Buffer.from(`${index}`))
    expect(rootOf(values)).toBe(plainRootOf(values))
  })
})
