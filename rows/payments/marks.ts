/** The payment library's memory between requests, by its keys. */
import { sql } from 'kysely'
import { type AppDatabase, databaseNow, fromNow, removeOlder } from '../database.ts'

/** The next state of a mark. */
export type MarkChange<Result> =
  | { readonly op: 'noop'; readonly result: Result }
  | { readonly op: 'set'; readonly value: unknown; readonly result: Result }
  | { readonly op: 'delete'; readonly result: Result }

/** Begins the keys of those that are never forgotten: how far books were checked. */
export const LASTING = 'books:'

/** Longer than any challenge, transaction or budget of the library lasts. */
const KEPT_MS = 24 * 3_600_000

/** Null where there is none. */
export async function readMark(app: AppDatabase, key: string): Promise<unknown> {
  const row = await app
    .selectFrom('app.payment_marks')
    .select('value')
    .where('key', '=', key)
    .executeTakeFirst()
  return row?.value ?? null
}

/** Decides under a lock. */
export async function updateMark<Result>(
  app: AppDatabase,
  key: string,
  decide: (current: unknown) => MarkChange<Result>,
): Promise<Result> {
  return app.transaction().execute(async (transaction) => {
    await sql`SELECT pg_advisory_xact_lock(hashtextextended(${key}, 1))`.execute(transaction)
    const change = decide(await readMark(transaction, key))
    if (change.op === 'set') await writeMark(transaction, key, change.value)
    if (change.op === 'delete') await removeMark(transaction, key)
    return change.result
  })
}

export async function writeMark(app: AppDatabase, key: string, value: unknown): Promise<void> {
  const changed = { value: JSON.stringify(value), changed_at: databaseNow }
  await app
    .insertInto('app.payment_marks')
    .values({ key, ...changed })
    .onConflict((conflict) => conflict.column('key').doUpdateSet(changed))
    .execute()
}

export async function removeMark(app: AppDatabase, key: string): Promise<void> {
  await app.deleteFrom('app.payment_marks').where('key', '=', key).execute()
}

/** Forgets some of those that nothing asks for any more; false when none is left. */
export const removeOldMarks = (app: AppDatabase): Promise<boolean> =>
  removeOlder(
    app,
    'app.payment_marks',
    'changed_at',
    fromNow(-KEPT_MS),
    sql<boolean>`NOT starts_with(key, ${LASTING})`,
  )
