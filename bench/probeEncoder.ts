/**
 * The bare probe's way from bytes to bytes: one pass over the JSON into COPY tuples and Native
 * columns, nothing checked.
 */
import { ByteBuffer } from '#ingest/read/json/ByteBuffer.ts'
import { decodeHex } from '#ingest/read/json/hexBytes.ts'
import { ascii, type JsonCursor } from '#ingest/read/json/JsonCursor.ts'
import { ObjectKeys } from '#ingest/read/json/ObjectKeys.ts'
import { copyFixed, writeInt64, writeUint64Little, writeVarint } from '#transform/encode/values.ts'
import { type ProbeKind, type ProbeTable, probeColumns } from './probeTables.ts'

/** A piece that crosses threads: a table's rows in both wire formats. */
export interface ProbePiece {
  readonly rows: number
  readonly postgres: Uint8Array<ArrayBuffer>
  readonly clickhouse: readonly Uint8Array<ArrayBuffer>[]
}

const widths: Readonly<Record<ProbeKind, number>> = {
  number: 8,
  hash: 32,
  address: 20,
  bytes: 0,
  json: 0,
  topics: 0,
}
const topicsMax = 4

export class ProbeEncoder {
  readonly table: ProbeTable
  readonly #keys: ObjectKeys
  /** By key: its first column and what it is. */
  readonly #fields: readonly { readonly column: number; readonly kind: ProbeKind }[]
  readonly #columns: readonly ProbeKind[]
  readonly #postgres = new ByteBuffer(1 << 20)
  readonly #streams: readonly ByteBuffer[]
  #rows = 0
  /** Columns of the row that have been written. */
  #written = 0

  /** `also` names keys that the caller reads itself. */
  constructor(table: ProbeTable, also: readonly string[] = []) {
    this.table = table
    this.#columns = probeColumns(table).map(({ kind }) => kind)
    let column = 0
    this.#fields = Object.values(table.fields).map((kind) => {
      const field = { column, kind }
      column += kind === 'topics' ? topicsMax : 1
      return field
    })
    this.#keys = new ObjectKeys([...Object.keys(table.fields), ...also])
    this.#streams = this.#columns.map(() => new ByteBuffer(1 << 16))
  }

  /** Reads an object as a row; `other` is called with the place of a key that is the caller's. */
  readRow(cursor: JsonCursor, other: (index: number) => void = () => {}): void {
    this.#postgres.reserve(2)
    this.#postgres.view.setInt16(this.#postgres.length, this.#columns.length)
    this.#postgres.length += 2
    this.#written = 0
    let key = this.#keys.none
    cursor.expect(ascii.openObject)
    do {
      key = this.#keys.read(cursor, key)
      const field = this.#fields[key]
      if (field !== undefined) this.#read(cursor, field.column, field.kind)
      else if (key === this.#keys.unknown) cursor.skipValue()
      else {
        this.#fill(this.#columns.length)
        other(key - this.#fields.length)
      }
    } while (cursor.hasNext(ascii.closeObject))
    this.#fill(this.#columns.length)
    this.#rows++
  }

  take(): ProbePiece {
    const copy = ({ bytes, length }: ByteBuffer) => Uint8Array.prototype.slice.call(bytes, 0, length)
    const piece = { rows: this.#rows, postgres: copy(this.#postgres), clickhouse: this.#streams.map(copy) }
    for (const buffer of [this.#postgres, ...this.#streams]) buffer.length = 0
    this.#rows = 0
    return piece
  }

  #read(cursor: JsonCursor, column: number, kind: ProbeKind): void {
    this.#fill(column)
    if (kind === 'topics') this.#readTopics(cursor, column)
    else if (cursor.skipNull()) this.#fill(column + 1)
    else this.#readValue(cursor, column, kind)
  }

  #readValue(cursor: JsonCursor, column: number, kind: ProbeKind): void {
    if (kind === 'number') this.#putNumber(cursor.readNumber(), column)
    else if (kind === 'bytes' || kind === 'json') this.#readSized(cursor, column, kind)
    else this.#readFixed(cursor, column, widths[kind])
    this.#written = column + 1
  }

  #readTopics(cursor: JsonCursor, first: number): void {
    cursor.expect(ascii.openList)
    let column = first
    do this.#readFixed(cursor, column++, widths.hash)
    while (cursor.hasNext(ascii.closeList))
    this.#written = column
    this.#fill(first + topicsMax)
  }

  #putNumber(value: number, column: number): void {
    const target = this.#size(8)
    writeInt64(target.view, target.length, value)
    target.length += 8
    const stream = this.#room(column, 8)
    writeUint64Little(stream.view, stream.length, value)
    stream.length += 8
  }

  #readFixed(cursor: JsonCursor, column: number, width: number): void {
    const target = this.#size(width)
    // Behind the quote and 0x.
    decodeHex(cursor.view, cursor.at + 3, target.view, target.length, width)
    cursor.at += 2 * width + 4
    const stream = this.#room(column, width)
    copyFixed(target.view, target.length, stream.view, stream.length, width)
    target.length += width
    stream.length += width
  }

  #readSized(cursor: JsonCursor, column: number, kind: 'bytes' | 'json'): void {
    const start = cursor.at
    cursor.skipValue()
    const size = kind === 'json' ? cursor.at - start : (cursor.at - start - 4) / 2
    const target = this.#size(size)
    if (kind === 'json') cursor.source.copy(target.bytes, target.length, start, cursor.at)
    else decodeHex(cursor.view, start + 3, target.view, target.length, size)
    const stream = this.#room(column, size + 5)
    stream.length = writeVarint(stream.view, stream.length, size)
    target.bytes.copy(stream.bytes, stream.length, target.length, target.length + size)
    target.length += size
    stream.length += size
  }

  /** Fills columns that a node left out. */
  #fill(to: number): void {
    for (; this.#written < to; this.#written++) {
      const kind = this.#columns[this.#written] ?? 'number'
      this.#postgres.reserve(4)
      this.#postgres.view.setInt32(this.#postgres.length, -1)
      this.#postgres.length += 4
      const width = Math.max(1, widths[kind])
      const stream = this.#room(this.#written, width)
      stream.bytes.fill(0, stream.length, stream.length + width)
      stream.length += width
    }
  }

  #size(width: number): ByteBuffer {
    const target = this.#postgres
    target.reserve(4 + width)
    target.view.setInt32(target.length, width)
    target.length += 4
    return target
  }

  #room(column: number, width: number): ByteBuffer {
    const stream = this.#streams[column]
    if (stream === undefined) throw new RangeError(`no column ${column}`)
    stream.reserve(width)
    return stream
  }
}
