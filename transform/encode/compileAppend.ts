/**
 * Generates, for one table, the function that writes a row into both stores' formats and returns
 * its digest.
 *
 * Generated, because a loop over the columns reads `row[column.name]` with ever other names and
 * types in one place and branches per column and row. With the same routines for values it took 1.5
 * times as long (a transfer 1.9 us against 1.3, a log 2.5 against 1.6), and encoding is the largest
 * part of decoding after verification. The text is made of the table declarations of this program;
 * no chain data gets into it.
 */
import type { ByteBuffer } from '#ingest/read/json/ByteBuffer.ts'
import type { Column, ColumnType, Stores, Table } from '../tables.ts'
import { crcOf } from './crc.ts'
import * as decimal from './decimal.ts'
import { nativeStreams } from './native.ts'
import * as values from './values.ts'

/**
 * Writes row `index`, the room for whose fixed-width values is there; values given by their place
 * are in `source`. Of a table that Postgres does not store the canonical bytes alone are written
 * there, for the digest, and are not kept. Returns the CRC32 of the row's canonical bytes.
 */
export type Append<Row> = (
  postgres: ByteBuffer,
  streams: readonly ByteBuffer[],
  index: number,
  row: Row,
  source: ByteBuffer,
) => number

/** @throws EncodeError from the generated function, when a value does not fit its column. */
export function compileAppend<Row>(table: Table): Append<Row> {
  const fail = (column: string, value: unknown, block: unknown): never => {
    throw new values.EncodeError(table.name, column, value, block)
  }
  const scope = { ...values, ...decimal, crcOf, fail }
  const make = new Function('scope', `'use strict'\n${source(table)}`) as (from: typeof scope) => Append<Row>
  return make(scope)
}

/**
 * The places of a column's parts: its number (0 is the block's, in every table), its streams' numbers (-1
 * in Postgres-only tables).
 */
interface Slot {
  readonly column: Column
  readonly n: number
  readonly nulls: number
  readonly stream: number
}

function source(table: Table): string {
  const slots = slotsOf(table)
  const added = slots.filter(({ column }) => column.isAdded)
  const wide = slots.filter(({ column }) => column.type === 'uint256')
  const fixed = slots.filter(({ column }) => column.type !== 'uint256' && !column.isAdded)
  if ([...fixed, ...wide, ...added].some(({ n }, index) => n !== index))
    throw new Error(`${table.name}: 256-bit columns come behind the others, and added ones last`)
  const narrow = [...fixed, ...added]
  const fixedBytes = 2 + narrow.length * 36 + wide.length * (decimal.DECIMAL_BYTES_MAX + 64)
  return `
const { ${[...Object.keys(values), ...Object.keys(decimal)].join(', ')}, crcOf, fail } = scope
${wide.map(({ n }) => `const g${n} = new Uint16Array(GROUPS_MAX)`).join('\n')}
${slots
  .filter(isHex)
  .map(({ n }) => `let last${n} = null`)
  .join('\n')}
return function append_${table.name}(postgres, streams, r, row, source) {
  ${slots.map(({ column, n }) => `let x${n} = row[${JSON.stringify(column.name)}]`).join('\n  ')}
  let room = ${fixedBytes}
  ${narrow.filter(isVariable).map(measure).join('\n  ')}
  postgres.reserve(room)
  const b = postgres.bytes, v = postgres.view, start = postgres.length, s = source.view
  let p = start
  v.setInt16(p, ${slots.length}); p += 2
  ${fixed.map(fixedColumn).join('\n  ')}
  let q = p
  ${wide.map(canonicalColumn).join('\n  ')}
  let digest = crcOf(b, v, start + 2, q)
  ${wide.map((slot) => wideColumn(slot, table.stores)).join('\n  ')}
  ${added.map(addedColumn).join('\n  ')}
  ${table.stores === 'clickhouse' ? '' : 'postgres.length = p'}
  return digest
}`
}

function slotsOf(table: Table): Slot[] {
  const streams = nativeStreams(table)
  const at = (column: string, kind: string) =>
    streams.findIndex((stream) => stream.column === column && stream.kind === kind)
  return table.columns.map((column, n) => ({
    column,
    n,
    nulls: at(column.name, 'nulls'),
    stream: at(column.name, 'values'),
  }))
}

const isHex = ({ column }: Slot): boolean => column.type === 'address' || column.type === 'hash'
const isVariable = ({ column }: Slot): boolean => column.type === 'bytes' || column.type === 'text'

/**
 * Lengths, or the most they can be, are known before anything is written, so that one check of the
 * room serves the whole row.
 */
function measure({ column, n }: Slot): string {
  const most = column.type === 'text' ? 'utf8BytesMax(given)' : 'byteLengthOf(given, source)'
  return `let n${n} = 0
  if (x${n} !== null) {
    const given = x${n}
    n${n} = ${most}
    if (n${n} < 0) fail(${JSON.stringify(column.name)}, given, x0)
    room += n${n}
  }`
}

/**
 * One column of the first group: in both formats at once, since its bytes are mostly the same in
 * both.
 */
function fixedColumn(slot: Slot): string {
  const { column, n, nulls, stream } = slot
  const put = `${open(slot)}
  ${writers[column.type](slot)}`
  if (!column.nullable) return `{ ${put} }`
  const empty = isVariable(slot)
    ? `c.reserve(1); c.view.setUint8(c.length, 0); c.length++`
    : `zeroFixed(c.view, r * ${widths[column.type]}, ${widths[column.type]})`
  return `if (x${n} === null) {
    v.setInt32(p, -1); p += 4
    ${stream < 0 ? '' : `streams[${nulls}].bytes[r] = 1; const c = streams[${stream}]; ${empty}`}
    ${isHex(slot) ? `last${n} = null` : ''}
  } else {
    ${stream < 0 ? '' : `streams[${nulls}].bytes[r] = 0`}
    ${put}
  }`
}

const open = ({ stream }: Slot): string => (stream < 0 ? '' : `const c = streams[${stream}], w = c.view`)

/** Bytes of a value in its ClickHouse stream. */
const widths: Readonly<Record<ColumnType, number>> = {
  uint8: 1,
  int8: 1,
  uint32: 4,
  uint53: 8,
  uint64: 8,
  bool: 1,
  seconds: 4,
  address: 20,
  hash: 32,
  bytes: 0,
  text: 0,
  uint256: 32,
}

const writers: Readonly<Record<ColumnType, (slot: Slot) => string>> = {
  uint8: (s) => integer(s, `(x & 255) !== x`, 2, `v.setInt16(p, x)`, `w.setUint8(r, x)`),
  int8: (s) => integer(s, `(x << 24 >> 24) !== x`, 2, `v.setInt16(p, x)`, `w.setInt8(r, x)`),
  uint32: (s) => integer(s, `(x | 0) !== x || x < 0`, 4, `v.setInt32(p, x)`, `w.setUint32(r * 4, x, true)`),
  uint53: (s) =>
    integer(
      s,
      `!Number.isSafeInteger(x) || x < 0`,
      8,
      `writeInt64(v, p, x)`,
      `writeUint64Little(w, r * 8, x)`,
    ),
  uint64: (s) =>
    integer(
      s,
      `(x = toSafeOrWide(x)) === null`,
      8,
      `if (typeof x === 'number') writeInt64(v, p, x); else v.setBigInt64(p, x)`,
      `if (typeof x === 'number') writeUint64Little(w, r * 8, x); else w.setBigUint64(r * 8, x, true)`,
    ),
  bool: (s) =>
    integer(s, `x !== true && x !== false`, 1, `v.setUint8(p, x ? 1 : 0)`, `w.setUint8(r, x ? 1 : 0)`),
  seconds: (s) =>
    integer(
      s,
      `(x >>> 0) !== x`,
      8,
      `writeInt64(v, p, (x - SECONDS_FROM1970_TO2000) * 1000000)`,
      `w.setUint32(r * 4, x, true)`,
    ),
  address: (s) => hex(s, 20),
  hash: (s) => hex(s, 32),
  bytes: (s) => variable(s, `if (!writeBytes(b, p, x${s.n}, n${s.n}, source)) ${failure(s)}`),
  text: (s) => `n${s.n} = writeUtf8(b, p + 4, x${s.n}); ${variable(s, '')}`,
  uint256: () => '',
}

const failure = ({ column, n }: Slot): string => `fail(${JSON.stringify(column.name)}, x${n}, x0)`

function integer(slot: Slot, wrong: string, width: number, postgres: string, clickhouse: string): string {
  return `let x = x${slot.n}
    if (${wrong}) ${failure(slot)}
    v.setInt32(p, ${width}); p += 4; ${postgres}; p += ${width}
    ${slot.stream < 0 ? '' : clickhouse}`
}

/**
 * Texts repeat from row to row (a transaction's over its logs): copying is 20 times cheaper than
 * decoding.
 */
function hex({ column, n, stream }: Slot, width: number): string {
  const place = `if (x${n} + ${width} > source.length) fail(${JSON.stringify(column.name)}, x${n}, x0)
      copyFixed(s, x${n}, v, p, ${width})`
  const decode = `if (typeof x${n} !== 'string' || !writeHex(b, p, x${n}, ${width})) fail(${JSON.stringify(column.name)}, x${n}, x0)`
  if (stream < 0)
    return `v.setInt32(p, ${width}); p += 4
    if (typeof x${n} === 'number') { ${place} } else { ${decode} }
    p += ${width}`
  return `v.setInt32(p, ${width}); p += 4
    const at = r * ${width}
    if (typeof x${n} === 'number') { ${place}; last${n} = null }
    else if (r > 0 && x${n} === last${n}) copyFixed(w, at - ${width}, v, p, ${width})
    else { ${decode}; last${n} = x${n} }
    copyFixed(v, p, w, at, ${width}); p += ${width}`
}

function variable({ n, stream }: Slot, write: string): string {
  const prefixBytesMax = 5
  return `v.setInt32(p, n${n}); p += 4; ${write}
    ${
      stream < 0
        ? ''
        : `c.reserve(n${n} + ${prefixBytesMax})
    c.length = writeVarint(c.view, c.length, n${n})
    copyBytes(b, p, c.bytes, c.length, n${n}); c.length += n${n}`
    }
    p += n${n}`
}

/**
 * The canonical texts stand for a moment where the numerics will be: one CRC over contiguous bytes.
 */
function canonicalColumn(slot: Slot): string {
  const { column, n } = slot
  const write = `n${n} = readGroups(x${n}, source, g${n}); if (n${n} < 0) ${failure(slot)}; q = writeDecimal(b, q, g${n}, n${n})`
  return `let n${n} = 0
  ${column.nullable ? `if (x${n} === null) q = writeNoDecimal(b, q); else { ${write} }` : write}`
}

/** Part of the canonical bytes where it is not NULL, behind all others. */
const addedColumn = (slot: Slot): string => `const from${slot.n} = p
  ${fixedColumn(slot)}
  if (x${slot.n} !== null) digest = crcOf(b, v, from${slot.n}, p, digest)`

function wideColumn(slot: Slot, stores: Stores): string {
  const { column, n, nulls, stream } = slot
  const numeric = stores === 'clickhouse' ? '' : `p = writeNumeric(v, p, g${n}, n${n})`
  const put = `${numeric}; ${stream < 0 ? '' : `writeUint256(streams[${stream}].view, r * 32, x${n}, source)`}`
  if (!column.nullable) return put
  return `if (x${n} === null) {
    v.setInt32(p, -1); p += 4
    ${stream < 0 ? '' : `streams[${nulls}].bytes[r] = 1; zeroFixed(streams[${stream}].view, r * 32, 32)`}
  } else {
    ${stream < 0 ? '' : `streams[${nulls}].bytes[r] = 0`}
    ${put}
  }`
}
