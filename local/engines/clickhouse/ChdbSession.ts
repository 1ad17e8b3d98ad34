/**
 * The ClickHouse engine inside this process, through the calls of chDB's native addon. They are not
 * a public interface (chDB is pinned for that reason), and this is the only file that makes them.
 *
 * Not used, because each lost data or let a query through when measured: `chdb/connection`
 * (settings leak from query to query, stacked statements run, bodies become UTF-8), inline insert
 * data (ends at the first empty line, and the rest runs as SQL), `input()` (inserts nothing), KILL
 * QUERY .. SYNC (deadlocks its session). `Session` is not used because its close() waits for every
 * running query of the process, not only for its own.
 */

import { createRequire } from 'node:module'

import { messageOf } from '#errors.ts'
import { QueryError, unexpectedError } from './QueryError.ts'

/** How the engine classes a statement text. */
export interface Classification {
  readonly statements: number
  /** SELECT, SHOW, EXPLAIN and the like, with no INTO OUTFILE: nothing is changed by running it. */
  readonly readOnly: boolean
}

/**
 * One logical connection: its own settings, role, database and running query. Not for concurrent
 * use.
 */
export class ChdbSession {
  readonly #connection: Connection
  #open = true

  /** Opening costs 0.2 ms once the process has the directory open; the first one loads it. */
  constructor(dataPath: string, configFile: string) {
    this.#connection = native().CreateConnection(dataPath, [`--config-file=${configFile}`])
  }

  /**
   * Runs one text (which may hold several statements: only ever pass our own) off the event loop.
   */
  async run(sql: string, format = 'TabSeparated'): Promise<Uint8Array> {
    // Its `rowsRead` and `bytesRead` are those of the result. What was read of tables the library
    // knows (chdb_result_storage_rows_read) and the addon of 3.4.0 does not ask; system.processes
    // forgets a query with its end, there is no system.query_log, and system.events counts for all
    // queries of the process.
    const { bytes } = await failing(native().QueryAsyncConnection(this.#connection, sql, format))
    return bytes
  }

  /**
   * Runs one SELECT and yields its bytes block by block. Blocks the calling thread while scalar
   * subqueries are computed (measured: `(SELECT sleep(1.5))` held the event loop for 1.5 s), so
   * call it on a worker thread only. Right only for formats without header and footer: each block
   * is formatted by itself.
   */
  async *stream(sql: string, format: string): AsyncGenerator<Uint8Array, void, undefined> {
    let handle: StreamHandle
    try {
      handle = native().StreamQuery(this.#connection, sql, format)
    } catch (error) {
      throw asQueryError(error)
    }
    try {
      for (;;) {
        const block = await failing(native().StreamFetch(handle))
        if (block.done) return
        yield block.bytes
      }
    } finally {
      // Also after an error: until then the query stays in system.processes.
      native().StreamCancel(handle)
    }
  }

  /** The engine's own parser's view of the text. */
  async classify(sql: string): Promise<Classification> {
    const answer = await failing(native().DurableClassifyAsync(this.#connection, sql, 'default'))
    return { statements: answer.statementCount, readOnly: answer.queryClass === READ_ONLY_CLASS }
  }

  /** Ends the session. Call it only when none of its calls is running. */
  close(): void {
    if (this.#open) native().CloseConnection(this.#connection)
    this.#open = false
  }
}

const READ_ONLY_CLASS = 0

declare const connectionTag: unique symbol
declare const streamTag: unique symbol
type Connection = { readonly [connectionTag]: true }
type StreamHandle = { readonly [streamTag]: true }

/** The calls of the addon that are used, as found in chDB 3.4.0. */
interface Addon {
  CreateConnection(path: string, args: readonly string[]): Connection
  CloseConnection(connection: Connection): void
  QueryAsyncConnection(connection: Connection, sql: string, format: string): Promise<{ bytes: Uint8Array }>
  StreamQuery(connection: Connection, sql: string, format: string): StreamHandle
  StreamFetch(handle: StreamHandle): Promise<{ done: true } | { done: false; bytes: Uint8Array }>
  StreamCancel(handle: StreamHandle): void
  DurableClassifyAsync(
    connection: Connection,
    sql: string,
    database: string,
  ): Promise<{ statementCount: number; queryClass: number }>
}

const callNames = [
  'CreateConnection',
  'CloseConnection',
  'QueryAsyncConnection',
  'StreamQuery',
  'StreamFetch',
  'StreamCancel',
  'DurableClassifyAsync',
] as const

let loaded: Addon | undefined

function native(): Addon {
  loaded ??= loadAddon()
  return loaded
}

function loadAddon(): Addon {
  const require = createRequire(import.meta.url)
  const loader: unknown = createRequire(require.resolve('chdb'))('./dist/loader.js')
  if (!hasFunction(loader, 'loadNative')) throw new TypeError('chdb has no native loader')
  const addon: unknown = loader.loadNative()
  for (const name of callNames) {
    if (!hasFunction(addon, name)) throw new TypeError(`the chdb addon has no ${name}`)
  }
  return addon as Addon
}

function hasFunction<Name extends string>(value: unknown, name: Name): value is Record<Name, () => unknown> {
  return typeof value === 'object' && value !== null && typeof Reflect.get(value, name) === 'function'
}

async function failing<T>(call: Promise<T>): Promise<T> {
  try {
    return await call
  } catch (error) {
    throw asQueryError(error)
  }
}

/**
 * The engine's errors are texts that begin with their number:
 * `Code: 62. DB::Exception: Syntax error: .. (SYNTAX_ERROR)`.
 */
function asQueryError(error: unknown): QueryError {
  const message = messageOf(error)
  const number = /^Code: (\d+)\./.exec(message)?.[1]
  return number === undefined
    ? unexpectedError(error)
    : new QueryError(Number(number), message, { cause: error })
}
