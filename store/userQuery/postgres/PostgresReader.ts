/**
 * Runs one checked statement as the restricted reader: a read-only transaction on a pool of its own, on the extended
 * protocol, with caps on rows, bytes and time. A connection goes back to the pool only when the request ended well and
 * DISCARD ALL made it as new; otherwise its socket is cut, and the server ends what still runs
 * (client_connection_check_interval).
 */

import pg from 'pg'
import type { Clock } from '#runtime.ts'
import type { Logger } from '#telemetry.ts'
import { graceMs, valueBytesMax } from '../limits.ts'
import type { QueryRequest, QueryResult, SqlValue } from '../result.ts'
import { UserQueryError } from '../UserQueryError.ts'
import { asUserQueryError } from './errors.ts'
import { GuardedConnection } from './GuardedConnection.ts'
import type { PostgresStatement } from './gate.ts'
import { type ColumnReader, columnReader } from './values.ts'

export interface PostgresReaderOptions {
  /** Logs in as the restricted reader (roles.ts). */
  readonly url: string
  readonly connectionsMax: number
  readonly clock: Clock
  readonly log: Logger
}

export class PostgresReader {
  readonly #pool: pg.Pool
  readonly #clock: Clock

  constructor({ url, connectionsMax, clock, log }: PostgresReaderOptions) {
    this.#clock = clock
    this.#pool = new pg.Pool({
      connectionString: url,
      application_name: 'millrace user query',
      max: connectionsMax,
      connectionTimeoutMillis: connectTimeoutMs,
      keepAlive: true,
    })
    this.#pool.on('error', (error) => log.warn({ error: error.name }, 'an idle reader connection broke'))
  }

  /** @throws UserQueryError */
  async execute(statement: PostgresStatement, request: QueryRequest): Promise<QueryResult> {
    const startedAt = this.#clock.monotonic()
    const client = await this.#connect()
    const connection = new GuardedConnection(client, request, this.#clock)
    let isClean = false
    try {
      await client.query(beginSql(request.timeoutMs))
      const answer = await client.query<SqlText[]>(extendedQuery(statement.sql))
      await client.query('ROLLBACK')
      await client.query('DISCARD ALL')
      isClean = connection.reason === undefined
      return resultOf(answer, statement, request.limit, this.#clock.monotonic() - startedAt)
    } catch (error) {
      throw connection.reason ?? asUserQueryError(error)
    } finally {
      connection.release()
      client.release(!isClean)
    }
  }

  async #connect(): Promise<pg.PoolClient> {
    try {
      return await this.#pool.connect()
    } catch (cause) {
      throw asUserQueryError(cause)
    }
  }

  async close(): Promise<void> {
    await this.#pool.end()
  }
}

/** A request waits for a slot first; a connection is then free or a handshake away. */
const connectTimeoutMs = 5_000

type SqlText = string | null

/**
 * Settings of one request. They end with the transaction, and the gate has no way to change them. `jit` and parallel
 * workers are off because user queries must not take more than the core their slot stands for.
 */
function beginSql(timeoutMs: number): string {
  const settings = [
    `statement_timeout = ${timeoutMs}`,
    `transaction_timeout = ${timeoutMs + graceMs}`,
    'lock_timeout = 1000',
    `idle_in_transaction_session_timeout = ${timeoutMs + graceMs}`,
    'client_connection_check_interval = 500',
    "work_mem = '32MB'",
    'max_parallel_workers_per_gather = 0',
    'jit = off',
    "search_path = ''",
    "timezone = 'UTC'",
    "datestyle = 'ISO, YMD'",
    "intervalstyle = 'postgres'",
    "bytea_output = 'hex'",
    'extra_float_digits = 1',
    'standard_conforming_strings = on',
  ]
  return `BEGIN READ ONLY; ${settings.map((setting) => `SET LOCAL ${setting}`).join('; ')}`
}

/** On the extended protocol one message holds one statement; values stay as the server wrote them. */
function extendedQuery(sql: string): pg.QueryArrayConfig {
  const config = {
    text: sql,
    rowMode: 'array' as const,
    queryMode: 'extended',
    types: { getTypeParser: () => String },
  }
  return config
}

function resultOf(
  answer: pg.QueryArrayResult<SqlText[]>,
  { relations }: PostgresStatement,
  limit: number,
  elapsedMs: number,
): QueryResult {
  const readers = answer.fields.map(({ name, dataTypeID }) => columnReader(name, dataTypeID))
  const rows = answer.rows
    .slice(0, limit)
    .map((row) => row.map((text, index) => readValue(text, readers[index])))
  return {
    engine: 'postgres',
    columns: answer.fields.map(({ name }) => name),
    columnTypes: readers.map(({ type }) => type),
    rows,
    rowCount: rows.length,
    truncated: answer.rows.length > limit,
    relations,
    elapsedMs,
  }
}

function readValue(text: SqlText, reader: ColumnReader | undefined): SqlValue {
  if (text === null || !reader) return null
  if (text.length > valueBytesMax) {
    throw new UserQueryError('sql_failed', `a value is larger than ${valueBytesMax} bytes`)
  }
  return reader.read(text)
}
