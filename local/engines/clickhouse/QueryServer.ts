/**
 * The ClickHouse HTTP interface over the engine in this process: as much of it as the ordinary
 * client, curl and our own code use, so that they need not know whether they talk to a server or to
 * us.
 */

import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'

import { join } from 'node:path'
import { ChdbSession } from './ChdbSession.ts'
import { heldAnswer } from './heldAnswer.ts'
import { queryError, unexpectedError } from './QueryError.ts'
import { ClientGone, QueryHttpAnswer } from './QueryHttpAnswer.ts'
import { type HttpQueryRequest, type Logins, readQueryRequest } from './queryRequest.ts'
import { readStatementBody, Spool } from './requestBody.ts'
import { quoteString, sessionSetup } from './sessionSetup.ts'
import {
  assertReaderMayAsk,
  type DataInsert,
  type OtherStatement,
  queryIdTag,
  readStatement,
  rewriteProcessQueries,
} from './statement.ts'
import { type ThreadLimits, Threads } from './Threads.ts'
import { headedFormat, type ThreadEvent } from './threadMessages.ts'

export interface QueryServerOptions {
  readonly dataPath: string
  readonly configFile: string
  /** The folder from which rows are read. */
  readonly spoolFolder: string
  readonly logins: Logins
  readonly limits: ThreadLimits
}

/** The server of one data directory. */
export class QueryServer {
  readonly #options: QueryServerOptions
  readonly #server: Server
  readonly #threads: Threads
  readonly #spool: Spool
  /** Keeps the engine open, and ends other sessions' queries: never runs anything long. */
  readonly #control: ChdbSession
  readonly #running = new Set<string>()

  constructor(options: QueryServerOptions) {
    this.#options = options
    this.#control = new ChdbSession(options.dataPath, options.configFile)
    this.#threads = new Threads(options.dataPath, options.configFile, options.limits)
    this.#spool = new Spool(options.spoolFolder)
    this.#server = createServer({ maxHeaderSize: URL_BYTES_MAX }, (request, response) => {
      void this.#serve(request, response)
    })
    // The client keeps connections for reuse; a batch's insert may take longer than Node's default
    // five minutes.
    this.#server.requestTimeout = 0
    this.#server.keepAliveTimeout = KEEP_ALIVE_MS
    this.#server.maxConnections = CONNECTIONS_MAX
  }

  /** Listens on loopback; 0 chooses a free port. Resolves to the port when queries are answered. */
  async listen(port: number): Promise<number> {
    await this.#control.run('SELECT 1')
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject)
      this.#server.listen(port, '127.0.0.1', resolve)
    })
    const address = this.#server.address()
    return typeof address === 'object' && address !== null ? address.port : port
  }

  /** Refuses new requests, ends running reads, lets writes finish, and closes the engine. */
  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()))
    // A connection turns idle when its answer is out, which Node tells nobody.
    const idle = setInterval(() => this.#server.closeIdleConnections(), IDLE_POLL_MS)
    await this.#control.run(
      `KILL QUERY WHERE query_kind = 'Select' AND startsWith(query, '/*query_id:') ASYNC`,
    )
    await closed
    clearInterval(idle)
    await this.#threads.close()
    this.#control.close()
    this.#spool.close()
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url?.split('?')[0]
    if (path === '/ping' || (path === '/' && request.method === 'GET' && !request.url?.includes('query='))) {
      response.end('Ok.\n')
      return
    }
    let answer = new QueryHttpAnswer(response, { queryId: '', contentCoding: undefined })
    try {
      if (path !== '/') throw queryError('BAD_ARGUMENTS', `There is no ${path}.`)
      const query = readQueryRequest(request, this.#options.logins)
      answer = new QueryHttpAnswer(response, query)
      await this.#answerOnce(query, request, response, answer)
    } catch (error) {
      if (error instanceof ClientGone) return
      // The rest of a refused body is not read: the connection cannot be used again.
      if (!request.complete && !response.headersSent) response.setHeader('Connection', 'close')
      answer.fail(unexpectedError(error))
    }
  }

  async #answerOnce(
    query: HttpQueryRequest,
    request: IncomingMessage,
    response: ServerResponse,
    answer: QueryHttpAnswer,
  ): Promise<void> {
    if (this.#running.has(query.queryId)) {
      const problem = `Query with id = ${query.queryId} is already running.`
      throw queryError('QUERY_WITH_SAME_ID_IS_ALREADY_RUNNING', problem)
    }
    this.#running.add(query.queryId)
    try {
      const { statement, rows } = await this.#readStatement(query, request)
      if (statement.kind === 'insert') await this.#insert(query, statement, rows, request, answer)
      else await this.#run(query, statement, response, answer)
    } finally {
      this.#running.delete(query.queryId)
    }
  }

  /** The statement comes from the URL, the body, or both; rows come after it, or are the body. */
  async #readStatement(query: HttpQueryRequest, request: IncomingMessage) {
    if (query.sql === undefined) {
      const body = await readStatementBody(request)
      const statement = readStatement(body.toString('latin1'))
      if (statement.kind === 'other')
        return { statement: { ...statement, sql: body.toString() }, rows: undefined }
      const head = body.subarray(0, Buffer.byteLength(statement.head, 'latin1')).toString()
      return { statement: { ...statement, head }, rows: body.subarray(statement.dataStart) }
    }
    const statement = readStatement(query.sql)
    if (statement.kind === 'insert')
      return { statement, rows: Buffer.from(query.sql.slice(statement.dataStart)) }
    const rest = await readStatementBody(request)
    const sql = rest.length > 0 ? `${query.sql}\n${rest.toString()}` : query.sql
    return { statement: rest.length > 0 ? readStatement(sql) : statement, rows: undefined }
  }

  /**
   * Rows always go through a file: given inline, chDB ends them at the first empty line and runs
   * what follows as SQL.
   */
  async #insert(
    query: HttpQueryRequest,
    statement: DataInsert,
    firstRows: Buffer | undefined,
    request: IncomingMessage,
    answer: QueryHttpAnswer,
  ): Promise<void> {
    if (query.user === 'reader') throw queryError('READONLY', 'Cannot execute query in readonly mode.')
    const body = query.sql === undefined ? undefined : request
    const path = await this.#spool.write(firstRows ?? Buffer.alloc(0), body)
    if (path === undefined) {
      answer.end()
      return
    }
    const source = `file(${quoteString(path)}, ${quoteString(statement.format)})`
    const sql = `${statement.head} SELECT * FROM ${source}`
    const setup = sessionSetup({ ...query, settings: new Map([...insertSettings, ...query.settings]) })
    const job = { setup, sql, queryId: query.queryId, format: 'Null', readOnly: false, stream: false }
    try {
      // Without a summary: the engine does not tell how many rows it wrote.
      for await (const event of this.#threads.run(job)) if (event.type === 'end') answer.end()
    } finally {
      this.#spool.remove(path)
    }
  }

  async #run(
    query: HttpQueryRequest,
    statement: OtherStatement,
    response: ServerResponse,
    answer: QueryHttpAnswer,
  ): Promise<void> {
    const isReader = query.user === 'reader'
    const { sql, isSelect, format = query.format } = statement
    if (isReader) assertReaderMayAsk(sql)
    const isHeldInFile = query.bufferBytes !== null && (streamable.has(format) || format === headedFormat)
    const job = {
      setup: sessionSetup(query),
      sql: isReader ? sql : rewriteProcessQueries(sql),
      queryId: query.queryId,
      format,
      readOnly: isReader,
      stream: isSelect && (query.waitEndOfQuery ? isHeldInFile : streamable.has(format)),
    }
    answer.format = format
    // A write is left to finish: half of one would have to be found and removed.
    const leave = () => {
      if (isSelect && !response.writableFinished) void this.#kill(query.queryId)
    }
    response.once('close', leave)
    try {
      const events = this.#threads.run(job)
      if (job.stream && query.waitEndOfQuery) return await this.#answerHeld(events, query, response, answer)
      for await (const event of events) {
        if (response.destroyed && isSelect) throw new ClientGone()
        if (event.type === 'chunk') await answer.write(event.bytes)
        if (event.type === 'end') answer.end()
      }
    } finally {
      response.removeListener('close', leave)
    }
  }

  async #answerHeld(
    events: AsyncIterable<ThreadEvent>,
    { bufferBytes }: HttpQueryRequest,
    response: ServerResponse,
    answer: QueryHttpAnswer,
  ): Promise<void> {
    const path = join(this.#options.dataPath, `held_${randomUUID()}`)
    const isWanted = () => !response.destroyed
    for await (const piece of heldAnswer(events, { path, memoryBytes: bufferBytes ?? 0, isWanted }))
      await answer.write(piece)
    if (!isWanted()) throw new ClientGone()
    answer.end()
  }

  /** ASYNC: KILL QUERY .. SYNC deadlocks the session that says it. */
  async #kill(queryId: string): Promise<void> {
    const tag = quoteString(queryIdTag(queryId))
    // Fails only when the engine is closing, which ends the query as well.
    await this.#control.run(`KILL QUERY WHERE startsWith(query, ${tag}) ASYNC`).catch(() => {})
  }
}

// The real server's default; parameters of a query travel in the URL.
const URL_BYTES_MAX = 1024 * 1024
// Far more than threads and queue can serve; each connection may hold a body of its own.
const CONNECTIONS_MAX = 256
const IDLE_POLL_MS = 50
// Longer than the client's idle timeout of 2.5 s, so that it never writes into a connection we are
// closing.
const KEEP_ALIVE_MS = 30_000

/**
 * Blocks stay in the file's order, so that a retry with the same deduplication token cuts the same
 * parts.
 */
const insertSettings: readonly (readonly [string, string])[] = [['parallelize_output_from_storages', '0']]

/** Formats that are the same whether the result is written at once or block by block. */
const streamable = new Set([
  'Native',
  'RowBinary',
  'TabSeparated',
  'TSV',
  'TabSeparatedRaw',
  'TSVRaw',
  'CSV',
  'JSONEachRow',
  'JSONLines',
  'NDJSON',
  'JSONStringsEachRow',
  'JSONCompactEachRow',
  'JSONCompactStringsEachRow',
  'LineAsString',
  'TSKV',
])
