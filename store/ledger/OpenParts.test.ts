import { expect, test } from 'vitest'
import { archiveBlock } from '#transform/decode/archive.ts'
import { OpenParts } from './OpenParts.ts'

const transactions = [{ hash: '0x01', value: 1 }]
const [, packed = new Uint8Array()] = archiveBlock({ number: 1, block: { transactions }, receipts: [] })
const never = () => {
  throw new Error('unpacked again')
}

test('a part is unpacked once, and again once others took its place', () => {
  const once = new OpenParts()
  const part = { blockHash: '0xaa', part: 1 }
  expect(once.open(part, () => packed).transaction(0)).toEqual(transactions[0])
  expect(once.open(part, never).transaction(0)).toEqual(transactions[0])

  const few = new OpenParts(2.5 * once.bytes)
  const nth = (n: number) => ({ blockHash: '0xaa', part: n })
  for (const n of [1, 2]) few.open(nth(n), () => packed)
  few.open(nth(1), never)
  few.open(nth(3), () => packed)
  expect(few.bytes).toBe(2 * once.bytes)
  few.open(nth(1), never)
  expect(() => few.open(nth(2), never)).toThrow('unpacked again')
})

test('the same place of another block is another part', () => {
  const parts = new OpenParts()
  parts.open({ blockHash: '0xaa', part: 1 }, () => packed)
  expect(() => parts.open({ blockHash: '0xbb', part: 1 }, never)).toThrow('unpacked again')
})
