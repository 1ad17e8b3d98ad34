/**
 * Work with money that an operator has paused, or a restore of the database: it stays queued, whichever
 * process would do it.
 */
import { sql } from 'kysely'
import type { AppDatabase } from '../database.ts'
import { history } from '../history.ts'

/** Work that can be paused. */
export type Pausable = 'payouts' | 'wallet'

/** `restore`: the database may not know what was sent. */
export type PauseCause = 'operator' | 'restore'

export interface Pause {
  readonly reason: string
  readonly pausedAt: Date
}

/** The reason of one that was paused before is replaced. */
export async function pause(
  app: AppDatabase,
  name: Pausable,
  reason: string,
  cause: PauseCause = 'operator',
): Promise<void> {
  await app
    .insertInto('app.pauses')
    .values({ name, reason, cause })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ reason, cause }))
    .execute()
}

/** All of it: what was sent is not known. */
export async function pauseAll(app: AppDatabase, reason: string): Promise<void> {
  await app.transaction().execute(async (transaction) => {
    for (const name of ['payouts', 'wallet'] as const) await pause(transaction, name, reason, 'restore')
  })
}

/** Whether work stands since the database was restored. */
export async function standsSinceRestore(app: AppDatabase): Promise<boolean> {
  const row = await app
    .selectFrom('app.pauses')
    .select('name')
    .where('cause', '=', 'restore')
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

/** False where it was not paused. */
export async function resume(app: AppDatabase, name: Pausable): Promise<boolean> {
  const { numDeletedRows } = await app.deleteFrom('app.pauses').where('name', '=', name).executeTakeFirst()
  return numDeletedRows === 1n
}

/** The wallet, and what stands for the same restore. False where nothing did. */
export async function resumeWallet(app: AppDatabase): Promise<boolean> {
  const { numDeletedRows } = await app
    .deleteFrom('app.pauses')
    .where((is) => is.or([is('name', '=', 'wallet'), is('cause', '=', 'restore')]))
    .executeTakeFirst()
  return numDeletedRows > 0n
}

/** Null where it is not paused. */
export async function findPause(app: AppDatabase, name: Pausable): Promise<Pause | null> {
  const row = await app
    .selectFrom('app.pauses')
    .select(['reason', 'paused_at as pausedAt'])
    .where('name', '=', name)
    .executeTakeFirst()
  return row ?? null
}

/** Why it is paused; null where it is not. */
export async function pauseOf(app: AppDatabase, name: Pausable): Promise<string | null> {
  return (await findPause(app, name))?.reason ?? null
}

/** The operator's remedy. */
export const RESTORED =
  'the database was restored or promoted, and may not know what was sent: `millrace books check`, then `millrace wallet resume`'

/**
 * Pauses payouts where the database is of another history than before. True where it did; the
 * operator alone resumes them.
 */
export async function pauseAfterRestore(app: AppDatabase, name: 'payouts'): Promise<boolean> {
  if (await isOfKnownHistory(app, name)) return false
  return app.transaction().execute(async (transaction) => {
    const { rows } = await sql<{ isFirst: boolean }>`
      INSERT INTO app.histories AS known (name, history) VALUES (${name}, ${history})
      ON CONFLICT (name) DO UPDATE SET history = excluded.history WHERE known.history <> excluded.history
      RETURNING old.history IS NULL AS "isFirst"`.execute(transaction)
    const isOther = rows.some(({ isFirst }) => !isFirst)
    if (isOther) await pause(transaction, name, RESTORED, 'restore')
    return isOther
  })
}

/** False at the first start too. */
export async function isOfKnownHistory(app: AppDatabase, name: Pausable): Promise<boolean> {
  const row = await app
    .selectFrom('app.histories')
    .select('name')
    .where('name', '=', name)
    .where('history', '=', history)
    .executeTakeFirst()
  return row !== undefined
}
