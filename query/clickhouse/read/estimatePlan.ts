/** The reads of a ClickHouse plan and their time: rows after its indexes, bytes of the columns it reads. */
import type { QueryEstimate, ResultRow, SqlValue } from '../../result.ts'
import { scalar } from '../compile/valueType.ts'
import type { ClickHouseStatement } from '../gate.ts'

export const planColumns: ClickHouseStatement['columns'] = [{ name: 'explain', type: scalar('text') }]
export const sizeColumns: ClickHouseStatement['columns'] = [
  ...['database', 'table'].map((name) => ({ name, type: scalar('text') })),
  ...['parts', 'rows', 'marks'].map((name) => ({ name, type: scalar('bigint') })),
]

/** Parsing, planning and the way there and back. */
const BASE_MS = 10
/**
 * The speed of two threads over cached columns with an aggregate on top: an order of magnitude, not
 * calibrated.
 */
const ROWS_PER_MS = 20_000
const BYTES_PER_MS = 500_000
/** Calldata, log data and JSON; half of them are shorter. */
const STRING_BYTES = 100

/** `plan` is the answer of EXPLAIN json = 1, header = 1; `sizes` that of EXPLAIN ESTIMATE. */
export function estimatePlan(plan: SqlValue, sizes: readonly ResultRow[]): QueryEstimate {
  const widths = new Map<string, number[]>()
  collectWidths(plan, widths)
  let rows = 0
  let bytes = 0
  for (const [database, table, , count] of sizes) {
    const known = widths.get(`${database}.${table}`) ?? []
    const width = known.reduce((sum, value) => sum + value, 0) / Math.max(1, known.length)
    rows += Number(count)
    bytes += Number(count) * width
  }
  const timeMs = Math.ceil(BASE_MS + rows / ROWS_PER_MS + bytes / BYTES_PER_MS)
  return { rows, bytes: Math.ceil(bytes), timeMs }
}

/** Bytes of a row of each table that is read, by the columns each read of it needs. */
function collectWidths(value: SqlValue, widths: Map<string, number[]>): void {
  if (typeof value !== 'object' || value === null) return
  const node: Readonly<Record<string, SqlValue>> = Object.fromEntries(Object.entries(value))
  const table = node['Description']
  if (node['Node Type'] === 'ReadFromMergeTree' && typeof table === 'string') {
    const columns = Array.isArray(node['Header']) ? node['Header'] : []
    const width = columns.reduce((sum: number, column: SqlValue) => sum + widthOf(column), 0)
    widths.set(table, [...(widths.get(table) ?? []), width])
  }
  for (const inner of Object.values(value)) collectWidths(inner, widths)
}

function widthOf(column: SqlValue): number {
  const type = typeof column === 'object' && column !== null && 'Type' in column ? String(column['Type']) : ''
  const nullable = /^Nullable\((.*)\)$/.exec(type)
  if (nullable) return 1 + widthOf({ Type: nullable[1] ?? '' })
  const fixed = /^FixedString\((\d+)\)$/.exec(type)?.[1]
  if (fixed) return Number(fixed)
  const bits = /^U?Int(\d+)$/.exec(type)?.[1]
  if (bits) return Number(bits) / 8
  return type === 'String' ? STRING_BYTES : type.startsWith('DateTime') ? 4 : 1
}
