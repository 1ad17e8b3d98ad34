/**
 * Leases in Postgres: one writer per chain. The database's clock decides when one has run out, the
 * fence grows with every grant, and every write checks it, so a writer that was paused past its
 * lease commits nothing.
 */
import { sql } from 'kysely'
import type { LeaseGrant, LeaseStore, LeaseWatch } from '#runtime/lease.ts'
import type { Postgres } from '#store/postgres.ts'
import { type AppDatabase, appDatabase, databaseNow, fromNow } from './database.ts'

export function postgresLeases(postgres: Pick<Postgres, 'pool'>): LeaseStore & LeaseWatch {
  // On ingest's own connections: strangers who fill those of the rows must not cost a writer its lease.
  const app = appDatabase({ pool: postgres.pool })
  return {
    acquire: (name, holder, ttlMs, ended = holder) => acquire(app, name, { holder, ended }, ttlMs),
    renew: async (name, fence, ttlMs) => {
      const { numUpdatedRows } = await held(app, name, fence)
        .set({ expires_at: fromNow(ttlMs) })
        .executeTakeFirst()
      return numUpdatedRows === 1n
    },
    release: async (name, fence) => {
      await held(app, name, fence).set({ expires_at: databaseNow }).execute()
    },
    find: async (name) => {
      const found = await known(app, name).where('expires_at', '>', databaseNow).executeTakeFirst()
      return found ?? null
    },
  }
}

const held = (app: AppDatabase, name: string, fence: bigint) =>
  app.updateTable('app.leases').where('name', '=', name).where('fence', '=', sql<number>`${fence}`)

async function acquire(
  app: AppDatabase,
  name: string,
  { holder, ended }: { readonly holder: string; readonly ended: string },
  ttlMs: number,
): Promise<LeaseGrant> {
  const taken = await app
    .insertInto('app.leases')
    .values({ name, holder, fence: 1, expires_at: fromNow(ttlMs) })
    .onConflict((conflict) =>
      conflict
        .column('name')
        .doUpdateSet((row) => ({
          holder,
          fence: sql<number>`${row.ref('app.leases.fence')} + 1`,
          expires_at: row.ref('excluded.expires_at'),
        }))
        .where((row) =>
          row.or([
            row('app.leases.expires_at', '<', databaseNow),
            row('app.leases.holder', 'in', [holder, ended]),
          ]),
        ),
    )
    .returning('fence')
    .executeTakeFirst()
  if (taken) return { granted: true, fence: BigInt(taken.fence) }
  const other = await known(app, name).executeTakeFirst()
  return { granted: false, ...(other ?? { holder: 'unknown', expiresInMs: 0 }) }
}

const known = (app: AppDatabase, name: string) =>
  app
    .selectFrom('app.leases')
    .select(['holder', leftMs.as('expiresInMs')])
    .where('name', '=', name)

/** Rounded up, so that a lease is free after it. */
const leftMs = sql<number>`greatest(0, ceil(extract(epoch FROM expires_at - clock_timestamp()) * 1000))::int`
