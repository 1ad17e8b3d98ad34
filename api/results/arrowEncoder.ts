/**
 * Arrow's streaming format: the schema, a record batch for each batch of rows, one without rows whose
 * metadata says what is known at the end, the end mark.
 */
import {
  Binary,
  Bool,
  type DataType,
  DateDay,
  Field,
  Float64,
  Int64,
  makeData,
  RecordBatch,
  RecordBatchStreamWriter,
  Schema,
  Struct,
  TimestampMillisecond,
  Utf8,
  vectorFromArray,
} from 'apache-arrow'
import { type ResultRow, readRows } from '#query/result.ts'
import {
  type ColumnarColumn,
  type ColumnKind,
  type ColumnValue,
  columnarColumns,
  valuesOf,
} from './columnar.ts'
import type { ResultEncoder, WrittenHead } from './format.ts'

export function arrowEncoder({ columns: names, columnTypes, horizon, engine }: WrittenHead): ResultEncoder {
  const columns = columnarColumns(names, columnTypes)
  const fields = columns.map(({ name, kind }, index) => {
    const metadata = new Map([['type', columnTypes[index] ?? '']])
    return new Field(name, types[kind](), true, metadata)
  })
  const facts = { engine, horizon_from: `${horizon.from}`, horizon_to: `${horizon.to}` }
  const schema = new Schema(fields, new Map(Object.entries(facts)))
  const writer = new PieceWriter()
  const write = (rows: readonly ResultRow[], metadata?: Map<string, string>) => {
    const children = columns.map((column, index) => columnData(column, valuesOf(rows, column, index)))
    const data = makeData({ type: new Struct(fields), length: rows.length, nullCount: 0, children })
    writer.write(new RecordBatch(schema, data, metadata))
  }
  return {
    head: () => {
      writer.reset(undefined, schema)
      return writer.take()
    },
    rows: (batch) => {
      write(readRows(batch))
      return writer.take()
    },
    end: ({ digest, rowCount, rowsRead, bytesRead, truncated }) => {
      const facts = { digest, truncated, row_count: rowCount, rows_read: rowsRead, bytes_read: bytesRead }
      write([], new Map(Object.entries(facts).map(([name, value]) => [name, `${value}`])))
      writer.finish()
      return writer.take()
    },
  }
}

const types: Readonly<Record<ColumnKind, () => DataType>> = {
  int64: () => new Int64(),
  string: () => new Utf8(),
  bytes: () => new Binary(),
  bool: () => new Bool(),
  float64: () => new Float64(),
  milliseconds: () => new TimestampMillisecond('UTC'),
  days: () => new DateDay(),
}

function columnData({ kind }: ColumnarColumn, values: readonly ColumnValue[]) {
  // The builder of dates takes milliseconds for days as well.
  const given =
    kind === 'days' ? values.map((days) => (days === null ? null : Number(days) * 86_400_000)) : values
  const [data] = vectorFromArray(given, types[kind]()).data
  if (!data) throw new TypeError('a column without data')
  return data
}

/** The library's writer, whose bytes are taken as they are made instead of being queued. */
class PieceWriter extends RecordBatchStreamWriter {
  #pieces: Uint8Array[] = []

  /** The bytes written since the last call. */
  take(): Uint8Array {
    const taken = Buffer.concat(this.#pieces)
    this.#pieces = []
    return taken
  }

  protected override _write(chunk: ArrayBufferView): this {
    if (!this._started) return this
    this.#pieces.push(new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength))
    this._position += chunk.byteLength
    return this
  }
}
