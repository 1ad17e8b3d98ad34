import type { QueryResult } from '#query/result.ts'

/**
 * A SQL result as JSON: the contract's names (`QueryResult` of the contract), and ours for what it
 * does not have.
 */
export function presentResult(result: QueryResult) {
  return {
    ok: true as const,
    columns: result.columns,
    columnTypes: result.columnTypes,
    rows: result.rows,
    row_count: result.rowCount,
    truncated: result.truncated,
    engine: result.engine,
    query_time_ms: Math.round(result.elapsedMs * 100) / 100,
  }
}
