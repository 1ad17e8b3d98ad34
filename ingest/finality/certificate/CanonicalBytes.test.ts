import { describe, expect, it } from 'vitest'
import { CanonicalBytes, CanonicalBytesError, varintBytes } from './CanonicalBytes.ts'

const read = (...bytes: number[]) => {
  const rest = new CanonicalBytes(Uint8Array.from(bytes))
  const value = rest.varint()
  rest.end()
  return value
}

describe('numbers of seven bits a byte', () => {
  it.each([0, 1, 127, 128, 300, 16_383, 16_384, 21_600, 2 ** 32, Number.MAX_SAFE_INTEGER])(
    '%i is read from the bytes that are written of it',
    (value) => {
      expect(read(...varintBytes(value))).toBe(value)
    },
  )

  it.each([
    ['zero in two bytes', [0x80, 0x00]],
    ['one in two bytes', [0x81, 0x00]],
    ['300 in three bytes', [0xac, 0x82, 0x00]],
    ['2^53', [0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x10]],
    ['nine bytes', [0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01]],
    ['no end', [0x80, 0x80]],
    ['nothing', []],
    ['a byte behind it', [0x05, 0x00]],
  ])('%s is refused', (_what, bytes) => {
    expect(() => read(...bytes)).toThrow(CanonicalBytesError)
  })
})

it('a flag is 0 or 1', () => {
  expect(new CanonicalBytes(Uint8Array.of(0)).flag()).toBe(false)
  expect(new CanonicalBytes(Uint8Array.of(1)).flag()).toBe(true)
  expect(() => new CanonicalBytes(Uint8Array.of(2)).flag()).toThrow(CanonicalBytesError)
})
