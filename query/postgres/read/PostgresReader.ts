/**
 * Runs one checked statement as the restricted reader: a read-only transaction on a pool of its
 * own, on the extended protocol, with caps on rows, bytes and time; rows are read as they are
 * taken. A connection goes back to the pool only when the request ended well and DISCARD ALL made
 * it as new, which its answer does not wait for; otherwise its socket is cut, and the server ends
 * what still runs (client_connection_check_interval).
 */

import pg from 'pg'
import type { Clock } from '#runtime/runtime.ts'
import { quoteIdentifier, viewSchemaOf } from '#store/sql.ts'
import type { Logger } from '#telemetry.ts'
import { GRACE_MS } from '../../limits.ts'
import {
  collectResult,
  type QueryRequest,
  type QueryResult,
  type ResultEvent,
  type ResultHead,
} from '../../result.ts'
import { labelled } from '../../words/labels.ts'
import type { PostgresStatement } from '../gate/gate.ts'
import { asUserQueryError } from './errors.ts'
import { GuardedConnection } from './GuardedConnection.ts'
import { type ResultColumn, RowsQuery } from './RowsQuery.ts'
import { type RowTap, tapOf } from './RowTap.ts'

export interface BoundStatement
  extends Pick<PostgresStatement, 'sql' | 'relations'>,
    Partial<Pick<PostgresStatement, 'labels' | 'placeOf'>> {
  /** Values of the statement's parameters. */
  readonly values?: readonly number[]
}

export interface PostgresReaderOptions {
  /** Logs in as the restricted reader (roles.ts). */
  readonly url: string
  readonly connectionsMax: number
  /**
   * Puts a process of the server behind all others of its machine: those whose connections run what
   * goes behind. Absent: a server elsewhere.
   */
  readonly behind?: ((pid: number) => void) | undefined
  readonly clock: Clock
  readonly log: Logger
}

export class PostgresReader {
  readonly #pool: pg.Pool
  /** Its connections stay behind for good: no ordinary user may take that back from a process. */
  readonly #behind: pg.Pool
  readonly #clock: Clock

  constructor({ url, connectionsMax, behind, clock, log }: PostgresReaderOptions) {
    this.#clock = clock
    const open = (max: number) => {
      const pool = new pg.Pool({
        connectionString: url,
        application_name: 'millrace user query',
        max,
        connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
        keepAlive: true,
        pipeline: true,
      })
      pool.on('error', (error) => log.warn({ error: error.name }, 'an idle reader connection broke'))
      return pool
    }
    this.#pool = open(connectionsMax)
    this.#behind = open(Math.ceil(connectionsMax / 2))
    this.#behind.on('connect', (client) => {
      if ('processID' in client && typeof client.processID === 'number') behind?.(client.processID)
    })
  }

  /** @throws UserQueryError */
  execute(statement: BoundStatement, request: QueryRequest): Promise<QueryResult> {
    return collectResult(this.stream(statement, request))
  }

  /** @throws UserQueryError */
  async *stream(
    statement: BoundStatement,
    request: QueryRequest,
  ): AsyncGenerator<ResultEvent, void, undefined> {
    const startedAt = this.#clock.monotonic()
    const client = await this.#connect(request.behind ? this.#behind : this.#pool)
    // Before the guard, which counts all bytes that come.
    const tap = tapOf(client)
    const connection = new GuardedConnection(client, request, this.#clock)
    let cleaned: Promise<unknown> | undefined
    try {
      const { rows, reads, clean } = send(client, tap, statement, request)
      yield* eventsOf(rows, statement)
      const { rows: read } = await reads
      cleaned = clean
      const elapsedMs = this.#clock.monotonic() - startedAt
      yield { kind: 'end', end: { ...endOf(rows.count, request.limit, read[0]), elapsedMs } }
    } catch (error) {
      throw connection.reason ?? asUserQueryError(error, statement.placeOf)
    } finally {
      void isDone(cleaned).then((isClean) => {
        connection.release()
        client.release(!isClean || connection.reason !== undefined)
      })
    }
  }

  async #connect(pool: pg.Pool): Promise<pg.PoolClient> {
    try {
      return await pool.connect()
    } catch (cause) {
      throw asUserQueryError(cause)
    }
  }

  async close(): Promise<void> {
    await Promise.all([this.#pool.end(), this.#behind.end()])
  }
}

/** A request waits for a slot first; a connection is then free or a handshake away. */
const CONNECT_TIMEOUT_MS = 5_000

/**
 * Settings of one request. They end with the transaction, and the gate has no way to change them.
 * `jit` and parallel workers are off because user queries must not take more than the core their
 * slot stands for.
 */
function beginSql(timeoutMs: number): string {
  const settings = [
    `statement_timeout = ${timeoutMs}`,
    `transaction_timeout = ${timeoutMs + GRACE_MS}`,
    'lock_timeout = 1000',
    `idle_in_transaction_session_timeout = ${timeoutMs + GRACE_MS}`,
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

/**
 * One packet holds all of a request: its settings, its statement, what it has read, and what makes
 * the connection as new. The server takes one after the other; when the settings fail, it refuses
 * the statement, and the connection is given up.
 */
function send(
  client: pg.PoolClient,
  tap: RowTap,
  { sql, values = [] }: BoundStatement,
  request: QueryRequest,
) {
  const rows = new RowsQuery(tap, { sql, values }, request.limit)
  return tap.together(() => {
    client.query(beginSql(request.timeoutMs), (error) => {
      if (error) rows.handleError(error)
    })
    client.query(rows)
    const reads = client.query<Reads>(readsSql(request.chainId))
    const clean = Promise.all([client.query('ROLLBACK'), client.query('DISCARD ALL')])
    // They fail when the statement did, of which the statement tells.
    for (const other of [reads, clean]) other.catch(() => {})
    return { rows, reads, clean }
  })
}

/** False when it failed, or nobody came that far. */
async function isDone(work: Promise<unknown> | undefined): Promise<boolean> {
  if (!work) return false
  try {
    await work
    return true
  } catch {
    return false
  }
}

async function* eventsOf(
  rows: RowsQuery,
  statement: BoundStatement,
): AsyncGenerator<ResultEvent, void, undefined> {
  yield { kind: 'head', head: headOf(await rows.columns(), statement) }
  for (let batch = await rows.take(); batch; batch = await rows.take()) yield { kind: 'rows', rows: batch }
}

const headOf = (
  columns: readonly ResultColumn[],
  { relations, labels = [] }: BoundStatement,
): ResultHead => ({
  engine: 'postgres',
  columns: labelled(
    columns.map(({ name }) => name),
    labels,
  ),
  columnTypes: columns.map(({ type }) => type),
  relations,
})

interface Reads {
  readonly rows: string
  readonly bytes: string
}

/** The reads of this transaction (views.ts makes the function). */
const readsSql = (chainId: number): string =>
  `SELECT rows, bytes FROM ${quoteIdentifier(viewSchemaOf(chainId))}.transaction_reads()`

const endOf = (rowCount: number, limit: number, reads: Reads | undefined) => ({
  rowCount: Math.min(rowCount, limit),
  truncated: rowCount > limit,
  rowsRead: reads ? Number(reads.rows) : null,
  bytesRead: reads ? Number(reads.bytes) : null,
})
