/** Statements that end when nobody waits for them any more. */
import pg from 'pg'
import { MillraceError } from '../errors.ts'
import { type Postgres, PostgresError } from './postgres.ts'

/**
 * Runs reads that all see the same moment: a block that is reverted between two of them is there for both or for none.
 * @throws PostgresError, the signal's reason, or what `read` throws
 */
export function readSnapshot<Result>(
  postgres: Postgres,
  signal: AbortSignal,
  read: (client: pg.PoolClient) => Promise<Result>,
): Promise<Result> {
  return withCancel(postgres, signal, async (client) => {
    await client.query(beginSnapshot)
    try {
      return await read(client)
    } finally {
      // Nothing was written, so how the transaction ends makes no difference; a lost connection is reported by the read.
      await client.query('ROLLBACK').catch(() => {})
    }
  })
}

/**
 * Pages are served by indexes whose blocks are in memory, or on disks that seek for nothing. With the server's default, made
 * for turning disks, a planner rather walks all rows down from the newest once a value is not rare (measured: 1,540 rows
 * for a page of 11, against 15).
 */
const beginSnapshot = 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL random_page_cost = 1.1'

/**
 * Lends a connection; when the signal fires, the server is told to stop what runs on it over a connection made for that:
 * closing the socket alone leaves the statement running (measured), and the pool may be full of statements to be stopped.
 */
async function withCancel<Result>(
  postgres: Postgres,
  signal: AbortSignal,
  work: (client: pg.PoolClient) => Promise<Result>,
): Promise<Result> {
  signal.throwIfAborted()
  const client = await postgres.pool.connect().catch((cause: unknown) => {
    throw new PostgresError(cause)
  })
  let cancelled: Promise<unknown> = Promise.resolve()
  const cancel = () => {
    cancelled = cancelBackend(postgres, processId(client)).catch(() => {})
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

async function cancelBackend(postgres: Postgres, backend: number): Promise<void> {
  const canceller = new pg.Client(postgres.pool.options)
  try {
    await canceller.connect()
    await canceller.query('SELECT pg_cancel_backend($1)', [backend])
  } finally {
    await canceller.end()
  }
}

/** The driver knows its backend, but its types do not say so. */
function processId(client: object): number {
  if ('processID' in client && typeof client.processID === 'number') return client.processID
  throw new Error('the Postgres driver did not tell its backend')
}
