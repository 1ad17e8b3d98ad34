/**
 * Time that callers took for exports and that comes back evenly, as all processes share it: a row a
 * caller and engine, with the moment at which all of it is back.
 */
import { sql } from 'kysely'
import { type AppDatabase, databaseNow, fromNow, removeOlder } from '../database.ts'

/** The debts of one engine. */
export const exportDebts = (app: AppDatabase, engine: string) => ({
  leftMs: (party: string) => readLeft(app, `${party}:${engine}`),
  add: (party: string, ms: number) => addDebt(app, `${party}:${engine}`, ms),
})

async function readLeft(app: AppDatabase, subject: string): Promise<number> {
  const row = await app
    .selectFrom('app.export_debts')
    .select(leftMs.as('leftMs'))
    .where('subject', '=', subject)
    .executeTakeFirst()
  return row?.leftMs ?? 0
}

async function addDebt(app: AppDatabase, subject: string, ms: number): Promise<number> {
  const row = await app
    .insertInto('app.export_debts')
    .values({ subject, returned_at: fromNow(ms) })
    .onConflict((conflict) =>
      conflict.column('subject').doUpdateSet((held) => ({
        returned_at: sql<Date>`greatest(${held.ref('app.export_debts.returned_at')}, clock_timestamp()) + ${ms} * interval '1 ms'`,
      })),
    )
    .returning(leftMs.as('leftMs'))
    .executeTakeFirstOrThrow()
  return row.leftMs
}

const leftMs = sql<number>`greatest(0, extract(epoch FROM returned_at - clock_timestamp()) * 1000)::double precision`

/** Removes debts that are back, some at a time; false when none is left. */
export const removePastDebts = (app: AppDatabase): Promise<boolean> =>
  removeOlder(app, 'app.export_debts', 'returned_at', databaseNow)
