/**
 * A user query's answer, equal on both engines. The value table: integers up to 32 bits are JSON numbers,
 * wider ones decimal strings; exact numerics are strings without closing zeros behind the point; timestamps
 * are `YYYY-MM-DDTHH:MM:SSZ`, those of no zone the same without the Z, dates `YYYY-MM-DD`; bytes are `0x`
 * and lowercase hex; floats are numbers (`NaN` and the infinities strings); booleans, NULL, text and JSON
 * are themselves; arrays are arrays of these.
 */

import type { RangeSet } from '#ingest/range.ts'
import type { Engine } from '#primitives.ts'
import type { LogicalType } from './logicalType.ts'

type ScalarColumnType = LogicalType | 'local_timestamp' | 'interval' | 'uuid'

/** Type of a result column; `[]` marks an array of it, `record` a tuple. */
export type ResultType = ScalarColumnType | `${ScalarColumnType}[]` | 'record'

export type SqlValue =
  | string
  | number
  | boolean
  | null
  | readonly SqlValue[]
  | { readonly [key: string]: SqlValue }

export type ResultRow = readonly SqlValue[]

/** Known before the first row. */
export interface ResultHead {
  readonly engine: Engine
  readonly columns: readonly string[]
  readonly columnTypes: readonly ResultType[]
  /** Relations of the catalog the query read, sorted. */
  readonly relations: readonly string[]
}

/** Known after the last row. */
export interface ResultEnd {
  readonly rowCount: number
  /** More rows existed than were asked for. Never set for a LIMIT of the query's own. */
  readonly truncated: boolean
  /** Time in the engine and on the wire, without waiting for a slot. */
  readonly elapsedMs: number
  /**
   * Rows the engine read from its tables and indexes; null where it does not tell (the embedded
   * ClickHouse).
   */
  readonly rowsRead: number | null
  /** Bytes it read of them: uncompressed columns on ClickHouse, pages on Postgres. */
  readonly bytesRead: number | null
}

/** A whole result. */
export interface QueryResult extends ResultHead, ResultEnd {
  readonly rows: readonly ResultRow[]
}

/** Some rows of a result. */
export interface RowBatch {
  readonly count: number
  /** Each row a JSON array, ended by a line feed; there is no other line feed in it. */
  readonly json: Buffer
}

/** The rows as values. */
export function readRows({ json, count }: RowBatch): ResultRow[] {
  if (count === 0) return []
  const parsed: ResultRow[] = JSON.parse(
    `[${json.toString('utf8', 0, json.length - 1).replaceAll('\n', ',')}]`,
  )
  return parsed
}

/** A result piece by piece: one head, rows in batches, one end. */
export type ResultEvent =
  | { readonly kind: 'head'; readonly head: ResultHead }
  | { readonly kind: 'rows'; readonly rows: RowBatch }
  | { readonly kind: 'end'; readonly end: ResultEnd }

/** How an engine would run a query. */
export interface QueryPlan {
  readonly engine: Engine
  /** Relations of the catalog the query reads, sorted. */
  readonly relations: readonly string[]
  /** The engine's plan, in its own form. */
  readonly plan: SqlValue
  readonly estimate: QueryEstimate
}

/** The estimated reads of a query, and their time; from statistics, not from running it. */
export interface QueryEstimate {
  readonly rows: number
  readonly bytes: number
  readonly timeMs: number
}

export interface QueryRequest {
  readonly chainId: number
  readonly sql: string
  /** Signatures of events and functions; each is a table of the query. */
  readonly signatures?: readonly string[]
  /** Rows at most; 1..10,000, of an export 1,000,000. */
  readonly limit: number
  /** 100..30,000, of an export 300,000. */
  readonly timeoutMs: number
  /** Only rows of these blocks exist for the query; absent: of all that the catalog has. */
  readonly blocks?: RangeSet
  readonly signal?: AbortSignal
  /** The one whose share of the slots it takes from; absent: nobody's (Slots.ts). */
  readonly party?: string
  /** It runs behind all others: in half of the slots, on time that nothing else of the machine takes. */
  readonly behind?: boolean
}

/** One engine that runs users' SQL. It throws UserQueryError and nothing else it can name. */
export interface UserQueryEngine {
  readonly engine: Engine
  run(request: QueryRequest): Promise<QueryResult>
  /**
   * The same piece by piece. The query begins with the first pull, and ends with the loop, however
   * it is left.
   */
  stream(request: QueryRequest): AsyncIterable<ResultEvent>
  /** The cost of running it, from the engine's own plan. */
  explain(request: QueryRequest): Promise<QueryPlan>
  /**
   * Runs nothing of the request. @throws UserQueryError where it would be refused as things stand: by
   * the gate, for want of a slot, or because the engine does not answer
   */
  assertReady(request: QueryRequest): Promise<void>
  close(): Promise<void>
}

/** A streamed result in one piece. */
export async function collectResult(events: AsyncIterable<ResultEvent>): Promise<QueryResult> {
  const rows: ResultRow[] = []
  let head: ResultHead | undefined
  let end: ResultEnd | undefined
  for await (const event of events) {
    if (event.kind === 'rows') rows.push(...readRows(event.rows))
    else if (event.kind === 'head') head = event.head
    else end = event.end
  }
  if (!head || !end) throw new TypeError('a result without head or end')
  return { ...head, ...end, rows }
}

/**
 * An exact number as the value table has it: engines differ in how many zeros follow its last
 * digit.
 */
export const shortest = (digits: string): string =>
  digits.includes('.') ? digits.replace(/\.?0+$/, '') : digits
