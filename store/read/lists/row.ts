import pg from 'pg'
import type { Row, TableName } from '#transform/tables.ts'

/**
 * A stored row as readers use it: bytes as lowercase hex, timestamps as Unix seconds, 256-bit
 * values as bigint. The names are the table's own; the change to the API's names happens once, in
 * an endpoint's `present`.
 */
export type StoredRow<Name extends TableName> = {
  readonly [Column in keyof Row<Name>]: Stored<Row<Name>[Column]>
}

type Stored<V> = V extends Uint8Array ? never : V extends string ? string : V

const { BYTEA, INT8, NUMERIC, TIMESTAMPTZ } = pg.types.builtins
const readMoment: (text: string) => Date = pg.types.getTypeParser(TIMESTAMPTZ)

/**
 * Makes the rows of a statement stored rows: the driver reads each value once, as what it is shown
 * as.
 */
export const storedTypes = new pg.TypeOverrides()
storedTypes.setTypeParser(BYTEA, (text) => `0x${text.slice(2)}`)
storedTypes.setTypeParser(INT8, readInteger)
storedTypes.setTypeParser(NUMERIC, (text) => BigInt(text))
storedTypes.setTypeParser(TIMESTAMPTZ, (text) => readMoment(text).getTime() / 1000)

/**
 * A number where it is exact, else a bigint: heights are the first, a nonce or gas may be the
 * second. No column of 64 bits is below zero: what is so are the bits of a `uint64` (tables.ts).
 */
function readInteger(text: string): number | bigint {
  const number = Number(text)
  return Number.isSafeInteger(number) && number >= 0 ? number : BigInt.asUintN(64, BigInt(text))
}
