/**
 * Leases in Postgres: one writer per chain. The database's clock decides when one has run out, the fence grows with every
 * grant, and every write checks it, so a writer that was paused past its lease commits nothing.
 */
import type { LeaseGrant, LeaseStore } from '#ingest/lease.ts'
import type { Postgres } from '../postgres.ts'

/** Name of the lease that a chain's writer holds. */
export const chainLease = (chainId: number): string => `index:${chainId}`

export function postgresLeases(postgres: Postgres): LeaseStore {
  return {
    acquire: (name, holder, ttlMs) => acquire(postgres, name, holder, ttlMs),
    renew: async (name, fence, ttlMs) => {
      const renewed = await postgres.pool.query(
        `UPDATE app.leases SET expires_at = clock_timestamp() + $1 * interval '1 ms' WHERE name = $2 AND fence = $3`,
        [ttlMs, name, fence],
      )
      return renewed.rowCount === 1
    },
    release: async (name, fence) => {
      await postgres.pool.query(
        'UPDATE app.leases SET expires_at = clock_timestamp() WHERE name = $1 AND fence = $2',
        [name, fence],
      )
    },
  }
}

async function acquire(postgres: Postgres, name: string, holder: string, ttlMs: number): Promise<LeaseGrant> {
  const taken = await postgres.pool.query<{ fence: number }>(
    `INSERT INTO app.leases AS l (name, holder, fence, expires_at)
     VALUES ($1, $2, 1, clock_timestamp() + $3 * interval '1 ms')
     ON CONFLICT (name) DO UPDATE SET holder = $2, fence = l.fence + 1, expires_at = excluded.expires_at
     WHERE l.expires_at < clock_timestamp() OR l.holder = $2
     RETURNING fence`,
    [name, holder, ttlMs],
  )
  const row = taken.rows[0]
  if (row) return { granted: true, fence: BigInt(row.fence) }
  const held = await postgres.pool.query<{ holder: string; left_ms: number }>(
    `SELECT holder, greatest(0, extract(epoch FROM expires_at - clock_timestamp()) * 1000)::int AS left_ms
     FROM app.leases WHERE name = $1`,
    [name],
  )
  return {
    granted: false,
    holder: held.rows[0]?.holder ?? 'unknown',
    expiresInMs: held.rows[0]?.left_ms ?? 0,
  }
}
