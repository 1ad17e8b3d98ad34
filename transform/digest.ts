/**
 * Digests that say whether two stores, or a store and an export, hold the same rows.
 *
 * Canonical bytes of a row: of every column but the 256-bit ones, in order, the field as Postgres
 * sends it in binary (int32 length, then the bytes; -1 for NULL), then of every 256-bit column its
 * decimal digits and a comma (`-,` for NULL), then of every column that was added later and is not
 * NULL the field. The digest of a row is the CRC32 (zlib's) of that;
 * the digest of a set of rows is the sum. A sum, never an XOR: doubled rows would cancel. The
 * encoders compute it while writing (encode/compileAppend.ts); the expressions here compute the
 * same in either engine, so that `sum(..)` over any range of blocks can be compared.
 */
import type { Column, ColumnType, Table } from './tables.ts'

/** Postgres: a row's digest as bigint. `crc32(bytea)` is there since Postgres 18. */
export function postgresDigestSql(table: Table): string {
  return `crc32(${table.columns.map(postgresPart).join(' || ')})`
}

/** ClickHouse: a row's digest as UInt32. */
export function clickhouseDigestSql(table: Table): string {
  return `CRC32(concat(${table.columns.map(clickhousePart).join(', ')}))`
}

/** Column names are words of SQL now and then (`from`, `to`), so they are always quoted. */
const quote = (column: Column): string => `"${column.name}"`

/** The text of a NULL's length -1; rows from before a column have nothing of it. */
const absentField = ({ isAdded }: Column): string => (isAdded ? '' : 'ffffffff')

function postgresPart(column: Column): string {
  const name = quote(column)
  if (column.type === 'uint256') return `convert_to(coalesce(${name}::text, '-') || ',', 'UTF8')`
  const field = postgresField(column.type, name)
  return column.nullable ? `coalesce(${field}, '\\x${absentField(column)}'::bytea)` : field
}

/** Field of a value that is not NULL; NULL if it is. */
function postgresField(type: Exclude<ColumnType, 'uint256'>, name: string): string {
  switch (type) {
    case 'uint8':
    case 'int8':
      return `int4send(2) || int2send(${name})`
    case 'uint32':
      return `int4send(4) || int4send(${name})`
    case 'uint53':
    case 'uint64':
      return `int4send(8) || int8send(${name})`
    case 'bool':
      return `int4send(1) || boolsend(${name})`
    case 'seconds':
      return `int4send(8) || timestamptz_send(${name})`
    case 'address':
    case 'hash':
    case 'bytes':
      return `int4send(octet_length(${name})) || ${name}`
    case 'text':
      return `int4send(octet_length(${name})) || convert_to(${name}, 'UTF8')`
  }
}

function clickhousePart(column: Column): string {
  const name = quote(column)
  const value = column.nullable ? `assumeNotNull(${name})` : name
  if (column.type === 'uint256') {
    const digits = column.nullable ? `if(isNull(${name}), '-', toString(${value}))` : `toString(${value})`
    return `${digits}, ','`
  }
  const field = clickhouseField(column.type, value)
  return column.nullable ? `if(isNull(${name}), unhex('${absentField(column)}'), concat(${field}))` : field
}

/** Comma-separated strings that make up a field. */
function clickhouseField(type: Exclude<ColumnType, 'uint256'>, value: string): string {
  switch (type) {
    case 'uint8':
    case 'int8':
      return `unhex('00000002'), ${bigEndian(`toInt16(${value})`, 2)}`
    case 'uint32':
      return `unhex('00000004'), ${bigEndian(value, 4)}`
    case 'uint53':
    case 'uint64':
      return `unhex('00000008'), ${bigEndian(value, 8)}`
    case 'bool':
      return `unhex('00000001'), ${bigEndian(`toUInt8(${value})`, 1)}`
    case 'seconds':
      return `unhex('00000008'), ${bigEndian(`(toInt64(toUnixTimestamp(${value})) - 946684800) * 1000000`, 8)}`
    case 'address':
      return `unhex('00000014'), ${value}`
    case 'hash':
      return `unhex('00000020'), ${value}`
    case 'bytes':
    case 'text':
      return `${bigEndian(`toUInt32(length(${value}))`, 4)}, ${value}`
  }
}

/**
 * An integer's bytes as Postgres orders them. Not `reinterpretAsString`: it drops zero bytes at the
 * end.
 */
const bigEndian = (integer: string, width: number): string =>
  `reinterpret(byteSwap(${integer}), 'FixedString(${width})')`
