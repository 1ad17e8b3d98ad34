/** Statements that end when nobody waits for them any more. */
import type { Postgres } from './postgres.ts'
import { PostgresError } from './postgres.ts'

/**
 * Runs one statement; when the signal fires, the server is told to stop it over a second connection, because closing the
 * socket alone leaves it running (measured).
 */
export async function runCancellable(
  postgres: Postgres,
  text: string,
  values: readonly unknown[],
  signal: AbortSignal,
): Promise<Record<string, unknown>[]> {
  signal.throwIfAborted()
  const client = await postgres.pool.connect().catch((cause: unknown) => {
    throw new PostgresError(cause)
  })
  let cancelled: Promise<unknown> = Promise.resolve()
  const cancel = () => {
    cancelled = postgres.pool.query('SELECT pg_cancel_backend($1)', [processId(client)]).catch(() => {})
  }
  signal.addEventListener('abort', cancel, { once: true })
  try {
    const result = await client.query<Record<string, unknown>>({ text, values: [...values] })
    return result.rows
  } catch (cause) {
    signal.throwIfAborted()
    throw new PostgresError(cause)
  } finally {
    signal.removeEventListener('abort', cancel)
    // A cancel still under way would hit whatever this connection runs next.
    await cancelled
    client.release()
  }
}

/** The driver knows its backend, but its types do not say so. */
function processId(client: object): number {
  if ('processID' in client && typeof client.processID === 'number') return client.processID
  throw new Error('the Postgres driver did not tell its backend')
}
