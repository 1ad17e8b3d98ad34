/**
 * Columns for the formats that have types: the same on both engines, chosen before the first row.
 *
 * | result type       | column                    |                                                          |
 * | ----------------- | ------------------------- | -------------------------------------------------------- |
 * | int, bigint       | int64                     | a value beyond 64 signed bits fails instead of wrapping  |
 * | numeric           | string                    | decimal; 256-bit amounts fit no number of these formats  |
 * | bytes             | bytes                     |                                                          |
 * | bool              | bool                      |                                                          |
 * | float             | float64                   |                                                          |
 * | timestamp         | milliseconds in UTC       | whole seconds; Parquet has no coarser unit               |
 * | date              | days                      |                                                          |
 * | all others        | string                    | arrays, records and JSON as JSON text                    |
 */
import type { ResultRow, ResultType, SqlValue } from '#query/result.ts'
import { UserQueryError } from '#query/UserQueryError.ts'
import { uniqueNames } from './textEncoders.ts'

export type ColumnKind = 'int64' | 'string' | 'bytes' | 'bool' | 'float64' | 'milliseconds' | 'days'

/** A value of a kind: bigint, string, bytes, boolean or number (of milliseconds or days, too). */
export type ColumnValue = bigint | string | Uint8Array | boolean | number | null

export interface ColumnarColumn {
  readonly name: string
  readonly kind: ColumnKind
  /** @throws UserQueryError `sql_failed` for an integer that does not fit */
  readonly read: (value: SqlValue) => ColumnValue
}

export function columnarColumns(
  names: readonly string[],
  types: readonly ResultType[],
): readonly ColumnarColumn[] {
  return uniqueNames(names).map((name, index) => {
    const kind = kindOf(types[index] ?? 'text')
    const read = readers[kind]
    return { name, kind, read: (value) => (value === null ? null : read(value, name)) }
  })
}

/** One column's values of some rows. */
export const valuesOf = (
  rows: readonly ResultRow[],
  { read }: ColumnarColumn,
  index: number,
): ColumnValue[] => rows.map((row) => read(row[index] ?? null))

function kindOf(type: ResultType): ColumnKind {
  switch (type) {
    case 'int':
    case 'bigint':
      return 'int64'
    case 'bytes':
      return 'bytes'
    case 'bool':
      return 'bool'
    case 'float':
      return 'float64'
    case 'timestamp':
      return 'milliseconds'
    case 'date':
      return 'days'
    default:
      return 'string'
  }
}

type Given = Exclude<SqlValue, null>

const readers: Readonly<Record<ColumnKind, (value: Given, name: string) => ColumnValue>> = {
  int64: (value, name) => {
    const wide = BigInt(String(value))
    if (BigInt.asIntN(64, wide) !== wide) throw tooWide(name)
    return wide
  },
  string: (value) => (typeof value === 'object' ? JSON.stringify(value) : String(value)),
  bytes: (value) => Buffer.from(String(value).slice(2), 'hex'),
  bool: (value) => value === true,
  float64: Number,
  milliseconds: (value) => Date.parse(String(value)),
  days: (value) => Date.parse(String(value)) / 86_400_000,
}

const tooWide = (name: string): UserQueryError =>
  new UserQueryError('sql_failed', `a value of "${name}" does not fit 64 signed bits`, {
    hint: 'cast the column to text or to numeric',
  })
