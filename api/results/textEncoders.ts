/**
 * JSON (the contract's object), NDJSON (an object per row) and CSV (RFC 4180 with a header line).
 */
import { type ResultRow, type RowBatch, readRows, type SqlValue } from '#query/result.ts'
import type { ResultEncoder, WrittenEnd, WrittenHead } from './format.ts'

const bytes = (text: string): Uint8Array => Buffer.from(text)
const nothing = new Uint8Array(0)

/** The contract's object; what is only known at the end stands behind the rows. */
export function jsonEncoder(head: WrittenHead): ResultEncoder {
  const { columns, columnTypes, engine, horizon } = head
  let isFirst = true
  return {
    head: () => {
      const fields = JSON.stringify({ ok: true, columns, columnTypes, engine, horizon })
      return bytes(`${fields.slice(0, -1)},"rows":[`)
    },
    rows: (batch) => {
      const list = listOf(batch, isFirst ? '' : ',')
      isFirst = false
      return list
    },
    end: (end) => bytes(`],${JSON.stringify(presentEnd(end)).slice(1)}`),
  }
}

/** The rows with commas between them, behind `before`. */
function listOf({ json }: RowBatch, before: string): Uint8Array {
  const list = Buffer.concat([bytes(before), json.subarray(0, -1)])
  for (let at = list.indexOf('\n'); at >= 0; at = list.indexOf('\n', at + 1)) list[at] = 0x2c
  return list
}

/** The contract's names for what is known at the end, and ours for what it does not have. */
const presentEnd = ({ rowCount, truncated, elapsedMs, rowsRead, bytesRead, digest }: WrittenEnd) => ({
  row_count: rowCount,
  truncated,
  query_time_ms: Math.round(elapsedMs * 100) / 100,
  rows_read: rowsRead,
  bytes_read: bytesRead,
  digest,
})

/** Two columns of one name would be one key, so the second gets its position. */
export function ndjsonEncoder({ columns }: WrittenHead): ResultEncoder {
  const keys = uniqueNames(columns).map((name) => `${JSON.stringify(name)}:`)
  const line = (row: ResultRow) =>
    `{${row.map((value, index) => `${keys[index]}${JSON.stringify(value)}`).join(',')}}\n`
  return {
    head: () => nothing,
    rows: (batch) => bytes(readRows(batch).map(line).join('')),
    end: () => nothing,
  }
}

/** NULL is an empty field, the empty text a quoted one; arrays and JSON are JSON text. */
export function csvEncoder({ columns }: WrittenHead): ResultEncoder {
  const line = (row: ResultRow) => `${row.map((value) => csvField(value)).join(',')}\r\n`
  return {
    head: () => bytes(line(columns)),
    rows: (batch) => bytes(readRows(batch).map(line).join('')),
    end: () => nothing,
  }
}

function csvField(value: SqlValue): string {
  if (value === null) return ''
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value)
  return text === '' || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** Names that are keys: a repeated one is followed by its position, counted from 1. */
export function uniqueNames(names: readonly string[]): string[] {
  const taken = new Set<string>()
  return names.map((name, index) => {
    const unique = taken.has(name) ? `${name}_${index + 1}` : name
    taken.add(unique)
    return unique
  })
}
