/**
 * Parquet: a row group for each batch of rows, and what is known at the end in the footer's
 * metadata.
 */
import type { SchemaElement } from 'hyparquet'
import { ByteWriter, ParquetWriter } from 'hyparquet-writer'
import { readRows } from '#query/result.ts'
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
  return {
    head: () => take(bytes),
    rows: (batch) => {
      const rows = readRows(batch)
      const columnData = columns.map((column, index) => ({
        name: column.name,
        data: valuesOf(rows, column, index).map((value) =>
          value !== null && column.kind === 'milliseconds' ? BigInt(Number(value)) : value,
        ),
      }))
      // Written at once: a promise comes only from a writer with a `flush`, which this one has not.
      writer.write({ columnData, rowGroupSize: rows.length })
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

/** What was written since the last call; offsets in the file count on. */
function take(bytes: ByteWriter): Uint8Array {
  const taken = Uint8Array.from(bytes.getBytes())
  bytes.index = 0
  return taken
}
