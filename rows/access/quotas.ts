/**
 * Quotas as all processes share them: units of a window of one minute by the database's clock. A
 * process reserves units and hands them out from memory; what it does not need it gives back.
 */
import { sql } from 'kysely'
import { type AppDatabase, fromNow, removeOlder } from '../database.ts'

export interface QuotaWish {
  readonly subject: string
  /** Units a minute. */
  readonly quota: number
  /** Units wished for; fewer are granted when fewer are left. */
  readonly units: number
}

export interface QuotaGrant {
  readonly subject: string
  readonly granted: number
  /** Units out of the window, those granted now included. */
  readonly used: number
  readonly startedAt: Date
  /** Until the window ends, by the database's clock. */
  readonly leftMs: number
}

/** Windows are looked at for one minute. */
const KEPT_MS = 5 * 60_000

/**
 * Reserves for several subjects in one statement, of which the sum in a window never passes the
 * quota. Rows are taken in one order, so that processes never wait for each other in a circle.
 */
async function reserveQuotas(app: AppDatabase, wishes: readonly QuotaWish[]): Promise<QuotaGrant[]> {
  const { rows } = await sql<{
    subject: string
    granted: number
    used: number
    started_at: Date
    left_ms: number
  }>`
    INSERT INTO app.quota_windows AS held (subject, started_at, used, quota)
    SELECT subject, date_trunc('minute', clock_timestamp()), least(units, quota), quota
    FROM unnest(${wishes.map(({ subject }) => subject)}::text[], ${wishes.map(({ units }) => units)}::integer[],
                ${wishes.map(({ quota }) => quota)}::integer[]) AS wish (subject, units, quota)
    ORDER BY subject
    ON CONFLICT (subject, started_at) DO UPDATE
      SET used = held.used + greatest(0, least(excluded.used, excluded.quota - held.used)), quota = excluded.quota
    RETURNING subject, new.used - coalesce(old.used, 0) AS granted, new.used AS used, started_at,
      greatest(0, extract(epoch FROM started_at + interval '1 minute' - clock_timestamp()) * 1000)::integer AS left_ms
  `.execute(app)
  return rows.map(({ started_at: startedAt, left_ms: leftMs, ...grant }) => ({ ...grant, startedAt, leftMs }))
}

export interface QuotaReturn {
  readonly subject: string
  readonly startedAt: Date
  readonly units: number
}

/** Gives back what was granted and not used. */
async function returnQuotas(app: AppDatabase, returns: readonly QuotaReturn[]): Promise<void> {
  const sorted = returns.toSorted((a, b) => (a.subject < b.subject ? -1 : 1))
  await app.transaction().execute(async (transaction) => {
    for (const { subject, startedAt, units } of sorted)
      await transaction
        .updateTable('app.quota_windows')
        .set((row) => ({ used: row('used', '-', units) }))
        .where('subject', '=', subject)
        .where('started_at', '=', startedAt)
        .execute()
  })
}

/** Removes windows that are over, some at a time; false when none is left. */
const removePastQuotas = (app: AppDatabase): Promise<boolean> =>
  removeOlder(app, 'app.quota_windows', 'started_at', fromNow(-KEPT_MS))

/** The rows as a process counts in them. */
export const quotaRows = (app: AppDatabase) => ({
  reserve: (wishes: readonly QuotaWish[]) => reserveQuotas(app, wishes),
  giveBack: (returns: readonly QuotaReturn[]) => returnQuotas(app, returns),
  removePast: () => removePastQuotas(app),
})
