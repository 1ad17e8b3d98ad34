import type { Row } from '#transform/tables.ts'
import { type Column, type TableName, tables } from '#transform/tables.ts'

/**
 * A stored row as readers use it: bytes as lowercase hex, timestamps as Unix seconds, 256-bit values as bigint. The names
 * are the table's own; the change to the API's names happens once, in an endpoint's `present`.
 */
export type StoredRow<Name extends TableName> = {
  readonly [Column in keyof Row<Name>]: Stored<Row<Name>[Column]>
}

type Stored<V> = V extends Uint8Array ? never : V extends string ? string : V

/** Decodes a row as the `pg` driver gives it. */
export function decodePostgresRow<Name extends TableName>(
  table: Name,
  row: Readonly<Record<string, unknown>>,
): StoredRow<Name> {
  const decoded: Record<string, unknown> = {}
  for (const column of tables[table].columns) decoded[column.name] = decodeValue(column, row[column.name])
  return decoded as StoredRow<Name>
}

function decodeValue({ name, type }: Column, value: unknown): unknown {
  if (value === null || value === undefined) return null
  if (value instanceof Uint8Array)
    return `0x${Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('hex')}`
  if (value instanceof Date) return value.getTime() / 1000
  if (type === 'uint256') return BigInt(String(value))
  if (typeof value === 'number' || typeof value === 'boolean' || typeof value === 'string') return value
  throw new TypeError(`column ${name} came as ${typeof value}`)
}
