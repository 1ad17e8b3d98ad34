/**
 * Turns Postgres' text form of a value into the value table of result.ts. Types outside the table
 * are refused.
 */

import type { JsonRows } from '../../JsonRows.ts'
import { type ResultType, type SqlValue, shortest } from '../../result.ts'
import { UserQueryError } from '../../UserQueryError.ts'

/** Reads one column's values. */
export interface ColumnReader {
  readonly type: ResultType
  read(text: string): SqlValue
  /** The same, from the text's bytes. */
  write: Write
}

type Scalar = Exclude<ResultType, `${string}[]` | 'record'>
type Write = (rows: JsonRows, source: Buffer, start: number, end: number) => void

interface Reader {
  readonly type: Scalar
  readonly read: (text: string) => SqlValue
  /** The writer of bytes that need no look at the value. */
  readonly write?: Write
}

const writeText: Write = (rows, source, start, end) => rows.text(source, start, end)
const writeQuoted: Write = (rows, source, start, end) => rows.quoted(source, start, end)

const integer: Reader = {
  type: 'int',
  read: Number,
  write: (rows, source, start, end) => rows.plain(source, start, end),
}
const wide: Reader = { type: 'bigint', read: String, write: writeQuoted }
const numeric: Reader = {
  type: 'numeric',
  read: shortest,
  write: (rows, source, start, end) => {
    if (hasPoint(source, start, end)) rows.value(shortest(source.toString('latin1', start, end)))
    else rows.quoted(source, start, end)
  },
}
const text: Reader = { type: 'text', read: String, write: writeText }
const bytes: Reader = {
  type: 'bytes',
  read: readBytes,
  write: (rows, source, start, end) => rows.digits(source, start + 2, end),
}
const bool: Reader = {
  type: 'bool',
  read: (value) => value === 't',
  write: (rows, source, start) => rows.bool(source[start] === 0x74),
}
const float: Reader = { type: 'float', read: readFloat }
const timestamp: Reader = { type: 'timestamp', read: readTimestamp, write: writeTimestamp }
/** The time that a clock in some zone shows; a Z would make another moment of it. */
const localTimestamp: Reader = {
  type: 'local_timestamp',
  read: (value) => readTimestamp(value).replace(/Z$/, ''),
}
const date: Reader = { type: 'date', read: String, write: writeText }
const json: Reader = { type: 'json', read: readJson }
const interval: Reader = { type: 'interval', read: String, write: writeText }
const uuid: Reader = { type: 'uuid', read: String, write: writeText }

/** By type OID (pg_type.dat), scalar and array. */
const readers: ReadonlyMap<number, readonly [Reader, isArray: boolean]> = new Map(
  (
    [
      [bool, 16, 1000],
      [bytes, 17, 1001],
      [wide, 20, 1016],
      [integer, 21, 1005],
      [integer, 23, 1007],
      [text, 25, 1009],
      [json, 114, 199],
      [float, 700, 1021],
      [float, 701, 1022],
      [text, 705, 0],
      [text, 1043, 1015],
      [date, 1082, 1182],
      [localTimestamp, 1114, 1115],
      [timestamp, 1184, 1185],
      [interval, 1186, 1187],
      [numeric, 1700, 1231],
      [uuid, 2950, 2951],
      [json, 3802, 3807],
    ] as const
  ).flatMap(([reader, oid, arrayOid]): [number, readonly [Reader, boolean]][] => [
    [oid, [reader, false]],
    [arrayOid, [reader, true]],
  ]),
)

/** @throws UserQueryError `sql_invalid` for a type that has no place in the value table */
export function columnReader(name: string, oid: number): ColumnReader {
  const found = readers.get(oid)
  if (!found) {
    const hint = 'cast it, for example to text'
    throw new UserQueryError('sql_invalid', `column "${name}" has a type that cannot be shown`, { hint })
  }
  const [{ type, read, write }, isArray] = found
  if (!isArray) return { type, read, write: write ?? writeRead(read) }
  const readAll = (value: string) => readArray(value, read)
  return { type: `${type}[]`, read: readAll, write: writeRead(readAll) }
}

const writeRead =
  (read: Reader['read']): Write =>
  (rows, source, start, end) =>
    rows.value(read(source.toString('utf8', start, end)))

function hasPoint(source: Buffer, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (source[at] === 0x2e) return true
  return false
}

/** `2026-11-21 12:00:00`, with `+00` or without; any other form has another length. */
function writeTimestamp(rows: JsonRows, source: Buffer, start: number, end: number): void {
  const isPlain = end - start === 19 || (end - start === 22 && source[start + 19] === 0x2b)
  if (isPlain && source[start + 10] === 0x20) rows.second(source, start)
  else rows.value(readTimestamp(source.toString('latin1', start, end)))
}

function readBytes(value: string): string {
  return `0x${value.slice(2)}`
}

function readFloat(value: string): SqlValue {
  const number = Number(value)
  return Number.isFinite(number) ? number : value
}

/**
 * `2026-11-21 12:00:00.123456+00` with the session in UTC. Fractions are cut: the value table has
 * none.
 */
function readTimestamp(value: string): string {
  const [, day, time] = /^(\d{4,}-\d\d-\d\d) (\d\d:\d\d:\d\d)(?:\.\d+)?(?:\+00)?$/.exec(value) ?? []
  return day && time ? `${day}T${time}Z` : value
}

/** JSON with the numbers a double cannot hold as text. */
function readJson(value: string): SqlValue {
  return JSON.parse(value, (_key: string, parsed: SqlValue, context?: { source?: string }) => {
    const isInexact = typeof parsed === 'number' && Number.isInteger(parsed) && !Number.isSafeInteger(parsed)
    return isInexact ? (context?.source ?? String(parsed)) : parsed
  })
}

/** `{1,NULL,"a\"b",{2}}`, the array_out form. */
function readArray(value: string, read: (text: string) => SqlValue): SqlValue[] {
  // Bounds other than 1 are written in front: `[0:1]={…}`.
  const start = value.indexOf('{')
  const cursor = { at: start + 1 }
  return readItems(value, cursor, read)
}

function readItems(value: string, cursor: { at: number }, read: (text: string) => SqlValue): SqlValue[] {
  const items: SqlValue[] = []
  while (cursor.at < value.length) {
    const character = value[cursor.at]
    if (character === '}') {
      cursor.at++
      return items
    }
    if (character === ',') cursor.at++
    else if (character === '{') {
      cursor.at++
      items.push(readItems(value, cursor, read))
    } else if (character === '"') items.push(read(readQuoted(value, cursor)))
    else items.push(readPlain(value, cursor, read))
  }
  return items
}

function readQuoted(value: string, cursor: { at: number }): string {
  let item = ''
  for (cursor.at++; value[cursor.at] !== '"' && cursor.at < value.length; cursor.at++) {
    if (value[cursor.at] === '\\') cursor.at++
    item += value[cursor.at] ?? ''
  }
  cursor.at++
  return item
}

function readPlain(value: string, cursor: { at: number }, read: (text: string) => SqlValue): SqlValue {
  const end = /[,}]/g
  end.lastIndex = cursor.at
  const item = value.slice(cursor.at, end.exec(value)?.index ?? value.length)
  cursor.at += item.length
  return item === 'NULL' ? null : read(item)
}
