import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ByteBuffer } from '#ingest/read/json/ByteBuffer.ts'
import { GROUPS_MAX, readGroups, writeDecimal } from './decimal.ts'

/**
 * Values beside which the ways of taking one apart change: what a number holds, a half and a whole
 * word of 64 bits, groups.
 */
const edges = [0n, 10_000n, 10n ** 8n, 1n << 32n, 1n << 53n, 10n ** 16n, 1n << 64n, 10n ** 24n, 1n << 255n]
const uint256 = fc.oneof(
  fc.bigInt({ min: 0n, max: (1n << 256n) - 1n }),
  fc.nat(256).chain((bits) => fc.bigInt({ min: 0n, max: (1n << BigInt(bits)) - 1n })),
  fc
    .tuple(fc.constantFrom(...edges), fc.bigInt({ min: -3n, max: 3n }))
    .map(([edge, by]) => (edge + by < 0n ? 0n : edge + by)),
)

function decimalOf(value: bigint | number, source: ByteBuffer): string {
  const groups = new Uint16Array(GROUPS_MAX)
  const count = readGroups(value, source, groups)
  const text = Buffer.alloc(100)
  return text.toString('latin1', 0, writeDecimal(text, 0, groups, count))
}

describe('a 256-bit value', () => {
  it('has the same digits as a bigint and as bytes', () => {
    fc.assert(
      fc.property(uint256, (value) => {
        const source = new ByteBuffer(64)
        const place = source.putSize(32)
        source.bytes.write(value.toString(16).padStart(64, '0'), place, 'hex')
        source.length += 32
        expect(decimalOf(place, source)).toBe(`${value},`)
        expect(decimalOf(value, source)).toBe(`${value},`)
      }),
      { numRuns: 2000 },
    )
  })
})
