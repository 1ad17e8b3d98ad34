import { describe, expect, it } from 'vitest'
import { keccak256, keccak256Hex, keccak256Latin1 } from './keccak.ts'

describe('keccak256', () => {
  it.each([
    ['', 'c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470'],
    ['abc', '4e03657aea45a94fc7d47ba826c8d667c0d1e6e33a64a036ec44f58fa12d6c45'],
  ])('of %j is %s, not the later SHA-3', (text, expected) => {
    expect(keccak256Hex(Buffer.from(text))).toBe(`0x${expected}`)
    expect(Buffer.from(keccak256(Buffer.from(text))).toString('hex')).toBe(expected)
    expect(Buffer.from(keccak256Latin1(Buffer.from(text)), 'latin1').toString('hex')).toBe(expected)
  })
})
