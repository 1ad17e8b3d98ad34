/** Statements and transactions that end when nobody waits for them. */
import pg from 'pg'
import { MillraceError } from '#errors.ts'
import { type Postgres, PostgresError } from './postgres.ts'

/**
 * Runs reads that all see the same moment: a block that is reverted between two of them is there
 * for both or for none. Those that do not wait for each other go to the server together.
 * @throws PostgresError, the signal's reason, or what `read` throws
 */
export function readSnapshot<Result>(
  postgres: Postgres,
  signal: AbortSignal,
  read: (client: pg.PoolClient) => Promise<Result>,
  plans: 'ofValues' | 'prepared' = 'ofValues',
): Promise<Result> {
  return withCancel(postgres.reads, signal, async (client) => {
    const begun = client.query(beginSnapshot[plans])
    // Not waited for: what is sent behind it fails with it, and is what gets reported.
    begun.catch(() => {})
    try {
      return await read(client)
    } finally {
      // Nothing was written, so how the transaction ends makes no difference; a lost connection is
      // reported by the read.
      await client.query('ROLLBACK').catch(() => {})
    }
  })
}

/**
 * Reads by one prepared statement, which needs no transaction to be of one moment. @throws like
 * readSnapshot
 */
export function readOnce<Result>(
  postgres: Postgres,
  signal: AbortSignal,
  read: (client: pg.PoolClient) => Promise<Result>,
): Promise<Result> {
  return withCancel(postgres.reads, signal, read)
}

/**
 * Reads by one statement that is planned for its values; all of it goes to the server together.
 * @throws like readSnapshot
 */
export function readPlanned<Row extends pg.QueryResultRow>(
  postgres: Postgres,
  signal: AbortSignal,
  statement: pg.QueryConfig,
): Promise<pg.QueryResult<Row>> {
  return withCancel(postgres.reads, signal, async (client) => {
    const begun = client.query(beginSnapshot.ofValues)
    const read = client.query<Row>(statement)
    const ended = client.query('ROLLBACK')
    // An error of one of them is one of the read, which reports it.
    for (const beside of [begun, ended]) beside.catch(() => {})
    try {
      return await read
    } finally {
      await ended.catch(() => {})
    }
  })
}

/**
 * A writing transaction that the server ends when the signal fires, whatever statement it is at:
 * its connection is closed, for a statement that is cancelled may be followed by the next.
 * @throws like Postgres.transaction; the signal's reason
 */
export function stoppableTransaction<Result>(
  postgres: Postgres,
  signal: AbortSignal,
  work: (client: pg.PoolClient) => Promise<Result>,
): Promise<Result> {
  return postgres.transaction(async (client) => {
    signal.throwIfAborted()
    let ended: Promise<unknown> = Promise.resolve()
    const end = () => {
      ended = tellBackend(postgres.pool, 'pg_terminate_backend', processId(client)).catch(() => {})
    }
    signal.addEventListener('abort', end, { once: true })
    try {
      return await work(client)
    } finally {
      signal.removeEventListener('abort', end)
      await ended
    }
  })
}

/**
 * The connections are set to plan for any value (prepareReading); statements that join are planned
 * for theirs.
 */
const beginSnapshot = { prepared: 'BEGIN', ofValues: 'BEGIN; SET LOCAL plan_cache_mode = auto' } as const

/**
 * Lends a connection; when the signal fires, the server is told to stop what runs on it over a
 * connection made for that: closing the socket alone leaves the statement running (measured), and
 * the pool may be full of statements to be stopped.
 */
async function withCancel<Result>(
  pool: pg.Pool,
  signal: AbortSignal,
  work: (client: pg.PoolClient) => Promise<Result>,
): Promise<Result> {
  signal.throwIfAborted()
  const client = await pool.connect().catch((cause: unknown) => {
    throw new PostgresError(cause)
  })
  let cancelled: Promise<unknown> = Promise.resolve()
  const cancel = () => {
    cancelled = tellBackend(pool, 'pg_cancel_backend', processId(client)).catch(() => {})
  }
  signal.addEventListener('abort', cancel, { once: true })
  try {
    return await work(client)
  } catch (cause) {
    signal.throwIfAborted()
    throw cause instanceof MillraceError ? cause : new PostgresError(cause)
  } finally {
    signal.removeEventListener('abort', cancel)
    // A cancel still under way would hit whatever this connection runs next.
    await cancelled
    client.release()
  }
}

/** Over a connection of its own: those of the pool may all be at work. */
async function tellBackend(
  pool: pg.Pool,
  order: 'pg_cancel_backend' | 'pg_terminate_backend',
  backend: number,
): Promise<void> {
  const canceller = new pg.Client(pool.options)
  try {
    await canceller.connect()
    await canceller.query(`SELECT ${order}($1)`, [backend])
  } finally {
    await canceller.end()
  }
}

/** The driver knows its backend, but its types do not say so. */
function processId(client: object): number {
  if ('processID' in client && typeof client.processID === 'number') return client.processID
  throw new Error('the Postgres driver did not tell its backend')
}
