/**
 * Work that an operator has paused, or a restore of the database: it stays queued, whichever process
 * would do it.
 */
import { sql } from 'kysely'
import type { AppDatabase } from '../database.ts'
import { history } from '../history.ts'

/** Work that can be paused. */
export type Pausable = 'payouts'

/** The reason of one that was paused before is replaced. */
export async function pause(app: AppDatabase, name: Pausable, reason: string): Promise<void> {
  await app
    .insertInto('app.pauses')
    .values({ name, reason })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ reason }))
    .execute()
}

/** False where it was not paused. */
export async function resume(app: AppDatabase, name: Pausable): Promise<boolean> {
  const { numDeletedRows } = await app.deleteFrom('app.pauses').where('name', '=', name).executeTakeFirst()
  return numDeletedRows === 1n
}

/** Why it is paused; null where it is not. */
export async function pauseOf(app: AppDatabase, name: Pausable): Promise<string | null> {
  const row = await app.selectFrom('app.pauses').select('reason').where('name', '=', name).executeTakeFirst()
  return row?.reason ?? null
}

/** What an operator does about it. */
const RESTORED =
  'the database was restored or promoted, and may not know what was sent: `millrace books check`, then `millrace payments resume`'

/**
 * Pauses the work where the database is of another history than before. True where it did; the
 * operator alone resumes it.
 */
export async function pauseAfterRestore(app: AppDatabase, name: Pausable): Promise<boolean> {
  if (await isOfKnownHistory(app, name)) return false
  return app.transaction().execute(async (transaction) => {
    const { rows } = await sql<{ isFirst: boolean }>`
      INSERT INTO app.histories AS known (name, history) VALUES (${name}, ${history})
      ON CONFLICT (name) DO UPDATE SET history = excluded.history WHERE known.history <> excluded.history
      RETURNING old.history IS NULL AS "isFirst"`.execute(transaction)
    const isOther = rows.some(({ isFirst }) => !isFirst)
    if (isOther) await pause(transaction, name, RESTORED)
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
