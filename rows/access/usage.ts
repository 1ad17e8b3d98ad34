/** Accounts of requests: by key, hour, route and status. */
import { sql } from 'kysely'
import { type AppDatabase, fromNow, removeOlder } from '../database.ts'
import type { Environment } from './keys.ts'

/** Requests of one key on one route with one outcome. */
export interface UsageCount {
  readonly apiKeyId: string
  readonly route: string
  readonly status: number
  readonly requests: number
  readonly durationMs: number
}

/** Accounts are kept for a year and a day. */
const KEPT_MS = 366 * 24 * 60 * 60 * 1_000

/** Adds to the present hour, in one order, so that processes never wait for each other in a circle. */
export async function addUsage(app: AppDatabase, counts: readonly UsageCount[]): Promise<void> {
  const column = <Of extends keyof UsageCount>(name: Of) => counts.map((count) => count[name])
  await sql`
    INSERT INTO app.request_usage AS held (api_key_id, started_at, route, status, requests, duration_ms)
    SELECT api_key_id, date_trunc('hour', clock_timestamp(), 'UTC'), route, status, requests, duration_ms
    FROM unnest(${column('apiKeyId')}::text[], ${column('route')}::text[], ${column('status')}::integer[],
                ${column('requests')}::bigint[], ${column('durationMs')}::double precision[])
           AS counted (api_key_id, route, status, requests, duration_ms)
    ORDER BY api_key_id, route, status
    ON CONFLICT (api_key_id, started_at, route, status) DO UPDATE
      SET requests = held.requests + excluded.requests, duration_ms = held.duration_ms + excluded.duration_ms
  `.execute(app)
}

/** Which requests are summed: from `from` to before `to`, of all or some keys of an organization. */
export interface UsageQuestion {
  readonly orgId: string
  readonly projectId?: string | undefined
  readonly environment?: Environment | undefined
  readonly from: Date
  readonly to: Date
  readonly interval: 'day' | 'hour'
}

export interface UsageSums {
  readonly requests: number
  /** Answered with a status from 400 on. */
  readonly errors: number
  readonly durationMs: number
}

/** Sums along each side; the overall one has no name. */
export interface Usage {
  readonly totals: UsageSums
  readonly byTime: ReadonlyMap<number, UsageSums>
  readonly byKey: ReadonlyMap<string, UsageSums>
  readonly byRoute: ReadonlyMap<string, UsageSums>
  readonly byStatus: ReadonlyMap<number, UsageSums>
}

interface UsageRow {
  readonly time: Date | null
  readonly api_key_id: string | null
  readonly route: string | null
  readonly status: number | null
  readonly requests: string | null
  readonly errors: string | null
  readonly duration_ms: number | null
}

/** Everything in one statement, so that all sums are of the same moment. */
export async function readUsage(app: AppDatabase, question: UsageQuestion): Promise<Usage> {
  const { orgId, projectId = null, environment = null, from, to, interval } = question
  const { rows } = await sql<UsageRow>`
    SELECT time, api_key_id, route, status, sum(requests) AS requests,
           sum(requests) FILTER (WHERE status >= 400) AS errors, sum(duration_ms) AS duration_ms
    FROM (SELECT u.*, date_trunc(${interval}::text, started_at, 'UTC') AS time
          FROM app.request_usage u JOIN app.api_keys k ON k.id = api_key_id
          WHERE k.org_id = ${orgId} AND (${projectId}::text IS NULL OR k.project_id = ${projectId})
            AND (${environment}::text IS NULL OR k.environment = ${environment})
            AND started_at >= ${from} AND started_at < ${to}) AS counted
    GROUP BY GROUPING SETS ((), (time), (api_key_id), (route), (status))
  `.execute(app)
  const along = <Name>(nameOf: (row: UsageRow) => Name | null) =>
    new Map(
      rows.flatMap((row) => {
        const name = nameOf(row)
        return name === null ? [] : [[name, sumsOf(row)] as const]
      }),
    )
  const isTotal = ({ time, api_key_id, route, status }: UsageRow) =>
    time === null && api_key_id === null && route === null && status === null
  return {
    totals: sumsOf(rows.find(isTotal)),
    byTime: along(({ time }) => time?.getTime() ?? null),
    byKey: along(({ api_key_id }) => api_key_id),
    byRoute: along(({ route }) => route),
    byStatus: along(({ status }) => status),
  }
}

const sumsOf = (row: UsageRow | undefined): UsageSums => ({
  requests: Number(row?.requests ?? 0),
  errors: Number(row?.errors ?? 0),
  durationMs: row?.duration_ms ?? 0,
})

/** Removes accounts that are no longer kept, some at a time; false when none is left. */
export const removePastUsage = (app: AppDatabase): Promise<boolean> =>
  removeOlder(app, 'app.request_usage', 'started_at', fromNow(-KEPT_MS))
