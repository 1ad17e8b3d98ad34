/**
 * The plain reading of the formats, one value after the other: what the generated encoders are
 * compared with. Written from the formats' definitions (Postgres send functions, ClickHouse
 * Native), sharing no code with transform/encode.
 */
import { crc32 } from 'node:zlib'
import type { Column, Table } from '#transform/tables.ts'

export type AnyRow = Readonly<Record<string, unknown>>

export interface SlowEncoding {
  readonly postgres: Buffer
  readonly clickhouse: readonly Buffer[]
  readonly digest: number
}

export function encodeSlowly(table: Table, rows: readonly AnyRow[]): SlowEncoding {
  const tuples = rows.map((row) => {
    const fields = table.columns.map((column) => postgresField(column, row[column.name]))
    return Buffer.concat([int(fields.length, 2), ...fields])
  })
  const streams = table.columns.flatMap((column) => {
    const cells = rows.map((row) => row[column.name])
    const values = Buffer.concat(cells.map((cell) => clickhouseValue(column, cell)))
    return column.nullable ? [Buffer.from(cells.map((cell) => (cell === null ? 1 : 0))), values] : [values]
  })
  return {
    postgres: Buffer.concat(table.stores === 'clickhouse' ? [] : tuples),
    clickhouse: table.stores === 'postgres' ? [] : streams,
    digest: rows.reduce((sum, row) => sum + crc32(canonicalBytes(table, row)), 0),
  }
}

function canonicalBytes(table: Table, row: AnyRow): Buffer {
  return Buffer.concat(
    table.columns.map((column) => {
      const value = row[column.name]
      if (column.isAdded && value === null) return Buffer.of()
      if (column.type !== 'uint256') return postgresField(column, value)
      return Buffer.from(`${value === null ? '-' : String(value)},`)
    }),
  )
}

function postgresField(column: Column, value: unknown): Buffer {
  if (value === null) return int(-1, 4)
  const bytes = postgresValue(column, value)
  return Buffer.concat([int(bytes.length, 4), bytes])
}

function postgresValue({ type }: Column, value: unknown): Buffer {
  switch (type) {
    case 'uint8':
    case 'int8':
      return int(Number(value), 2)
    case 'uint32':
      return int(Number(value), 4)
    case 'uint53':
    case 'uint64':
      return int(BigInt(value as bigint), 8)
    case 'bool':
      return int(value ? 1 : 0, 1)
    case 'seconds':
      return int((BigInt(value as number) - 946_684_800n) * 1_000_000n, 8)
    case 'uint256':
      return numeric(value as bigint)
    default:
      return plainBytes(value)
  }
}

function numeric(value: bigint): Buffer {
  const digits: number[] = []
  for (let rest = value; rest > 0n; rest /= 10_000n) digits.unshift(Number(rest % 10_000n))
  const weight = Math.max(digits.length - 1, 0)
  while (digits.at(-1) === 0) digits.pop()
  return Buffer.concat([digits.length, weight, 0, 0, ...digits].map((word) => int(word, 2)))
}

function clickhouseValue({ type }: Column, value: unknown): Buffer {
  switch (type) {
    case 'uint8':
    case 'int8':
      return little(BigInt(Number(value ?? 0)), 1)
    case 'bool':
      return little(value ? 1n : 0n, 1)
    case 'uint32':
    case 'seconds':
      return little(BigInt((value ?? 0) as number), 4)
    case 'uint53':
    case 'uint64':
      return little(BigInt((value ?? 0) as bigint), 8)
    case 'uint256':
      return little((value ?? 0n) as bigint, 32)
    case 'address':
      return value === null ? Buffer.alloc(20) : plainBytes(value)
    case 'hash':
      return value === null ? Buffer.alloc(32) : plainBytes(value)
    default: {
      const bytes = value === null ? Buffer.alloc(0) : plainBytes(value)
      return Buffer.concat([varint(bytes.length), bytes])
    }
  }
}

function plainBytes(value: unknown): Buffer {
  if (value instanceof Uint8Array) return Buffer.from(value)
  const text = String(value)
  return text.startsWith('0x') ? Buffer.from(text.slice(2), 'hex') : Buffer.from(text)
}

function int(value: number | bigint, bytes: number): Buffer {
  return little(BigInt(value), bytes).reverse()
}

function little(value: bigint, bytes: number): Buffer {
  const unsigned = BigInt.asUintN(bytes * 8, value)
  return Buffer.from(Array.from({ length: bytes }, (_, i) => Number((unsigned >> BigInt(8 * i)) & 0xffn)))
}

function varint(value: number): Buffer {
  const bytes: number[] = []
  let rest = value
  while (rest > 127) {
    bytes.push((rest & 127) | 128)
    rest >>= 7
  }
  return Buffer.from([...bytes, rest])
}
