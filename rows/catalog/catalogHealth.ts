/**
 * How endpoints of the catalog are, as unpaid probes find them: what is due, what was found, and
 * the newest probes of each. What counts as a failure is the orchestrator's to say. Health stands
 * beside a service and not in its document: an import replaces documents and must not forget
 * failures.
 */
import { sql } from 'kysely'
import { type AppDatabase, databaseNow, fromNow } from '../database.ts'

/** `unprobed`: no call of it is known to be without effect. */
export type HealthState = 'unknown' | 'verified' | 'answering' | 'failing' | 'delisted' | 'unprobed'

export interface EndpointName {
  readonly serviceId: string
  readonly method: string
  readonly path: string
}

interface Probed {
  readonly state: HealthState
  /** Probes that failed since one did not. */
  readonly failures: number
}

/** The part of an endpoint's health that stays from probe to probe. */
export interface HeldHealth extends Probed {
  /** Milliseconds since it was suspended; null if it is not. */
  readonly suspendedMs: number | null
}

export interface HealthChange extends Probed {
  /** Null: never again. */
  readonly nextMs: number | null
  readonly isVerified: boolean
  /** Its suspension ends. */
  readonly isFreed: boolean
  /** Undefined leaves what was found before. */
  readonly drift: object | null | undefined
}

/** One probe's findings. */
export interface StoredProbe {
  readonly outcome: string
  readonly status: number | null
  readonly problem: string | null
  readonly durationMs: number
  readonly offers: readonly object[]
}

/** Why an endpoint is not sold, and until when at the latest. */
export interface Suspension {
  readonly reason: string
  readonly since: Date
  readonly until: Date
}

export interface StoredHealth extends EndpointName, Probed {
  readonly probedAt: Date | null
  readonly verifiedAt: Date | null
  readonly drift: unknown
  /** It is not probed any further. */
  readonly isOver: boolean
  /** Null if it is not suspended now. */
  readonly suspension: Suspension | null
}

/** Probes of an endpoint that are kept. */
export const PROBES_KEPT = 20

/**
 * Endpoints whose time has come, one of a service at most, so that no seller is asked much at once.
 * They are this caller's for so long; then they are due again.
 */
export async function claimDue(app: AppDatabase, limit: number, claimMs: number): Promise<EndpointName[]> {
  const { rows } = await sql<NameRow>`
    UPDATE app.catalog_health SET next_at = ${fromNow(claimMs)}
    WHERE (service_id, endpoint_key) IN (
      SELECT service_id, endpoint_key FROM app.catalog_health
      WHERE next_at <= clock_timestamp() AND (service_id, endpoint_key) IN (
        SELECT service_id, endpoint_key FROM (
          SELECT DISTINCT ON (service_id) service_id, endpoint_key, next_at FROM app.catalog_health
          WHERE next_at <= clock_timestamp() ORDER BY service_id, next_at) first
        ORDER BY next_at, service_id LIMIT ${limit})
      FOR UPDATE SKIP LOCKED)
    RETURNING service_id, method, path`.execute(app)
  return rows.map(nameOf)
}

interface NameRow {
  readonly service_id: string
  readonly method: string
  readonly path: string
}

const nameOf = ({ service_id, method, path }: NameRow): EndpointName => ({
  serviceId: service_id,
  method,
  path,
})

/**
 * Writes a probe down and what follows from it; null where the endpoint has left the catalog
 * meanwhile. Without a probe nothing was asked.
 */
export async function recordProbe(
  app: AppDatabase,
  name: EndpointName,
  probe: StoredProbe | null,
  decide: (held: HeldHealth) => HealthChange,
): Promise<HealthChange | null> {
  return app.transaction().execute(async (transaction) => {
    const { rows } = await sql<HeldHealth & { endpoint_key: string; now: Date }>`
      SELECT state, failures, endpoint_key, clock_timestamp() AS now,
        CASE WHEN suspended_until > clock_timestamp()
          THEN (extract(epoch FROM clock_timestamp() - suspended_at) * 1000)::float8 END AS "suspendedMs"
      FROM app.catalog_health WHERE ${isNamed(name)} FOR UPDATE`.execute(transaction)
    const [held] = rows
    if (!held) return null
    const change = decide(held)
    const { state, failures, nextMs, isVerified, isFreed, drift } = change
    await transaction
      .updateTable('app.catalog_health')
      .set({
        state,
        failures,
        next_at: nextMs === null ? null : fromNow(nextMs),
        ...(probe && { probed_at: held.now }),
        ...(isVerified && { verified_at: held.now }),
        ...(isFreed && { suspended_until: held.now }),
        ...(drift !== undefined && { drift: drift && JSON.stringify(drift) }),
      })
      .where(isNamed(name))
      .execute()
    if (probe) await insertProbe(transaction, name, { ...probe, key: held.endpoint_key, at: held.now })
    return change
  })
}

async function insertProbe(
  app: AppDatabase,
  { serviceId }: EndpointName,
  { key, at, outcome, status, problem, durationMs, offers }: StoredProbe & { key: string; at: Date },
): Promise<void> {
  await app
    .insertInto('app.catalog_probes')
    .values({
      ...{ service_id: serviceId, endpoint_key: key, probed_at: at, outcome, status, problem },
      duration_ms: Math.round(durationMs),
      offers: JSON.stringify(offers),
    })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  await sql`
    DELETE FROM app.catalog_probes WHERE service_id = ${serviceId} AND endpoint_key = ${key} AND probed_at < (
      SELECT probed_at FROM app.catalog_probes WHERE service_id = ${serviceId} AND endpoint_key = ${key}
      ORDER BY probed_at DESC OFFSET ${PROBES_KEPT - 1} LIMIT 1)`.execute(app)
}

/** Health of some services' endpoints, in the order of paths. */
export async function readHealth(app: AppDatabase, serviceIds: readonly string[]): Promise<StoredHealth[]> {
  const rows = await app
    .selectFrom('app.catalog_health')
    .selectAll()
    .select(sql<boolean>`coalesce(suspended_until > clock_timestamp(), false)`.as('is_suspended'))
    .where('service_id', 'in', [...serviceIds])
    .orderBy('path')
    .orderBy('method')
    .execute()
  return rows.map((row) => ({
    ...nameOf(row),
    // The table's own check has these values alone.
    state: row.state as HealthState,
    failures: row.failures,
    probedAt: row.probed_at,
    verifiedAt: row.verified_at,
    drift: row.drift,
    isOver: row.next_at === null,
    suspension: row.is_suspended ? suspensionOf(row) : null,
  }))
}

/** The newest one; null if it was never suspended. */
export function suspensionOf(row: {
  readonly suspended_at: Date | null
  readonly suspended_until: Date | null
  readonly suspended_for: string | null
}): Suspension | null {
  const { suspended_at: since, suspended_until: until, suspended_for: reason } = row
  return since && until && reason !== null ? { reason, since, until } : null
}

/** The probes of an endpoint that are kept, the newest first. */
export async function readProbes(
  app: AppDatabase,
  { serviceId, method, path }: EndpointName,
): Promise<(StoredProbe & { readonly at: Date })[]> {
  const rows = await app
    .selectFrom('app.catalog_probes')
    .selectAll()
    .where('service_id', '=', serviceId)
    .where('endpoint_key', '=', sql<string>`md5(${`${method} ${path}`})`)
    .orderBy('probed_at', 'desc')
    .execute()
  return rows.map(({ probed_at, outcome, status, problem, duration_ms, offers }) => ({
    ...{ at: probed_at, outcome, status, problem, durationMs: duration_ms },
    offers: Array.isArray(offers) ? offers : [],
  }))
}

export const isNamed = ({ serviceId, method, path }: EndpointName) =>
  sql<boolean>`service_id = ${serviceId} AND endpoint_key = md5(${`${method} ${path}`})`

/**
 * After a change of the catalog: endpoints that are shown now have health, the others have none.
 */
export async function settleHealth(app: AppDatabase): Promise<void> {
  await sql`
    DELETE FROM app.catalog_health h WHERE NOT EXISTS (
      SELECT FROM app.catalog_endpoints p
      WHERE p.is_shown AND p.service_id = h.service_id AND p.endpoint_key = h.endpoint_key)`.execute(app)
  await sql`
    INSERT INTO app.catalog_health (service_id, method, path)
    SELECT service_id, document ->> 'method', document ->> 'path' FROM app.catalog_endpoints WHERE is_shown
    ON CONFLICT DO NOTHING`.execute(app)
}

/** Services that are listed otherwise now may tell a call without effect. */
export async function probeAgain(app: AppDatabase, serviceIds: readonly string[]): Promise<void> {
  await app
    .updateTable('app.catalog_health')
    .set({ state: 'unknown', next_at: databaseNow })
    .where(sql<boolean>`service_id = ANY (${[...serviceIds]}::text[])`)
    .where('state', '=', 'unprobed')
    .execute()
}
