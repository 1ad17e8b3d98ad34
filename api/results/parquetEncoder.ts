/**
 * Parquet: row groups of about a megabyte, and what is known at the end in the footer's metadata.
 * The writer keeps notes on every group until the footer, and so does every reader of the file: a
 * group for every batch took 90 MB a million rows, and as much of the file as the values.
 */
import type { SchemaElement } from 'hyparquet'
import { ByteWriter, ParquetWriter } from 'hyparquet-writer'
import { type ResultRow, type RowBatch, readRows } from '#query/result.ts'
import { type ColumnKind, columnarColumns, valuesOf } from './columnar.ts'
import type { ResultEncoder, WrittenHead } from './format.ts'

export function parquetEncoder({ columns: names, columnTypes, horizon, engine }: WrittenHead): ResultEncoder {
  const columns = columnarColumns(names, columnTypes)
  const bytes = new ByteWriter()
  const schema: SchemaElement[] = [
    { name: 'result', num_children: columns.length },
    ...columns.map(({ name, kind }) => ({ name, repetition_type: 'OPTIONAL' as const, ...elements[kind] })),
  ]
  const kvMetadata: { key: string; value: string }[] = []
  const writer = new ParquetWriter({ writer: bytes, schema, kvMetadata, createdBy: 'millrace' })
  const gathered = new GatheredRows()
  const writeGroup = () => {
    const rows = gathered.take()
    if (rows.length === 0) return
    const columnData = columns.map((column, index) => ({
      name: column.name,
      data: valuesOf(rows, column, index).map((value) =>
        value !== null && column.kind === 'milliseconds' ? BigInt(Number(value)) : value,
      ),
    }))
    // Written at once: a promise comes only from a writer with a `flush`, which this one has not.
    writer.write({ columnData, rowGroupSize: rows.length })
    detachBounds(writer)
  }
  return {
    head: () => take(bytes),
    rows: (batch) => {
      gathered.add(batch)
      if (gathered.isEnough) writeGroup()
      return take(bytes)
    },
    end: ({ digest, rowsRead, bytesRead, truncated }) => {
      const facts = {
        ...{
          engine,
          horizon_from: horizon.from,
          horizon_to: horizon.to,
          column_types: columnTypes.join(','),
        },
        ...{ digest, truncated, rows_read: rowsRead, bytes_read: bytesRead },
      }
      writeGroup()
      for (const [key, value] of Object.entries(facts)) kvMetadata.push({ key, value: `${value}` })
      writer.finish()
      return take(bytes)
    },
  }
}

const elements: Readonly<Record<ColumnKind, Omit<SchemaElement, 'name'>>> = {
  int64: { type: 'INT64' },
  string: { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
  bytes: { type: 'BYTE_ARRAY' },
  bool: { type: 'BOOLEAN' },
  float64: { type: 'DOUBLE' },
  milliseconds: {
    type: 'INT64',
    converted_type: 'TIMESTAMP_MILLIS',
    logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MILLIS' },
  },
  days: { type: 'INT32', converted_type: 'DATE' },
}

/** JSON of the rows of a group: some 4,000 rows, written within 50 ms. */
const GROUP_BYTES_MIN = 1024 * 1024
/** Rows that close a group too: narrow ones take long for few bytes. */
const GROUP_ROWS_MIN = 20_000

/** Rows that wait for their group, as the bytes they came in. */
class GatheredRows {
  #batches: RowBatch[] = []
  #bytes = 0
  #count = 0

  get isEnough(): boolean {
    return this.#bytes >= GROUP_BYTES_MIN || this.#count >= GROUP_ROWS_MIN
  }

  /** Copies the bytes: the buffer they came in may be many times as long. */
  add({ count, json }: RowBatch): void {
    this.#batches.push({ count, json: Buffer.from(json) })
    this.#bytes += json.length
    this.#count += count
  }

  take(): ResultRow[] {
    const rows = this.#batches.flatMap(readRows)
    this.#batches = []
    this.#bytes = 0
    this.#count = 0
    return rows
  }
}

/**
 * Least and greatest value of each column stay in the writer until the footer, and are parts of
 * larger buffers: short ones are copied, long ones left out, as the format allows.
 */
function detachBounds({ row_groups: groups }: ParquetWriter): void {
  for (const { meta_data } of groups.at(-1)?.columns ?? []) {
    if (!meta_data?.statistics) continue
    const { min_value, max_value, ...others } = meta_data.statistics
    meta_data.statistics = {
      ...others,
      ...(isShort(min_value) && { min_value: detached(min_value) }),
      ...(isShort(max_value) && { max_value: detached(max_value) }),
    }
  }
}

/** Bytes or characters: a hash has 32, its text 66. */
const BOUND_LENGTH_MAX = 128

const isShort = <Value>(bound: Value | undefined): bound is Value => {
  if (bound === undefined) return false
  return !(bound instanceof Uint8Array || typeof bound === 'string') || bound.length <= BOUND_LENGTH_MAX
}

const detached = <Value>(bound: Value): Value | Uint8Array =>
  bound instanceof Uint8Array ? Uint8Array.from(bound) : bound

/** The bytes written since the last call; offsets in the file count on. */
function take(bytes: ByteWriter): Uint8Array {
  const taken = Uint8Array.from(bytes.getBytes())
  bytes.index = 0
  return taken
}
