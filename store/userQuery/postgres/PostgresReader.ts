/**
 * Runs one checked statement as the restricted reader: a read-only transaction on a pool of its own, on the extended
 * protocol, with caps on rows, bytes and time; rows are fetched as they are taken. A connection goes back to the pool only
 * when the request ended well and DISCARD ALL made it as new, which its answer does not wait for; otherwise its socket is
 * cut, and the server ends what still runs (client_connection_check_interval).
 */

import pg from 'pg'
import Cursor from 'pg-cursor'
import type { Clock } from '#runtime.ts'
import type { Logger } from '#telemetry.ts'
import { quoteIdentifier, viewSchemaOf } from '../../postgres.ts'
import { graceMs, valueBytesMax } from '../limits.ts'
import {
  collectResult,
  type QueryRequest,
  type QueryResult,
  type ResultEvent,
  type ResultHead,
  type SqlValue,
} from '../result.ts'
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
  execute(statement: PostgresStatement, request: QueryRequest): Promise<QueryResult> {
    return collectResult(this.stream(statement, request))
  }

  /** @throws UserQueryError */
  async *stream(
    statement: PostgresStatement,
    request: QueryRequest,
  ): AsyncGenerator<ResultEvent, void, undefined> {
    const startedAt = this.#clock.monotonic()
    const client = await this.#connect()
    const connection = new GuardedConnection(client, request, this.#clock)
    let cleaned: Promise<boolean> | undefined
    try {
      await client.query(beginSql(request.timeoutMs))
      const rowCount = yield* rowsOf(client, statement, request.limit)
      const reads = await client.query<Reads>(readsSql(request.chainId))
      cleaned = clean(client)
      const elapsedMs = this.#clock.monotonic() - startedAt
      yield { kind: 'end', end: { ...endOf(rowCount, request.limit, reads.rows[0]), elapsedMs } }
    } catch (error) {
      throw connection.reason ?? asUserQueryError(error)
    } finally {
      void (cleaned ?? Promise.resolve(false)).then((isClean) => {
        connection.release()
        client.release(!isClean || connection.reason !== undefined)
      })
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

/** Makes a connection as new; false when it could not. */
async function clean(client: pg.PoolClient): Promise<boolean> {
  try {
    await client.query('ROLLBACK')
    await client.query('DISCARD ALL')
    return true
  } catch {
    return false
  }
}

/** Rows fetched at once: enough to keep round trips rare, few enough to be nothing beside the answer's bound. */
const rowsFetched = 1_000

/** The head, then the rows up to the limit; returns how many the query had, one more than the limit at most. */
async function* rowsOf(
  client: pg.PoolClient,
  { sql, relations }: PostgresStatement,
  limit: number,
): AsyncGenerator<ResultEvent, number, undefined> {
  // On the extended protocol one message holds one statement; values stay as the server wrote them.
  const cursor = client.query(
    new Cursor<SqlText[]>(sql, [], { rowMode: 'array', types: { getTypeParser: () => String } }),
  )
  let readers: readonly ColumnReader[] | undefined
  for (let count = 0; ; ) {
    const { rows, fields } = await fetchRows(cursor)
    if (!readers) {
      readers = fields.map(({ name, dataTypeID }) => columnReader(name, dataTypeID))
      yield { kind: 'head', head: headOf(fields, readers, relations) }
    }
    const known = readers
    const shown = rows.slice(0, Math.max(0, limit - count))
    count += rows.length
    if (shown.length > 0)
      yield { kind: 'rows', rows: shown.map((row) => row.map((text, n) => readValue(text, known[n]))) }
    if (rows.length < rowsFetched) return count
  }
}

interface Fetched {
  readonly rows: readonly SqlText[][]
  readonly fields: readonly pg.FieldDef[]
}

/** Only the callback of the driver tells the fields. */
function fetchRows(cursor: Cursor<SqlText[]>): Promise<Fetched> {
  return new Promise((resolve, reject) => {
    cursor.read(rowsFetched, (error, rows, result) => {
      if (error) reject(error)
      else resolve({ rows, fields: result.fields })
    })
  })
}

const headOf = (
  fields: readonly pg.FieldDef[],
  readers: readonly ColumnReader[],
  relations: readonly string[],
): ResultHead => ({
  engine: 'postgres',
  columns: fields.map(({ name }) => name),
  columnTypes: readers.map(({ type }) => type),
  relations,
})

interface Reads {
  readonly rows: string
  readonly bytes: string
}

/** What this transaction has read (views.ts makes the function). */
const readsSql = (chainId: number): string =>
  `SELECT rows, bytes FROM ${quoteIdentifier(viewSchemaOf(chainId))}.transaction_reads()`

const endOf = (rowCount: number, limit: number, reads: Reads | undefined) => ({
  rowCount: Math.min(rowCount, limit),
  truncated: rowCount > limit,
  rowsRead: reads ? Number(reads.rows) : null,
  bytesRead: reads ? Number(reads.bytes) : null,
})

function readValue(text: SqlText, reader: ColumnReader | undefined): SqlValue {
  if (text === null || !reader) return null
  if (text.length > valueBytesMax) {
    throw new UserQueryError('sql_failed', `a value is larger than ${valueBytesMax} bytes`)
  }
  return reader.read(text)
}
