/**
 * Reads ClickHouse's RowBinaryWithNamesAndTypes into the value table of result.ts. Binary, because JSON would carry bytes
 * as broken text and needs a setting for every wide type.
 * Format: https://clickhouse.com/docs/interfaces/formats/RowBinary
 */

import type { ResultType, SqlValue } from '../result.ts'
import { ByteCursor } from './ByteCursor.ts'
import { type ColumnReader, columnReader } from './columnReader.ts'
import type { ValueType } from './valueType.ts'

export interface DecodedRows {
  readonly columnTypes: readonly ResultType[]
  readonly rows: readonly (readonly SqlValue[])[]
}

/** @throws UserQueryError when a type has no place in the value table or a value is too large */
export function decodeRows(bytes: Buffer, inferred: readonly ValueType[]): DecodedRows {
  const cursor = new ByteCursor(bytes)
  const count = cursor.varint()
  const names = Array.from({ length: count }, () => cursor.text())
  const readers = names.map((name, index) => columnReader(name, cursor.text(), inferred[index]))
  const rows: SqlValue[][] = []
  while (!cursor.isAtEnd) rows.push(readers.map((reader: ColumnReader) => reader.read(cursor)))
  return { columnTypes: readers.map(({ type }) => type), rows }
}
