/**
 * SQL of Postgres is written with these: quoting, parameters, and the conditions that an index
 * repeats word by word.
 */
import { tip20 } from '#transform/addresses.ts'

/**
 * Double-quotes an identifier of ours. Schema names are built from a chain id, so this is a guard,
 * not an escape hatch.
 */
export function quoteIdentifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

/**
 * The number in a `uint64` column (tables.ts), as numeric: a bigint holds its bits. Where the
 * column is NULL, so is this.
 */
export const uint64Sql = (column: string): string =>
  `CASE WHEN ${column} < 0 THEN ${column} + 18446744073709551616 ELSE ${column} END`

/** A relation as SQL names it: schema and name, both quoted. */
export const relationOf = (schema: string, name: string): string =>
  `${quoteIdentifier(schema)}.${quoteIdentifier(name)}`

export const schemaOf = (chainId: number): string => `chain_${chainId}`
export const viewSchemaOf = (chainId: number): string => `chain_${chainId}_sql`
/** The schema of views that were replaced at a moment, until nobody reads them. */
export const replacedViewSchemaOf = (chainId: number, moment: string): string =>
  `chain_${chainId}_sql_replaced_${moment}`

/** `0x…` to bytes and back; the drivers speak Buffers. */
export const toBytes = (hex: string): Buffer => Buffer.from(hex.slice(2), 'hex')
export const toHex = (bytes: Uint8Array): `0x${string}` => `0x${Buffer.from(bytes).toString('hex')}`

/** A statement's parameters, collected while its text is written. */
export class Parameters {
  readonly values: unknown[] = []

  add(value: unknown): string {
    this.values.push(value)
    return `$${this.values.length}`
  }

  /** `0x` hex as bytes. */
  bytes(hex: string): string {
    return this.add(toBytes(hex))
  }
}

/**
 * A constant of ours as a literal: a planner takes a partial index only for a condition it can
 * compare with the index's own.
 */
export const literalBytes = (hex: string): string => `'\\x${hex.slice(2)}'::bytea`

/** True of the rows behind a place in an order, or at it too. */
export function behind(
  columns: readonly string[],
  order: 'asc' | 'desc',
  place: readonly string[],
  including = false,
): string {
  const side = order === 'desc' ? '<' : '>'
  return `(${columns.join(', ')}) ${side}${including ? '=' : ''} (${place.join(', ')})`
}

/**
 * As the indexes of pairs have it (migration 19): a third of the size and of the work of an index
 * on both columns.
 */
export const pairHash = (values: readonly string[]): string =>
  `hash_record_extended(ROW(${values.join(', ')}), 0)`

const tip20From = literalBytes(tip20.prefix)
const tip20End = literalBytes(`0x${(BigInt(tip20.prefix) + 1n).toString(16)}`)

/**
 * True where the column holds a TIP-20 token's address, in the words of the indexes (migrations 5
 * and 15).
 */
export const tip20Tokens = (column: string): string => `${column} >= ${tip20From} AND ${column} < ${tip20End}`

/** True where the column holds any other address, in the words of the indexes. */
export const otherTokens = (column: string): string =>
  `(${column} < ${tip20From} OR ${column} >= ${tip20End})`
