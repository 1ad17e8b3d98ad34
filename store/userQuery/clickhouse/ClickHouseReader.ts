/**
 * Runs one checked statement as the restricted reader of ClickHouse: settings of the request, the answer held back until
 * the query has ended (so that an error is an error and never a short result), caps on rows, bytes and time. Aborting
 * closes the connection, which ends the query.
 */

import { randomUUID } from 'node:crypto'
import type { Readable } from 'node:stream'
import {
  type ClickHouseClient,
  ClickHouseLogLevel,
  type ClickHouseSettings,
  createClient,
} from '@clickhouse/client'
import type { Clock } from '#runtime.ts'
import { answerBytesMax, graceMs } from '../limits.ts'
import type { QueryRequest, QueryResult } from '../result.ts'
import { UserQueryError } from '../UserQueryError.ts'
import { asUserQueryError } from './errors.ts'
import type { ClickHouseStatement } from './gate.ts'
import { decodeRows } from './rowBinary.ts'

export interface ClickHouseReaderOptions {
  readonly url: string
  /** A user that may only SELECT from the views (`chain_<id>_sql`). */
  readonly username: string
  readonly password: string
  readonly connectionsMax: number
  readonly clock: Clock
}

export class ClickHouseReader {
  readonly #client: ClickHouseClient
  readonly #clock: Clock

  constructor({ url, username, password, connectionsMax, clock }: ClickHouseReaderOptions) {
    this.#clock = clock
    this.#client = createClient({
      url,
      username,
      password,
      application: 'millrace user query',
      max_open_connections: connectionsMax,
      request_timeout: requestTimeoutMs,
      keep_alive: { enabled: true },
      log: { level: ClickHouseLogLevel.OFF },
    })
  }

  /** @throws UserQueryError */
  async execute(statement: ClickHouseStatement, request: QueryRequest): Promise<QueryResult> {
    const startedAt = this.#clock.monotonic()
    const { timeoutMs, signal, limit } = request
    const late = new AbortController()
    const done = new AbortController()
    this.#clock.sleep(timeoutMs + 2 * graceMs, done.signal).then(
      () => late.abort(),
      () => {},
    )
    try {
      const bytes = await this.#read(
        statement.sql,
        request,
        AbortSignal.any([late.signal, ...(signal ? [signal] : [])]),
      )
      const { columnTypes, rows } = decodeRows(
        bytes,
        statement.columns.map(({ type }) => type),
      )
      const shown = rows.slice(0, limit)
      return {
        engine: 'clickhouse',
        columns: statement.columns.map(({ name }) => name),
        columnTypes,
        rows: shown,
        rowCount: shown.length,
        truncated: rows.length > limit,
        relations: statement.relations,
        elapsedMs: this.#clock.monotonic() - startedAt,
      }
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

  async #read(sql: string, { timeoutMs, limit }: QueryRequest, signal: AbortSignal): Promise<Buffer> {
    const { stream } = await this.#client.exec({
      query: `${sql}\nFORMAT RowBinaryWithNamesAndTypes`,
      query_id: `user_query_${randomUUID()}`,
      abort_signal: signal,
      clickhouse_settings: settingsOf(timeoutMs, limit),
    })
    return await readAll(stream)
  }

  async close(): Promise<void> {
    await this.#client.close()
  }
}

/** Above every limit of a query; ours end it first. */
const requestTimeoutMs = 60_000

/**
 * The first group bounds what a query takes, the second makes SQL mean what it means on Postgres, and `readonly` keeps a
 * statement from changing either. 400 MB a query leaves half of a small machine to the indexer with two running.
 */
function settingsOf(timeoutMs: number, limit: number): ClickHouseSettings {
  return {
    max_execution_time: timeoutMs / 1000,
    timeout_overflow_mode: 'throw',
    max_memory_usage: '400000000',
    max_threads: 2,
    max_result_rows: String(limit + 1),
    max_result_bytes: String(answerBytesMax),
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
    cancel_http_readonly_queries_on_client_close: 1,
    readonly: '1',
  }
}

async function readAll(stream: Readable): Promise<Buffer> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of stream) {
    const bytes = Buffer.from(chunk)
    length += bytes.length
    if (length > answerBytesMax) {
      throw new UserQueryError('sql_failed', `the answer is larger than ${answerBytesMax} bytes`, {
        hint: 'ask for fewer rows or columns',
      })
    }
    chunks.push(bytes)
  }
  return Buffer.concat(chunks)
}
