/**
 * Refunds of a job: of its payment, if it ended for less than was charged, and of each spend that turned
 * out void, or to cost less, after its end.
 */
import { sql } from 'kysely'
import type { AppDatabase } from '../database.ts'

/** Array of the references. @param job the name of `app.jobs` in the statement */
export const refundsOfJob = (job: string) => sql<readonly string[]>`
  (ARRAY(SELECT s.id FROM app.spends s WHERE s.job_id = ${sql.ref(`${job}.id`)}::text)
    || ${sql.ref(`${job}.payment_id`)})`

export async function readRefundsOfJob(app: AppDatabase, jobId: string): Promise<readonly string[]> {
  const row = await app
    .selectFrom('app.jobs as j')
    .select(refundsOfJob('j').as('references'))
    .where('j.id', '=', jobId)
    .executeTakeFirst()
  return row?.references ?? []
}
