/**
 * What a user query answers, equal on both engines. The value table:
 * integers up to 32 bits are JSON numbers, wider ones decimal strings; exact numerics are strings; timestamps are
 * `YYYY-MM-DDTHH:MM:SSZ`, dates `YYYY-MM-DD`; bytes are `0x` and lowercase hex; floats are numbers (`NaN` and the
 * infinities strings); booleans, NULL, text and JSON are themselves; arrays are arrays of these.
 */

import type { RangeSet } from '#ingest/range.ts'
import type { LogicalType } from './relations.ts'

export type Engine = 'postgres' | 'clickhouse'

type ScalarColumnType = LogicalType | 'interval' | 'uuid'

/** Type of a result column; `[]` marks an array of it, `record` a tuple. */
export type ResultType = ScalarColumnType | `${ScalarColumnType}[]` | 'record'

export type SqlValue =
  | string
  | number
  | boolean
  | null
  | readonly SqlValue[]
  | { readonly [key: string]: SqlValue }

export interface QueryResult {
  readonly engine: Engine
  readonly columns: readonly string[]
  readonly columnTypes: readonly ResultType[]
  readonly rows: readonly (readonly SqlValue[])[]
  readonly rowCount: number
  /** More rows existed than were asked for. Never set for a LIMIT of the query's own. */
  readonly truncated: boolean
  /** Relations of the catalog the query read, sorted. */
  readonly relations: readonly string[]
  /** Time in the engine and on the wire, without waiting for a slot. */
  readonly elapsedMs: number
}

export interface QueryRequest {
  readonly chainId: number
  readonly sql: string
  /** Rows at most; 1..10,000. */
  readonly limit: number
  /** 100..30,000. */
  readonly timeoutMs: number
  /** Only rows of these blocks exist for the query; absent: of all that the catalog has. */
  readonly blocks?: RangeSet
  readonly signal?: AbortSignal
}

/** One engine that runs users' SQL. `run` throws UserQueryError and nothing else it can name. */
export interface UserQueryEngine {
  readonly engine: Engine
  run(request: QueryRequest): Promise<QueryResult>
  close(): Promise<void>
}
