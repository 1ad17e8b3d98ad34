/** Work that an operator has paused: it stays queued, whichever process would do it. */
import type { AppDatabase } from '../database.ts'

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
