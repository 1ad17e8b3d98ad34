/**
 * Reads the values of one column by the engine's type and by what the gate inferred (bytes, truth
 * values, widths).
 */

import type { JsonRows } from '../../JsonRows.ts'
import { type ResultType, type SqlValue, shortest } from '../../result.ts'
import { UserQueryError } from '../../UserQueryError.ts'
import type { Scalar, ValueType } from '../compile/valueType.ts'
import type { ByteCursor } from './ByteCursor.ts'

export interface ColumnReader {
  readonly type: ResultType
  /** Writes the value that `cursor` stands before. */
  write: Write
}

type Write = (rows: JsonRows, cursor: ByteCursor) => void

type ScalarType = Exclude<ResultType, `${string}[]` | 'record'>

/** How a type's bytes are read, and what they are when nothing else is known. */
interface TypeReader {
  readonly type: ScalarType | 'record'
  readonly isArray: boolean
  read(cursor: ByteCursor): SqlValue
  /** The same as JSON. */
  write: Write
}

/** @throws UserQueryError `sql_invalid` for a type outside the value table */
export function columnReader(
  name: string,
  engineType: string,
  inferred: ValueType | undefined,
): ColumnReader {
  const found = typeReader(engineType, inferred?.scalar ?? 'unknown')
  const shown = found?.isArray && inferred?.isAbsentWhenEmpty ? absentWhenEmpty(found) : found
  const reader = shown?.type === 'timestamp' && inferred?.isLocal ? local(shown) : shown
  if (!reader) {
    throw new UserQueryError(
      'sql_invalid',
      `column "${name}" has a type that cannot be shown: ${engineType}`,
      {
        hint: 'cast it, for example to String',
      },
    )
  }
  const type = reader.isArray && reader.type !== 'record' ? (`${reader.type}[]` as const) : reader.type
  return { type, write: reader.write }
}

function typeReader(engineType: string, inferred: Scalar): TypeReader | undefined {
  const { name, args } = splitType(engineType)
  const integer = /^(U?)Int(8|16|32|64|128|256)$/.exec(name)
  if (integer) return integerReader(Number(integer[2]) / 8, integer[1] === '', inferred)
  const [inner = ''] = args
  switch (name) {
    case 'Nullable':
      return nullable(typeReader(inner, inferred))
    case 'LowCardinality':
      return typeReader(inner, inferred)
    case 'Array':
      return array(typeReader(inner, inferred))
    case 'Tuple':
      return tuple(args.map((argument) => typeReader(fieldType(argument), 'unknown')))
    case 'String':
      if (inferred === 'json') return one('json', (cursor) => JSON.parse(cursor.text()))
      return inferred === 'bytes' ? bytes((cursor) => cursor.blockLength()) : one('text', readText, writeText)
    case 'FixedString': {
      const length = Number(inner)
      return bytes(() => length)
    }
    case 'Bool':
      return one('bool', (cursor) => cursor.byte() !== 0)
    case 'Float32':
      return one('float', (cursor) => float(cursor.take(4).readFloatLE()))
    case 'Float64':
      return one('float', (cursor) => float(cursor.take(8).readDoubleLE()))
    case 'Decimal':
      return decimal(Number(args[0]), Number(args[1]))
    case 'Nothing':
      return one(typeOfNothing(inferred), () => null)
    default:
      return timeReader(name, args, inferred) ?? otherReader(name, args)
  }
}

/** A column of nothing but constant NULLs has the type its expression would have. */
function typeOfNothing(inferred: Scalar): ScalarType {
  if (inferred === 'decimal') return 'numeric'
  return inferred === 'unknown' || inferred === 'null' || inferred === 'record' ? 'text' : inferred
}

/** Times of no zone. */
function local(reader: TypeReader): TypeReader {
  const read = (cursor: ByteCursor) => withoutZone(reader.read(cursor))
  return { ...reader, type: 'local_timestamp', read, write: writeRead(read) }
}

function withoutZone(value: SqlValue): SqlValue {
  if (typeof value === 'string') return value.replace(/Z$/, '')
  return Array.isArray(value) ? value.map(withoutZone) : value
}

function one(type: ScalarType | 'record', read: TypeReader['read'], write = writeRead(read)): TypeReader {
  return { type, isArray: false, read, write }
}

const writeRead =
  (read: TypeReader['read']): Write =>
  (rows, cursor) =>
    rows.value(read(cursor))

const bytes = (lengthOf: (cursor: ByteCursor) => number): TypeReader =>
  one(
    'bytes',
    (cursor) => hex(cursor.take(lengthOf(cursor))),
    (rows, cursor) => {
      const length = lengthOf(cursor)
      const start = cursor.advance(length)
      rows.hex(cursor.bytes, start, start + length)
    },
  )

const hex = (bytes: Buffer): string => `0x${bytes.toString('hex')}`

const readText = (cursor: ByteCursor): string => textOf(cursor.block())

/**
 * A text that is not UTF-8 is bytes the gate could not follow; shown as what they are, not as
 * replacement signs.
 */
function textOf(block: Buffer): string {
  const text = block.toString('utf8')
  return text.includes('\ufffd') && !Buffer.from(text).equals(block) ? hex(block) : text
}

function writeText(rows: JsonRows, cursor: ByteCursor): void {
  const length = cursor.blockLength()
  const start = cursor.advance(length)
  rows.text(cursor.bytes, start, start + length, textOf)
}

function float(value: number): SqlValue {
  return Number.isFinite(value) ? value : String(value)
}

/**
 * Whole numbers: a truth value or a width the gate inferred decides before the engine's own width,
 * since the engine counts in 64 bits what PostgreSQL counts in 32 (`length`) and widens every sum
 * of columns.
 */
function integerReader(width: number, isSigned: boolean, inferred: Scalar): TypeReader {
  if (inferred === 'bool') return one('bool', (cursor) => cursor.integer(width, isSigned) !== 0n)
  const own: ScalarType = width <= 4 ? 'int' : width === 8 ? 'bigint' : 'numeric'
  const type = inferred === 'int' || inferred === 'bigint' || inferred === 'numeric' ? inferred : own
  const isNumber = type === 'int'
  return one(
    type,
    (cursor) => {
      const value = cursor.integer(width, isSigned)
      return isNumber ? Number(value) : String(value)
    },
    (rows, cursor) => {
      const value = cursor.smallInteger(width, isSigned)
      if (value !== undefined) rows.integer(value, !isNumber)
      else {
        const wide = cursor.integer(width, isSigned)
        rows.value(isNumber ? Number(wide) : String(wide))
      }
    },
  )
}

function nullable(inner: TypeReader | undefined): TypeReader | undefined {
  return (
    inner && {
      ...inner,
      read: (cursor) => (cursor.byte() === 1 ? null : inner.read(cursor)),
      write: (rows, cursor) => (cursor.byte() === 1 ? rows.null() : inner.write(rows, cursor)),
    }
  )
}

function array(inner: TypeReader | undefined): TypeReader | undefined {
  if (!inner) return undefined
  const read = (cursor: ByteCursor) => Array.from({ length: cursor.varint() }, () => inner.read(cursor))
  return { type: inner.type, isArray: true, read, write: writeRead(read) }
}

/** An array without elements is NULL. */
function absentWhenEmpty(reader: TypeReader): TypeReader {
  const read = (cursor: ByteCursor): SqlValue => {
    const values = reader.read(cursor)
    return Array.isArray(values) && values.length === 0 ? null : values
  }
  return { ...reader, read, write: writeRead(read) }
}

function tuple(fields: readonly (TypeReader | undefined)[]): TypeReader | undefined {
  const known = fields.filter((field) => field !== undefined)
  if (known.length !== fields.length) return undefined
  return one('record', (cursor) => known.map((field) => field.read(cursor)))
}

function decimal(precision: number, scale: number): TypeReader {
  const width = precision <= 9 ? 4 : precision <= 18 ? 8 : precision <= 38 ? 16 : 32
  return one('numeric', (cursor) => {
    const value = cursor.integer(width, true)
    if (scale === 0) return String(value)
    const digits = String(value < 0n ? -value : value).padStart(scale + 1, '0')
    return shortest(`${value < 0n ? '-' : ''}${digits.slice(0, -scale)}.${digits.slice(-scale)}`)
  })
}

const DAY_MS = 86_400_000

function timeReader(name: string, args: readonly string[], inferred: Scalar): TypeReader | undefined {
  const dayType = inferred === 'timestamp' ? 'timestamp' : 'date'
  const day = (days: number): string =>
    dayType === 'date' ? isoDate(days * DAY_MS) : isoSecond(days * DAY_MS)
  switch (name) {
    case 'Date':
      return one(dayType, (cursor) => day(cursor.take(2).readUInt16LE()))
    case 'Date32':
      return one(dayType, (cursor) => day(cursor.take(4).readInt32LE()))
    case 'DateTime':
      return one('timestamp', (cursor) => isoSecond(cursor.take(4).readUInt32LE() * 1000))
    case 'DateTime64': {
      const unit = 10n ** BigInt(args[0] ?? '3')
      return one('timestamp', (cursor) =>
        isoSecond(Number(floorDivide(cursor.integer(8, true), unit)) * 1000),
      )
    }
    default:
      return undefined
  }
}

function otherReader(name: string, args: readonly string[]): TypeReader | undefined {
  const interval = /^Interval(\w+)$/.exec(name)
  if (interval) {
    const unit = (interval[1] ?? '').toLowerCase()
    return one('interval', (cursor) => intervalText(cursor.integer(8, true), unit))
  }
  if (name === 'UUID') return one('uuid', readUuid)
  return /^Enum(8|16)$/.test(name) ? enumReader(name === 'Enum8' ? 1 : 2, args) : undefined
}

/** Parts of PostgreSQL's intervals, and what a unit is of one. */
const intervalUnits: Readonly<Record<string, readonly ['month' | 'day' | 'second', bigint]>> = {
  year: ['month', 12n],
  quarter: ['month', 3n],
  month: ['month', 1n],
  week: ['day', 7n],
  day: ['day', 1n],
  hour: ['second', 3_600n],
  minute: ['second', 60n],
  second: ['second', 1n],
}

/** As PostgreSQL writes it in its style `postgres`: `3 days`, `01:30:00`. */
function intervalText(count: bigint, unit: string): string {
  const [part, size] = intervalUnits[unit] ?? ['second', 1n]
  const value = count * size
  const words = (number: bigint, word: string) => `${number} ${word}${number === 1n ? '' : 's'}`
  if (part === 'day') return value === 0n ? '00:00:00' : words(value, 'day')
  if (part === 'month') {
    const texts = [words(value / 12n, 'year'), words(value % 12n, 'mon')]
    return texts.filter((text) => !text.startsWith('0 ')).join(' ') || '00:00:00'
  }
  const seconds = value < 0n ? -value : value
  const clock = [seconds / 3_600n, (seconds / 60n) % 60n, seconds % 60n]
  return `${value < 0n ? '-' : ''}${clock.map((number) => `${number}`.padStart(2, '0')).join(':')}`
}

/** Two little-endian halves. */
function readUuid(cursor: ByteCursor): string {
  const digits = [cursor.take(8), cursor.take(8)]
    .map((half) => Buffer.from(half).reverse().toString('hex'))
    .join('')
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

function enumReader(width: number, args: readonly string[]): TypeReader {
  const names = new Map(
    args.map((entry) => {
      const [, name = '', value = ''] = /^'(.*)' = (-?\d+)$/.exec(entry) ?? []
      return [value, name] as const
    }),
  )
  return one('text', (cursor) => names.get(String(cursor.integer(width, true))) ?? null)
}

const isoSecond = (ms: number): string => new Date(ms).toISOString().replace(/\.\d{3}Z$/, 'Z')
const isoDate = (ms: number): string => new Date(ms).toISOString().slice(0, 10)

function floorDivide(value: bigint, unit: bigint): bigint {
  return value < 0n && value % unit !== 0n ? value / unit - 1n : value / unit
}

/** Named fields of a tuple come as `name Type`. */
function fieldType(argument: string): string {
  return /^(?:`[^`]*`|\w+) ([A-Z].*)$/.exec(argument)?.[1] ?? argument
}

/** `Map(String, Array(UInt8))` into its name and arguments. */
export function splitType(type: string): { name: string; args: string[] } {
  const open = type.indexOf('(')
  if (open < 0) return { name: type, args: [] }
  const args: string[] = []
  let depth = 0
  let isQuoted = false
  let start = open + 1
  for (let at = start; at < type.length; at++) {
    const character = type[at]
    if (character === "'" && type[at - 1] !== '\\') isQuoted = !isQuoted
    else if (isQuoted) continue
    else if (character === '(') depth++
    else if (character === ')' && depth-- === 0) args.push(type.slice(start, at).trim())
    else if (character === ',' && depth === 0) {
      args.push(type.slice(start, at).trim())
      start = at + 1
    }
  }
  return { name: type.slice(0, open), args }
}
