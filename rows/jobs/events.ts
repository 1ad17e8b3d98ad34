/** Events of a job, in order: written with what they tell of, read by streams from any place. */
import { sql } from 'kysely'
import type { AppDatabase } from '../database.ts'

export interface NewJobEvent {
  /** `job` or `node`. */
  readonly type: string
  readonly data: Readonly<Record<string, unknown>>
}

export interface JobEvent extends NewJobEvent {
  /** Numbered from 1 without gaps. */
  readonly sequence: number
  readonly recordedAt: Date
}

/** The caller's transaction holds the job's row, or has made it. */
export async function addEvents(
  transaction: AppDatabase,
  jobId: string,
  events: readonly NewJobEvent[],
): Promise<void> {
  if (events.length === 0) return
  await sql`
    INSERT INTO app.job_events (job_id, sequence, type, data)
    SELECT ${jobId}, (SELECT coalesce(max(sequence), 0) FROM app.job_events WHERE job_id = ${jobId}) + place, type, data
    FROM unnest(${events.map(({ type }) => type)}::text[], ${events.map(({ data }) => JSON.stringify(data))}::jsonb[])
      WITH ORDINALITY AS added (type, data, place)`.execute(transaction)
}

/** Events after a place, the first ones first. */
export async function readEvents(
  app: AppDatabase,
  jobId: string,
  after: number,
  limit: number,
): Promise<readonly JobEvent[]> {
  const rows = await app
    .selectFrom('app.job_events')
    .select(['sequence', 'type', 'data', 'recorded_at'])
    .where('job_id', '=', jobId)
    .where('sequence', '>', after)
    .orderBy('sequence')
    .limit(limit)
    .execute()
  return rows.map(({ sequence, type, data, recorded_at: recordedAt }) => ({
    ...{ sequence, type, recordedAt },
    data: typeof data === 'object' && data !== null ? { ...data } : {},
  }))
}
