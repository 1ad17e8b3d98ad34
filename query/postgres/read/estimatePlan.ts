/** The reads of a Postgres plan and their time, from the planner's own numbers. */
import { quoteIdentifier, viewSchemaOf } from '#store/sql.ts'
import type { QueryEstimate, ResultRow, SqlValue } from '../../result.ts'

/** Name, rows and bytes of each physical table (views.ts makes the function). */
export const tableSizesSql = (chainId: number): string =>
  `SELECT name, rows, bytes FROM ${quoteIdentifier(viewSchemaOf(chainId))}.table_sizes()`

/** Beginning, planning and ending a transaction. */
const BASE_MS = 2
/**
 * One unit of cost is a page read in sequence, taken as 8 us from memory: an order of magnitude,
 * not calibrated.
 */
const UNIT_MS = 0.008

/** `plan` is the answer of EXPLAIN (FORMAT JSON), `sizes` that of `tableSizesSql`. */
export function estimatePlan(plan: SqlValue, sizes: readonly ResultRow[]): QueryEstimate {
  const root = Array.isArray(plan) ? fieldOf(plan[0] ?? null, 'Plan') : null
  const tables = new Map(
    sizes.map(([name, rows, bytes]) => [String(name), { rows: Number(rows), bytes: Number(bytes) }]),
  )
  const { rows, bytes } = root === null ? nothing : readsOf(root, 1, tables)
  const cost = root === null ? 0 : numberOf(root, 'Total Cost')
  return { rows: Math.ceil(rows), bytes: Math.ceil(bytes), timeMs: Math.ceil(BASE_MS + cost * UNIT_MS) }
}

interface Size {
  readonly rows: number
  readonly bytes: number
}

const nothing: Size = { rows: 0, bytes: 0 }

/**
 * `times` is how often the node is run: the inner side of a nested loop runs once per row of the
 * outer.
 */
function readsOf(node: SqlValue, times: number, tables: ReadonlyMap<string, Size>): Size {
  const children = fieldOf(node, 'Plans')
  const plans = Array.isArray(children) ? children : []
  const own = ownReads(node, tables)
  let sum = { rows: own.rows * times, bytes: own.bytes * times }
  const isLoop = fieldOf(node, 'Node Type') === 'Nested Loop'
  plans.forEach((child, index) => {
    const outer = isLoop && index > 0 ? Math.max(1, numberOf(plans[0] ?? null, 'Plan Rows')) : 1
    // A materialized or memoized node is read once, however often it is looked at.
    const isKept = ['Materialize', 'Memoize'].includes(String(fieldOf(child, 'Node Type')))
    const reads = readsOf(child, isKept ? 1 : times * outer, tables)
    sum = { rows: sum.rows + reads.rows, bytes: sum.bytes + reads.bytes }
  })
  return sum
}

/**
 * A scan of a whole table reads all of it, whatever its filter keeps; one through an index reads
 * what it finds.
 */
function ownReads(node: SqlValue, tables: ReadonlyMap<string, Size>): Size {
  const size = tables.get(String(fieldOf(node, 'Relation Name')))
  if (!size) return nothing
  if (fieldOf(node, 'Node Type') === 'Seq Scan') return size
  const rows = Math.min(numberOf(node, 'Plan Rows'), Math.max(1, size.rows))
  return { rows, bytes: rows * (size.bytes / Math.max(1, size.rows)) }
}

function fieldOf(node: SqlValue, name: string): SqlValue {
  if (typeof node !== 'object' || node === null || Array.isArray(node)) return null
  return Object.entries(node).find(([key]) => key === name)?.[1] ?? null
}

const numberOf = (node: SqlValue, name: string): number => Number(fieldOf(node, name) ?? 0)
