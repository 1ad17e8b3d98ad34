import { expect, test } from 'vitest'
import { RepeatedHead } from './RepeatedHead.ts'

/** With its length in front, in seven bits a byte. */
const text = (value: string): number[] => {
  const { length } = value
  const inFront = length < 128 ? [length] : [(length & 0x7f) | 0x80, length >> 7]
  return [...inFront, ...Buffer.from(value)]
}

const headOf = (...texts: readonly string[]) => [texts.length / 2, ...texts.flatMap(text)]

test('the first block keeps its head, the others lose it, names of any length', () => {
  for (const head of [headOf('n', 'UInt8'), headOf('a', 'x'.repeat(300), 'UInt8', 'String')]) {
    const stripped = new RepeatedHead()
    const blocks = [[1, 2], [3], []].map((rows) => [...stripped.strip(Uint8Array.from([...head, ...rows]))])
    expect(blocks).toEqual([[...head, 1, 2], [3], []])
  }
})

test('a block with another head is refused', () => {
  const stripped = new RepeatedHead()
  stripped.strip(Uint8Array.from(headOf('n', 'UInt8')))
  expect(() => stripped.strip(Uint8Array.from(headOf('m', 'UInt8')))).toThrow(/columns of its own/)
})
