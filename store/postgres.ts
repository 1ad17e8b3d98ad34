import { hash } from 'node:crypto'
import pg from 'pg'
import { failure, MillraceError } from '#errors.ts'
import type { Clock } from '#runtime/runtime.ts'
import type { Logger } from '#telemetry.ts'

/**
 * Connections to Postgres, and the few ways they are used: to index, to read lists, and for the
 * service's own rows. Each way has a pool, so that whatever strangers make of one, the others are
 * free.
 */
export interface Postgres {
  readonly pool: pg.Pool
  /**
   * Connections that lists are read on: read-only, each transaction of one moment, plans for any
   * value.
   */
  readonly reads: pg.Pool
  /**
   * Connections for the service's own rows: keys, quotas, filters, webhooks. Whatever strangers make
   * of them, those of ingest are free.
   */
  readonly rows: pg.Pool
  /** Runs `work` in one transaction on one connection; rolls back when it throws. */
  transaction<T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T>
  close(): Promise<void>
}

export interface PostgresOptions {
  readonly url: string
  /** Which role of the program connects; shows in pg_stat_activity. */
  readonly applicationName: string
  readonly connectionsMax?: number
  /** Cap on any one statement of ours. */
  readonly statementTimeoutMs?: number
  readonly log: Logger
}

/** Statements on the service's rows take some ms, and none waits for anything but the database. */
const ROW_CONNECTIONS_MAX = 8
/**
 * A batch is one transaction; a minute is far beyond the slowest one measured (2 s for 64 MB of
 * rows).
 */
const STATEMENT_TIMEOUT_MS = 60_000
/**
 * Long enough for a restart of the server to be felt as a retry, short enough to be told about it.
 * On a machine with too much to do, five seconds were not enough for a connection over loopback.
 */
const CONNECT_TIMEOUT_MS = 15_000

/**
 * A connection that replaces one which rested reads the catalog anew, with all partitions: with ten
 * seconds, an idle program spent as much on that as on its statements.
 */
const IDLE_CONNECTION_MS = 120_000

// Heights and counts fit a safe integer, and a number that does not is an error, never a rounded one;
// 256-bit values are `numeric` and stay text until a codec makes a bigint.
pg.types.setTypeParser(pg.types.builtins.INT8, safeInteger)

/** Opens a pool. Connects lazily; `assertReachable` says whether the server is there. */
export function openPostgres(options: PostgresOptions): Postgres {
  const connection = {
    connectionString: options.url,
    application_name: options.applicationName,
    max: options.connectionsMax ?? 8,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    idleTimeoutMillis: IDLE_CONNECTION_MS,
    statement_timeout: options.statementTimeoutMs ?? STATEMENT_TIMEOUT_MS,
    idle_in_transaction_session_timeout: STATEMENT_TIMEOUT_MS,
    keepAlive: true,
  }
  const pool = new pg.Pool({ ...connection, onConnect: endWithClient })
  const reads = new pg.Pool({
    ...connection,
    pipeline: true,
    maxLifetimeSeconds: READ_CONNECTION_SECONDS,
    onConnect: (client) => prepareReading(client),
  })
  const rows = new pg.Pool({ ...connection, max: Math.min(connection.max, ROW_CONNECTIONS_MAX) })
  for (const each of [pool, reads, rows]) {
    // An idle connection that breaks is replaced by the pool; without a listener it would end the
    // process.
    each.on('error', (error) =>
      options.log.warn({ code: codeOf(error) }, 'an idle Postgres connection broke'),
    )
    // One that breaks while it is lent fails the statement under way; the event says nothing more.
    each.on('connect', (client) => client.on('error', () => {}))
  }
  return {
    pool,
    reads,
    rows,
    transaction: (work) => inTransaction(pool, work),
    close: async () => {
      await Promise.all([pool.end(), reads.end(), rows.end()])
    },
  }
}

/** How often the server looks whether the client of a statement that runs is still there. */
const CLIENT_CHECK_MS = 2_000

/**
 * A killed writer's statement ends soon after it: one left behind would run for hours, and hold up
 * the next writer's. A server whose system cannot tell (Windows) refuses the setting, and is used
 * without.
 */
async function endWithClient(client: Pick<pg.ClientBase, 'query'>): Promise<void> {
  await client.query(`SET client_connection_check_interval = ${CLIENT_CHECK_MS}`).catch(() => {})
}

/**
 * A prepared plan takes up to half a megabyte with many partitions, and a connection keeps those of
 * all lists it served.
 */
const READ_CONNECTION_SECONDS = 1_800

/**
 * The settings of connections of `reads`. Pages are served by indexes whose blocks are in memory, or on
 * disks that seek for nothing; with the server's default, made for turning disks, a planner rather walks
 * all rows down from the newest once a value is not rare (measured: 1,540 rows for a page of 11, against
 * 15). And every filter has its index, so the plan is the same whatever the value, and is made once.
 */
export async function prepareReading(client: Pick<pg.ClientBase, 'query'>): Promise<void> {
  await client.query(`
    SET default_transaction_read_only = on;
    SET default_transaction_isolation = 'repeatable read';
    SET random_page_cost = 1.1;
    SET plan_cache_mode = force_generic_plan`)
}

/**
 * A timeout or a lost connection during COMMIT means "unknown": callers re-read the tip before they
 * do anything else.
 */
async function inTransaction<T>(pool: pg.Pool, work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect().catch((cause: unknown) => {
    throw new PostgresError(cause)
  })
  let broken: Error | undefined
  // A connection that dies between two statements reports it here, not as a rejection.
  const onError = (error: Error) => {
    broken = error
  }
  client.on('error', onError)
  try {
    await client.query('BEGIN')
    const result = await work(client)
    await client.query('COMMIT')
    return result
  } catch (error) {
    if (error instanceof MillraceError) await rollback(client)
    else broken = (await rollback(client)) ? undefined : asError(error)
    throw error instanceof MillraceError ? error : new PostgresError(error)
  } finally {
    client.off('error', onError)
    client.release(broken)
  }
}

/** True when the connection is usable again. */
async function rollback(client: pg.PoolClient): Promise<boolean> {
  try {
    await client.query('ROLLBACK')
    return true
  } catch {
    return false
  }
}

/** @throws StoreUnreachableError naming the setting, never the URL. */
export async function assertReachable(postgres: Postgres): Promise<void> {
  try {
    await postgres.pool.query('SELECT 1')
  } catch (cause) {
    throw new StoreUnreachableError('DATABASE_URL', codeOf(cause), { cause })
  }
}

/** How long readers are kept from being told that the store is away. */
const ANSWER_MS_MAX = 2_000

/** On a connection of readers. @throws StoreUnreachableError where it has no answer in two seconds */
export async function assertAnswers({ reads }: Pick<Postgres, 'reads'>, clock: Clock): Promise<void> {
  const ended = new AbortController()
  const late = clock.sleep(ANSWER_MS_MAX, ended.signal).then(() => {
    throw new Error('it took too long')
  })
  const answer = reads.query('SELECT 1')
  try {
    await Promise.race([answer, late])
  } catch (cause) {
    throw new StoreUnreachableError('DATABASE_URL', codeOf(cause), { cause })
  } finally {
    answer.catch(() => {})
    late.catch(() => {})
    ended.abort()
  }
}

/**
 * Name of a statement that is kept prepared: Postgres cuts names at 63 bytes, and the driver
 * refuses a name with another text.
 */
export const preparedName = (text: string): string => `read_${hash('sha256', text, 'base64url').slice(0, 22)}`

export interface PreparedText {
  readonly name: string
  readonly text: string
}

/** A statement and its name, made once for each schema: the name costs as much as a small read. */
export function preparedBySchema(write: (schema: string) => string): (schema: string) => PreparedText {
  const made = new Map<string, PreparedText>()
  return (schema) => {
    const known = made.get(schema)
    if (known) return known
    const text = write(schema)
    const prepared = { name: preparedName(text), text }
    made.set(schema, prepared)
    return prepared
  }
}

function codeOf(error: unknown): string {
  if (error instanceof Error && 'code' in error && typeof error.code === 'string') return error.code
  return error instanceof Error ? error.name : 'unknown'
}

const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)))

/**
 * SQLSTATE classes that a person has to look at: bad data, constraint, syntax, privileges, disk.
 */
const stopClasses = new Set(['22', '23', '42', '28', '3D'])

/**
 * A statement failed or its connection was lost. `sqlState` decides; the server's text stays in
 * `cause`.
 */
export class PostgresError extends MillraceError {
  override readonly name = 'PostgresError'
  readonly code = 'postgres_failed'
  readonly remedy: 'retry' | 'stop'
  readonly sqlState: string

  constructor(cause: unknown) {
    const sqlState = codeOf(cause)
    super(`Postgres refused a statement or went away (${sqlState}): ${asError(cause).message}`, { cause })
    this.sqlState = sqlState
    this.remedy = stopClasses.has(sqlState.slice(0, 2)) && sqlState.length === 5 ? 'stop' : 'retry'
  }
}

/** Classes of what is wrong with the data of a statement: its values, or their size. */
const dataClasses = new Set(['22', '54'])

/** Whether a statement failed by what it was given, as the client or the pool throws it. */
export function isDataFault(error: unknown): boolean {
  const sqlState = error instanceof PostgresError ? error.sqlState : codeOf(error)
  return sqlState.length === 5 && dataClasses.has(sqlState.slice(0, 2))
}

/** A store does not answer. `setting` is the one that points to it. */
export class StoreUnreachableError extends failure('StoreUnreachableError', 'store_unreachable', 'retry') {
  readonly setting: string

  constructor(setting: string, reason: string, options?: ErrorOptions) {
    super(`${setting}: the store does not answer (${reason})`, options)
    this.setting = setting
  }
}

/** @throws RangeError, which fails the query */
function safeInteger(text: string): number {
  const number = Number(text)
  if (Number.isSafeInteger(number)) return number
  throw new RangeError(`${text} is beyond what a number holds exactly`)
}
