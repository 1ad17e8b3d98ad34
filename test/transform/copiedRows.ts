/** The numbers of rows, read out of the bytes of COPY as Postgres would. */
import type { Column, Table } from '#transform/tables.ts'

/** By row, the values of all columns that are numbers. */
export function copiedNumbers(table: Table, bytes: Uint8Array): ReadonlyMap<string, bigint | null>[] {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const rows: Map<string, bigint | null>[] = []
  for (let at = 0; at < view.length; ) {
    at += 2
    const row = new Map<string, bigint | null>()
    for (const column of table.columns) {
      const length = view.readInt32BE(at)
      at += 4
      const value = length < 0 ? null : readNumber(column, view.subarray(at, at + length))
      if (value !== undefined) row.set(column.name, value)
      at += Math.max(length, 0)
    }
    rows.push(row)
  }
  return rows
}

/** Undefined where the column holds no number. */
function readNumber({ type }: Column, field: Buffer): bigint | undefined {
  switch (type) {
    case 'uint8':
    case 'int8':
      return BigInt(field.readInt16BE())
    case 'uint32':
      return BigInt(field.readInt32BE())
    case 'uint53':
      return field.readBigInt64BE()
    case 'uint64':
      return field.readBigUInt64BE()
    case 'seconds':
      return field.readBigInt64BE() / 1_000_000n + 946_684_800n
    case 'uint256':
      return readNumeric(field)
    default:
      return undefined
  }
}

/** Groups of four digits; those left out at the end are zeros. */
function readNumeric(field: Buffer): bigint {
  const [count, weight] = [field.readInt16BE(0), field.readInt16BE(2)]
  let value = 0n
  for (let index = 0; index <= weight; index++)
    value = value * 10_000n + BigInt(index < count ? field.readInt16BE(8 + 2 * index) : 0)
  return value
}
