/**
 * Becoming the writer of a chain in Postgres, also when the one before was paused or cut off in the
 * middle of a transaction.
 */

import { type Postgres, PostgresError } from '../postgres.ts'
import { quoteIdentifier } from '../sql.ts'
import { claimLane, type Queryable } from './lane.ts'

/**
 * A commit of the last writer that is under way may end; one that does not in this time has nobody
 * behind it.
 */
const WRITER_GRACE_MS = 3_000
const TERMINATE_MS = 1_000
/** SQLSTATE of a lock that was not given in time. */
const LOCK_NOT_AVAILABLE = '55P03'

/**
 * Makes `fence` the only number that may write; the caller holds the lease, so whoever else is in a
 * writing transaction is a writer of the past. `prepare` runs in the same transaction, before.
 * @throws FencedOutError when a newer writer came
 */
export async function claimChain(
  postgres: Postgres,
  schema: string,
  fence: bigint,
  prepare: (client: Queryable) => Promise<void> = async () => {},
): Promise<void> {
  const claim = () =>
    postgres.transaction(async (client) => {
      await client.query(`SET LOCAL lock_timeout = ${WRITER_GRACE_MS}`)
      await prepare(client)
      await claimLane(client, schema, fence)
    })
  try {
    await claim()
  } catch (error) {
    if (!(error instanceof PostgresError && error.sqlState === LOCK_NOT_AVAILABLE)) throw error
    await endWriters(postgres, schema)
    await claim()
  }
}

/** Every writing transaction holds one of these locks on the lanes; readers hold neither. */
async function endWriters({ pool }: Postgres, schema: string): Promise<void> {
  await pool.query(
    `SELECT pg_terminate_backend(pid, $2) FROM pg_locks
     WHERE relation = $1::regclass AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
       AND mode IN ('RowShareLock', 'RowExclusiveLock') AND granted AND pid <> pg_backend_pid()`,
    [`${quoteIdentifier(schema)}.lanes`, TERMINATE_MS],
  )
}
