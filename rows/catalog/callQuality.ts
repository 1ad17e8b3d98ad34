/** Outcomes of the calls that jobs made of a service: this program's own experience with it. */
import { sql } from 'kysely'
import type { AppDatabase } from '../database.ts'

/** An endpoint of a catalog, and the paths that are calls of it. */
export interface AskedEndpoint {
  readonly method: string
  readonly path: string
  /** Regular expression of Postgres for the whole of a called path. */
  readonly pattern: string
}

export interface CallQuality {
  readonly method: string
  readonly path: string
  /** Calls that have ended, and those of them that were paid for. */
  readonly calls: number
  readonly paid: number
  /** Paid calls whose answer came. */
  readonly delivered: number
  /** Milliseconds from the first attempt to the answer, of calls that succeeded; null without any. */
  readonly medianMs: number | null
  readonly p95Ms: number | null
  /** Payers that proved to have rated: each has one voice an endpoint, and a seller's own payer has none. */
  readonly voices: number
  /** Mean of the voices, from 1 to 5, pulled to the middle while they are few; null without any. */
  readonly rating: number | null
}

interface QualityRow extends Omit<CallQuality, 'medianMs' | 'p95Ms' | 'rating'> {
  readonly median_ms: number | null
  readonly p95_ms: number | null
  readonly rating: number | null
}

/** A rating counts half after so many days. */
const HALF_LIFE_DAYS = 30
/** The middle of the scale, which counts as this many voices. */
const [MIDDLE, MIDDLE_VOICES] = [3, 3]

/**
 * Endpoints without a call are left out. A path of several endpoints is the first one's.
 * @param days that are looked back
 */
export async function readQuality(
  app: AppDatabase,
  serviceId: string,
  asked: readonly AskedEndpoint[],
  days: number,
): Promise<readonly CallQuality[]> {
  const { rows } = await sql<QualityRow>`
    WITH calls AS (${endedCalls(serviceId, asked, days)}), paid AS (
      SELECT c.*, p.units FROM calls c LEFT JOIN LATERAL (
        SELECT sum(a.paid_units)::float8 AS units FROM app.job_attempts a
        WHERE a.job_id = c.job_id AND a.node_id = c.node_id) AS p ON true
    ), voices AS (
      SELECT c.method, c.path, c.payer, sum(r.rating * w.weight) / sum(w.weight) AS rating
      FROM paid c JOIN app.node_reviews r USING (job_id, node_id) JOIN app.job_reviews v ON v.job_id = c.job_id AND v.is_proved,
      LATERAL (SELECT c.units * 0.5 ^ (extract(epoch FROM clock_timestamp() - v.reviewed_at)::float8 / 86400 / ${HALF_LIFE_DAYS}) AS weight) AS w
      WHERE c.units > 0 AND NOT ${isSellers(serviceId)}
      GROUP BY c.method, c.path, c.payer
    ), rated AS (
      SELECT method, path, count(*)::int AS voices,
        ((sum(rating) + ${MIDDLE * MIDDLE_VOICES}) / (count(*) + ${MIDDLE_VOICES}))::float8 AS rating
      FROM voices GROUP BY method, path
    )
    SELECT c.method, c.path, count(*)::int AS calls, count(c.units)::int AS paid,
      count(c.units) FILTER (WHERE c.state = 'succeeded')::int AS delivered,
      percentile_cont(0.5) WITHIN GROUP (ORDER BY c.ms) FILTER (WHERE c.state = 'succeeded') AS median_ms,
      percentile_cont(0.95) WITHIN GROUP (ORDER BY c.ms) FILTER (WHERE c.state = 'succeeded') AS p95_ms,
      coalesce(max(r.voices), 0)::int AS voices, max(r.rating) AS rating
    FROM paid c LEFT JOIN rated r USING (method, path)
    GROUP BY c.method, c.path ORDER BY c.path, c.method`.execute(app)
  return rows.map(({ median_ms: medianMs, p95_ms: p95Ms, ...row }) => ({ ...row, medianMs, p95Ms }))
}

/** Calls that have ended, each of its first endpoint: a SELECT to name `calls` in other statements. */
export function endedCalls(serviceId: string, asked: readonly AskedEndpoint[], days: number) {
  const of = (pick: (endpoint: AskedEndpoint) => string) => asked.map(pick)
  return sql`
    SELECT DISTINCT ON (n.job_id, n.node_id) e.method, e.path, n.job_id, n.node_id, n.state, n.error_code, n.ended_at,
      j.payer, (extract(epoch FROM n.ended_at - n.started_at) * 1000)::float8 AS ms
    FROM app.job_nodes n
      JOIN unnest(${of(({ method }) => method)}::text[], ${of(({ path }) => path)}::text[],
        ${of(({ pattern }) => pattern)}::text[]) WITH ORDINALITY AS e (method, path, pattern, place)
        ON e.method = n.method AND n.path ~ e.pattern
      JOIN app.jobs j ON j.id = n.job_id
    WHERE n.service_id = ${serviceId} AND n.attempt > 0 AND NOT n.is_carried
      AND n.ended_at > clock_timestamp() - ${days} * interval '1 day'
    ORDER BY n.job_id, n.node_id, e.place`
}

/** Whether a call `c` was bought by an account that the service is paid at. */
export const isSellers = (serviceId: string) => sql<boolean>`EXISTS (
  SELECT FROM app.spends s WHERE s.service_id = ${serviceId} AND s.recipient = c.payer)`

/** Services that jobs called, those with the most calls first; `limit` of them at most. */
export async function readCalledServices(app: AppDatabase, days: number, limit: number): Promise<string[]> {
  const rows = await app
    .selectFrom('app.job_nodes')
    .select('service_id')
    .where('attempt', '>', 0)
    .where('is_carried', '=', false)
    .where(sql<boolean>`ended_at > clock_timestamp() - ${days} * interval '1 day'`)
    .groupBy('service_id')
    .orderBy(sql`count(*)`, 'desc')
    .orderBy('service_id')
    .limit(limit)
    .execute()
  return rows.map(({ service_id: serviceId }) => serviceId)
}
