/**
 * Endpoints that are not sold for a while: the calls of jobs that decide it, and the columns of
 * their health that say it. Which calls suspend an endpoint is the orchestrator's to say.
 */
import { sql } from 'kysely'
import { type AppDatabase, databaseNow, fromNow } from '../database.ts'
import { type AskedEndpoint, endedCalls, isSellers } from './callQuality.ts'
import { type EndpointName, isNamed, type Suspension, suspensionOf } from './catalogHealth.ts'

/** Failures that count against a seller. */
export interface Faults {
  /** Codes that count by themselves. */
  readonly codes: readonly string[]
  /** Codes that count if the seller answered with a status of 500 or above. */
  readonly codesOf5xx: readonly string[]
}

/** The newest calls of an endpoint, among those that were delivered or failed by its seller's fault. */
export interface NewestCalls {
  readonly method: string
  readonly path: string
  readonly undelivered: number
  /** Codes of those failures, distinct. */
  readonly codes: readonly string[]
  readonly payers: number
  /** Payers of all such calls of the time that is looked at. */
  readonly allPayers: number
  readonly lastEndedAt: Date
  /** Chain that the last of them was paid on. */
  readonly chainId: number
}

/** Time that is looked back. */
const DAYS = 1

/** Services with at least so many failures, those that failed last first; `limit` of them at most. */
export async function readFailingServices(
  app: AppDatabase,
  { codes, codesOf5xx }: Faults,
  { least, limit }: { readonly least: number; readonly limit: number },
): Promise<string[]> {
  const { rows } = await sql<{ service_id: string }>`
    SELECT service_id FROM app.job_nodes
    WHERE state = 'failed' AND attempt > 0 AND NOT is_carried AND error_code = ANY (${[...codes, ...codesOf5xx]}::text[])
      AND ended_at > clock_timestamp() - ${DAYS} * interval '1 day'
    GROUP BY service_id HAVING count(*) >= ${least}
    ORDER BY max(ended_at) DESC, service_id LIMIT ${limit}`.execute(app)
  return rows.map(({ service_id: serviceId }) => serviceId)
}

/**
 * Calls that were paid for, the newest `count` of each endpoint. Calls that the seller bought itself
 * are left out, whatever became of them.
 */
export async function readNewestCalls(
  app: AppDatabase,
  serviceId: string,
  asked: readonly AskedEndpoint[],
  { codes, codesOf5xx, count }: Faults & { readonly count: number },
): Promise<readonly NewestCalls[]> {
  const { rows } = await sql<NewestCalls>`
    WITH calls AS (${endedCalls(serviceId, asked, DAYS)}), counted AS (
      SELECT c.method, c.path, c.payer, c.ended_at, c.error_code, p.paid_chain_id,
        row_number() OVER (PARTITION BY c.method, c.path ORDER BY c.ended_at DESC, c.job_id, c.node_id) AS place
      FROM calls c CROSS JOIN LATERAL (
        SELECT a.paid_chain_id, a.status FROM app.job_attempts a
        WHERE a.job_id = c.job_id AND a.node_id = c.node_id AND a.paid_units > 0
        ORDER BY a.attempt DESC LIMIT 1) AS p
      WHERE NOT ${isSellers(serviceId)} AND (c.state = 'succeeded' OR c.error_code = ANY (${[...codes]}::text[])
        OR (c.error_code = ANY (${[...codesOf5xx]}::text[]) AND p.status >= 500))
    )
    SELECT method, path, count(DISTINCT payer)::int AS "allPayers", max(ended_at) AS "lastEndedAt",
      count(DISTINCT payer) FILTER (WHERE place <= ${count})::int AS payers,
      count(error_code) FILTER (WHERE place <= ${count})::int AS undelivered,
      coalesce(array_agg(DISTINCT error_code) FILTER (WHERE place <= ${count} AND error_code IS NOT NULL), '{}') AS codes,
      (array_agg(paid_chain_id ORDER BY place))[1] AS "chainId"
    FROM counted GROUP BY method, path ORDER BY path, method`.execute(app)
  return rows
}

export interface SuspendedEndpoint extends EndpointName, Suspension {
  readonly chainId: number
}

export interface NewSuspension {
  readonly reason: string
  readonly chainId: number
  readonly forMs: number
  /** It is looked at again by then, unless it never is. */
  readonly lookMs: number
  /** The newest call that speaks against it: one that was freed since needs a newer one. */
  readonly lastEndedAt: Date
}

/** False if it is suspended already, was freed after its last call, or has left the catalog. */
export async function suspend(
  app: AppDatabase,
  name: EndpointName,
  { reason, chainId, forMs, lookMs, lastEndedAt }: NewSuspension,
): Promise<boolean> {
  const { numUpdatedRows } = await app
    .updateTable('app.catalog_health')
    .set({
      suspended_at: databaseNow,
      suspended_until: fromNow(forMs),
      suspended_for: reason,
      suspended_chain_id: chainId,
      next_at: sql<Date>`CASE WHEN next_at IS NOT NULL THEN least(next_at, ${fromNow(lookMs)}) END`,
    })
    .where(isNamed(name))
    .where(sql<boolean>`coalesce(suspended_until < ${lastEndedAt}, true)`)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** Endpoints that are suspended now, the newest first; `limit` of them at most. */
export async function readSuspended(
  app: AppDatabase,
  { serviceIds, limit }: { readonly serviceIds: readonly string[] | null; readonly limit: number },
): Promise<SuspendedEndpoint[]> {
  const all = app
    .selectFrom('app.catalog_health')
    .select(['service_id as serviceId', 'method', 'path'])
    .select(['suspended_at', 'suspended_until', 'suspended_for', 'suspended_chain_id'])
    .where('suspended_until', '>', databaseNow)
    .orderBy('suspended_at', 'desc')
    .limit(limit)
  const rows = await (serviceIds === null
    ? all
    : all.where(sql<boolean>`service_id = ANY (${[...serviceIds]}::text[])`)
  ).execute()
  return rows.flatMap(({ suspended_chain_id: chainId, serviceId, method, path, ...row }) => {
    const suspension = suspensionOf(row)
    return suspension && chainId !== null ? [{ serviceId, method, path, chainId, ...suspension }] : []
  })
}
