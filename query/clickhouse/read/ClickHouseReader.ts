/**
 * Runs one checked statement as the restricted reader of ClickHouse: settings of the request, the
 * answer held back by the engine until the query has ended (so that an error is an error and never
 * a short result), caps on rows, bytes and time; here rows are decoded as they come. Aborting
 * closes the connection, which ends the query.
 */

import { randomUUID } from 'node:crypto'
import { constants } from 'node:os'
import type { Readable } from 'node:stream'
import type { Clock } from '#runtime/runtime.ts'
import { answerBytesMax, GRACE_MS, isExport } from '../../limits.ts'
import {
  collectResult,
  type QueryRequest,
  type QueryResult,
  type ResultEvent,
  type ResultHead,
  type ResultType,
} from '../../result.ts'
import { UserQueryError } from '../../UserQueryError.ts'
import type { ClickHouseStatement } from '../gate.ts'
import { asUserQueryError } from './errors.ts'
import {
  ReaderConnection,
  type ReaderConnectionOptions,
  type Settings,
  type Summary,
} from './ReaderConnection.ts'
import { RowBinaryDecoder } from './RowBinaryDecoder.ts'

/** Connection of a user that may only SELECT from the views (`chain_<id>_sql`). */
export interface ClickHouseReaderOptions extends ReaderConnectionOptions {
  readonly clock: Clock
}

const EXPORT_BUFFER_BYTES = 1024 * 1024

export class ClickHouseReader {
  readonly #connection: ReaderConnection
  readonly #clock: Clock

  constructor({ clock, ...access }: ClickHouseReaderOptions) {
    this.#clock = clock
    this.#connection = new ReaderConnection(access)
  }

  /** @throws UserQueryError */
  execute(statement: ClickHouseStatement, request: QueryRequest): Promise<QueryResult> {
    return collectResult(this.stream(statement, request))
  }

  /** @throws UserQueryError */
  async *stream(
    statement: ClickHouseStatement,
    request: QueryRequest,
  ): AsyncGenerator<ResultEvent, void, undefined> {
    const startedAt = this.#clock.monotonic()
    const { timeoutMs, signal, limit } = request
    const late = new AbortController()
    const done = new AbortController()
    this.#clock.sleep(timeoutMs + 2 * GRACE_MS, done.signal).then(
      () => late.abort(),
      () => {},
    )
    try {
      const either = AbortSignal.any([late.signal, ...(signal ? [signal] : [])])
      const { stream, summary } = await this.#send(statement.sql, request, either)
      const rowCount = yield* rowsOf(stream, statement, limit)
      const elapsedMs = this.#clock.monotonic() - startedAt
      yield { kind: 'end', end: { ...endOf(rowCount, limit, summary), elapsedMs } }
    } catch (error) {
      if (late.signal.aborted)
        throw new UserQueryError('sql_timeout', `the query ran longer than ${timeoutMs} ms`)
      if (signal?.aborted)
        throw new UserQueryError('sql_cancelled', 'the caller went away', { cause: signal.reason })
      throw asUserQueryError(error)
    } finally {
      done.abort()
    }
  }

  #send(sql: string, request: QueryRequest, signal: AbortSignal) {
    const queryId = `user_query_${randomUUID()}`
    const format = 'FORMAT RowBinaryWithNamesAndTypes'
    return this.#connection.send(`${sql}\n${format}`, queryId, settingsOf(request), signal)
  }

  async close(): Promise<void> {
    await this.#connection.close()
  }
}

/**
 * The first group bounds what a query takes, the second makes SQL mean what it means on Postgres,
 * and `readonly` keeps a statement from changing either. 400 MB a query leaves half of a small
 * machine to the indexer with two running.
 */
function settingsOf({ timeoutMs, limit, behind = false }: QueryRequest): Settings {
  return {
    max_execution_time: timeoutMs / 1000,
    timeout_overflow_mode: 'throw',
    max_memory_usage: '400000000',
    max_threads: 2,
    max_result_rows: String(limit + 1),
    max_result_bytes: String(answerBytesMax(limit)),
    result_overflow_mode: 'throw',
    max_rows_to_read: '2000000000',
    max_bytes_to_read: '200000000000',
    max_temporary_data_on_disk_size_for_query: '1000000000',
    max_query_size: '262144',
    max_subquery_depth: '40',
    max_ast_elements: '50000',
    use_query_cache: 0,
    join_use_nulls: 1,
    group_by_use_nulls: 1,
    aggregate_functions_null_for_empty: 1,
    cast_keep_nullable: 1,
    allow_experimental_correlated_subqueries: 1,
    enable_positional_arguments: 1,
    wait_end_of_query: 1,
    // The part of an export that the engine holds until then goes to its disk; other answers are small.
    ...(isExport(limit) && { buffer_size: EXPORT_BUFFER_BYTES }),
    cancel_http_readonly_queries_on_client_close: 1,
    // Where the engine may take that back from its threads; elsewhere it leaves them alone.
    ...(behind && { os_thread_priority: constants.priority.PRIORITY_LOW }),
    readonly: '1',
  }
}

/**
 * The head, then the rows up to the limit; returns how many the query had, one more than the limit
 * at most.
 */
async function* rowsOf(
  stream: Readable,
  statement: ClickHouseStatement,
  limit: number,
): AsyncGenerator<ResultEvent, number, undefined> {
  const decoder = new RowBinaryDecoder(
    statement.columns.map(({ type }) => type),
    limit,
  )
  const bytesMax = answerBytesMax(limit)
  let length = 0
  let isTold = false
  for await (const chunk of stream) {
    const bytes = Buffer.from(chunk)
    length += bytes.length
    if (length > bytesMax) throw tooLarge(bytesMax)
    const rows = decoder.push(bytes)
    const { columnTypes } = decoder
    if (!columnTypes) continue
    if (!isTold) yield { kind: 'head', head: headOf(statement, columnTypes) }
    isTold = true
    if (rows) yield { kind: 'rows', rows }
  }
  decoder.assertEnd()
  return decoder.count
}

const headOf = (
  { columns, relations }: ClickHouseStatement,
  columnTypes: readonly ResultType[],
): ResultHead => ({
  engine: 'clickhouse',
  columns: columns.map(({ name }) => name),
  columnTypes,
  relations,
})

const endOf = (rowCount: number, limit: number, summary: Summary | null) => ({
  rowCount: Math.min(rowCount, limit),
  truncated: rowCount > limit,
  rowsRead: summary ? Number(summary.read_rows) : null,
  bytesRead: summary ? Number(summary.read_bytes) : null,
})

function tooLarge(bytesMax: number): UserQueryError {
  return new UserQueryError('sql_failed', `the answer is larger than ${bytesMax} bytes`, {
    hint: 'ask for fewer rows or columns',
  })
}
