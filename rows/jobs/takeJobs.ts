/**
 * Takes jobs for a process, so that no payer keeps the others out: those of payers who have the fewest
 * of its places go first, and a payer has at most `perFree` places for each one that stays free.
 *
 * The search has a bound, however many jobs wait: it reads those that are due the longest, and the
 * first ones of some payers, from a random one on. The second part finds jobs behind a payer's many.
 */
import { sql } from 'kysely'
import { toBytes, toHex } from '#store/sql.ts'
import { type AppDatabase, fromNow } from '../database.ts'

/** The room of a process. */
export interface Places {
  readonly free: number
  /** Places that payers have, by lowercase address. */
  readonly held: ReadonlyMap<string, number>
  /** The most places of one payer for each free one. */
  readonly perFree: number
}

export interface TakenJob {
  readonly jobId: string
  readonly fence: number
  /** Lowercase address. */
  readonly payer: string
}

/** Jobs that are due the longest, for each free place. */
const OLDEST_PER_PLACE = 2
/** Payers who are looked at beside them, and jobs of each. */
const PAYERS_MAX = 64
const JOBS_PER_PAYER = 4

/** Another process that takes at the same time may leave fewer than there are. */
export async function takeJobs(
  app: AppDatabase,
  places: Places,
  holdMs: number,
): Promise<readonly TakenJob[]> {
  const { rows } = await sql<{ id: string; fence: number; payer: Buffer }>`
    UPDATE app.jobs SET fence = fence + 1, due_at = ${fromNow(holdMs)}
    WHERE id = ANY (ARRAY(
      SELECT id FROM app.jobs WHERE id = ANY (ARRAY(${chosen(places)})) AND due_at <= clock_timestamp()
      FOR UPDATE SKIP LOCKED))
    RETURNING id, fence, payer`.execute(app)
  return rows.map(({ id, fence, payer }) => ({ jobId: id, fence, payer: toHex(payer) }))
}

/**
 * Ids: the n-th place of one payer comes before the n+1st of another. Equality in the place of BETWEEN
 * lets the planner read all jobs by their time, to drop those of a payer who has most of them.
 */
export const chosen = ({ free, held, perFree }: Places) => sql`
  WITH RECURSIVE walked (payer, nth) AS (
    SELECT decode(md5(random()::text), 'hex'), 0
    UNION ALL
    SELECT next.payer, walked.nth + 1 FROM walked, LATERAL (
      (SELECT payer FROM app.jobs WHERE due_at IS NOT NULL AND payer > walked.payer ORDER BY payer LIMIT 1)
      UNION ALL
      (SELECT payer FROM app.jobs WHERE due_at IS NOT NULL ORDER BY payer LIMIT 1)
      LIMIT 1) AS next
    WHERE walked.nth < ${PAYERS_MAX}),
  candidates AS (
    (SELECT id, payer, due_at FROM app.jobs WHERE due_at <= now() ORDER BY due_at LIMIT ${OLDEST_PER_PLACE * free})
    UNION
    SELECT j.id, j.payer, j.due_at FROM (SELECT DISTINCT payer FROM walked WHERE nth > 0) AS p, LATERAL (
      SELECT id, payer, due_at FROM app.jobs WHERE payer BETWEEN p.payer AND p.payer AND due_at <= now()
      ORDER BY payer, due_at LIMIT ${JOBS_PER_PAYER}) AS j),
  turns AS (
    SELECT id, due_at, coalesce(h.places, 0) + row_number() OVER (PARTITION BY payer ORDER BY due_at, id) AS turn
    FROM candidates LEFT JOIN unnest(
      ${[...held.keys()].map(toBytes)}::bytea[], ${[...held.values()]}::integer[]) AS h (payer, places) USING (payer)),
  ranked AS (SELECT id, turn, row_number() OVER (ORDER BY turn, due_at, id) AS rank FROM turns)
  SELECT id FROM ranked WHERE rank <= ${free} AND turn <= ${perFree} * (${free} - rank + 1)`
