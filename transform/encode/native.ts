/**
 * ClickHouse's Native format: a block is a header, then column after column its name, its type and
 * its values. A nullable column has two streams, null map and values; concatenating streams of
 * several pieces gives a valid column.
 */
import { assertNotReleased, type EncodedTable } from '../batch.ts'
import type { Column, ColumnType, Table } from '../tables.ts'

export interface NativeStream {
  readonly column: string
  readonly kind: 'nulls' | 'values'
  /** Bytes of one value, or null for strings, which carry their length. */
  readonly width: number | null
}

const types: Readonly<Record<ColumnType, { readonly name: string; readonly width: number | null }>> = {
  uint8: { name: 'UInt8', width: 1 },
  int8: { name: 'Int8', width: 1 },
  uint32: { name: 'UInt32', width: 4 },
  uint53: { name: 'UInt64', width: 8 },
  uint64: { name: 'UInt64', width: 8 },
  bool: { name: 'Bool', width: 1 },
  seconds: { name: "DateTime('UTC')", width: 4 },
  address: { name: 'FixedString(20)', width: 20 },
  hash: { name: 'FixedString(32)', width: 32 },
  bytes: { name: 'String', width: null },
  text: { name: 'String', width: null },
  uint256: { name: 'UInt256', width: 32 },
}

/** A column's type as ClickHouse spells it. */
export function clickhouseType(column: Column): string {
  const { name } = types[column.type]
  return column.nullable ? `Nullable(${name})` : name
}

/**
 * The streams of a table in the order of `EncodedTable.clickhouse`; none for a Postgres-only table.
 */
export function nativeStreams(table: Table): readonly NativeStream[] {
  if (table.stores === 'postgres') return []
  return table.columns.flatMap(({ name, type, nullable }): NativeStream[] => {
    const values: NativeStream = { column: name, kind: 'values', width: types[type].width }
    return nullable ? [{ column: name, kind: 'nulls', width: 1 }, values] : [values]
  })
}

/**
 * One Native block of all rows of the pieces, as buffers to be sent one after the other. Nothing is
 * copied.
 */
export function nativeBlock(table: Table, pieces: readonly EncodedTable[]): Uint8Array[] {
  const rowCount = pieces.reduce((sum, piece) => sum + piece.rowCount, 0)
  const buffers: Uint8Array[] = [nativeHeader(table, rowCount)]
  let stream = 0
  for (const column of table.columns) {
    buffers.push(nativeColumnHeader(column))
    for (let left = column.nullable ? 2 : 1; left > 0; left--, stream++) {
      for (const piece of pieces) {
        const bytes = piece.clickhouse[stream]
        if (bytes === undefined) throw new Error(`${table.name} has no stream ${stream}`)
        assertNotReleased(bytes)
        if (bytes.byteLength > 0) buffers.push(bytes)
      }
    }
  }
  return buffers
}

/** The opening of a block: count of columns, count of rows. */
const nativeHeader = (table: Table, rowCount: number): Uint8Array =>
  Uint8Array.from([...varint(table.columns.length), ...varint(rowCount)])

/** The opening of a column: name and type. */
const nativeColumnHeader = (column: Column): Uint8Array =>
  Uint8Array.from([...prefixed(column.name), ...prefixed(clickhouseType(column))])

function prefixed(text: string): number[] {
  const bytes = Buffer.from(text)
  return [...varint(bytes.length), ...bytes]
}

function varint(value: number): number[] {
  const bytes: number[] = []
  let rest = value
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 128)
  return [...bytes, rest]
}
