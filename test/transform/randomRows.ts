/**
 * Rows of any table, valid but otherwise arbitrary: every type, its edges, and NULL wherever it may
 * be.
 */
import fc from 'fast-check'
import type { Column, ColumnType, Table } from '#transform/tables.ts'
import type { AnyRow } from './slowEncoder.ts'

export function arbitraryRow(table: Table): fc.Arbitrary<AnyRow> {
  return fc.record(Object.fromEntries(table.columns.map((column) => [column.name, arbitraryCell(column)])))
}

function arbitraryCell({ type, nullable }: Column): fc.Arbitrary<unknown> {
  return nullable ? fc.option(arbitraryValue[type], { freq: 4 }) : arbitraryValue[type]
}

const hex = (bytesMin: number, bytesMax: number): fc.Arbitrary<string> =>
  fc
    .uint8Array({ minLength: bytesMin, maxLength: bytesMax })
    .map((bytes) => `0x${Buffer.from(bytes).toString('hex')}`)

/**
 * From a handful of values half of the time, so that neighbouring rows repeat them as real rows do.
 */
const repeating = (width: number): fc.Arbitrary<string> => {
  const few = fc.constantFrom(
    ...[0, 1, 255].map((byte) => `0x${byte.toString(16).padStart(2, '0').repeat(width)}`),
  )
  return fc.oneof(few, hex(width, width))
}

const safe = Number.MAX_SAFE_INTEGER
const uint256Max = (1n << 256n) - 1n

const arbitraryValue: Readonly<Record<ColumnType, fc.Arbitrary<unknown>>> = {
  uint8: fc.integer({ min: 0, max: 255 }),
  int8: fc.integer({ min: -128, max: 127 }),
  uint32: fc.oneof(fc.nat(), fc.constantFrom(0, 0x7fff_ffff)),
  uint53: fc.oneof(fc.maxSafeNat(), fc.constantFrom(0, 2 ** 31, 2 ** 32, safe)),
  uint64: fc.oneof(
    fc.maxSafeNat(),
    fc.constantFrom(0, 2 ** 32, safe),
    fc.bigInt({ min: 0n, max: (1n << 64n) - 1n }),
    fc.constantFrom(0n, BigInt(safe) + 1n, (1n << 63n) - 1n, 1n << 63n, (1n << 64n) - 1n),
  ),
  bool: fc.boolean(),
  seconds: fc.oneof(fc.integer({ min: 0, max: 0xffff_ffff }), fc.constantFrom(0, 946_684_799, 0xffff_ffff)),
  address: repeating(20),
  hash: repeating(32),
  bytes: fc.oneof(
    hex(0, 40),
    fc.uint8Array({ maxLength: 40 }),
    fc.constantFrom(`0x${'ab'.repeat(127)}`, `0x${'cd'.repeat(128)}`, `0x${'ef'.repeat(20_000)}`),
  ),
  text: fc.oneof(
    fc.string({ unit: 'grapheme' }).map((text) => text.replaceAll('\0', '').replace(/^0x/, '')),
    fc.constant('[{"to":null,"value":"0x0","input":"0x"}]'),
  ),
  uint256: fc.oneof(
    fc.bigInt({ min: 0n, max: uint256Max }),
    fc.bigInt({ min: 0n, max: BigInt(safe) * 2n }),
    fc.constantFrom(
      0n,
      1n,
      9999n,
      10_000n,
      10n ** 18n,
      BigInt(safe),
      BigInt(safe) + 1n,
      10n ** 77n,
      uint256Max,
    ),
  ),
}
