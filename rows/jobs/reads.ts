/** A job as its readers see it. */
import { type RawBuilder, sql } from 'kysely'
import { toHex } from '#store/sql.ts'
import { anyOf } from '../arrays.ts'
import { type AppDatabase, fromNow } from '../database.ts'
import type { PaidCall } from './books.ts'
import { isOrdered, MAKES_JOB, openOrders } from './orders.ts'
import type { SpentFee } from './spends.ts'
import { type JobState, jobStateOf, type NodeState, nodeStateOf } from './states.ts'

export interface ReadJob {
  readonly jobId: string
  readonly state: JobState
  readonly planHash: string
  readonly payer: string
  readonly paymentId: string | null
  readonly paymentMethod: string | null
  readonly currency: string
  readonly decimals: number
  /** Those of the token it was paid in; null for what cost nothing. */
  readonly tokenDecimals: number | null
  readonly costMultiplier: string
  readonly chargedUnits: bigint
  /** Null before the end. */
  readonly committedUnits: bigint | null
  readonly createdAt: Date
  readonly endedAt: Date | null
  readonly areResultsRemoved: boolean
}

/** Null for an id that no job has. */
export async function readJob(app: AppDatabase, jobId: string): Promise<ReadJob | null> {
  const row = await app
    .selectFrom('app.jobs')
    .select(['id', 'state', 'plan_hash', 'payer', 'payment_id', 'payment_method', 'currency', 'decimals'])
    .select(['cost_multiplier', 'charged_units', 'committed_units', 'created_at', 'ended_at'])
    .select('token_decimals')
    .select(sql<boolean>`results_removed_at IS NOT NULL`.as('is_removed'))
    .where('id', '=', jobId)
    .executeTakeFirst()
  if (!row) return null
  return {
    jobId: row.id,
    state: jobStateOf(row.state),
    planHash: row.plan_hash,
    payer: toHex(row.payer),
    paymentId: row.payment_id,
    paymentMethod: row.payment_method,
    currency: row.currency,
    decimals: row.decimals,
    tokenDecimals: row.token_decimals,
    costMultiplier: row.cost_multiplier,
    chargedUnits: BigInt(row.charged_units),
    committedUnits: row.committed_units === null ? null : BigInt(row.committed_units),
    createdAt: row.created_at,
    endedAt: row.ended_at,
    areResultsRemoved: row.is_removed,
  }
}

/** The same; `ordered` while its payment has not settled. */
export async function findJob(app: AppDatabase, jobId: string): Promise<ReadJob | 'ordered' | null> {
  const job = await readJob(app, jobId)
  if (job) return job
  if (await isOrdered(app, jobId)) return 'ordered'
  // An order that is gone may have become a job in between.
  return readJob(app, jobId)
}

/** How far a job is, and since when. */
export interface JobStanding {
  /** `ordered` while its payment has not settled. */
  readonly state: JobState | 'ordered'
  /** When its payment came in: the same before and after it has settled. */
  readonly createdAt: Date
  /** The newest of what became of it. */
  readonly changedAt: Date
  /** When it ends at the latest; null while it is not known. */
  readonly deadlineAt: Date | null
  readonly endedAt: Date | null
  readonly ageMs: number
  readonly nodes: number
  /** Those among them that have ended. */
  readonly nodesEnded: number
}

/** Null for an id that no job has. */
export async function findStanding(app: AppDatabase, jobId: string): Promise<JobStanding | null> {
  const job = await standingOfJob(app, jobId)
  // An order that is gone may have become a job in between.
  return job ?? (await standingOfOrder(app, jobId)) ?? standingOfJob(app, jobId)
}

const ageOf = (moment: RawBuilder<Date>) =>
  sql<number>`(extract(epoch FROM clock_timestamp() - ${moment}) * 1000)::float8`

async function standingOfJob(app: AppDatabase, jobId: string): Promise<JobStanding | null> {
  const createdAt = sql<Date>`coalesce(p.claimed_at, j.created_at)`
  const ofNodes = (condition: RawBuilder<boolean>) =>
    sql<number>`(SELECT count(*) FROM app.job_nodes WHERE job_id = j.id AND ${condition})::integer`
  const row = await app
    .selectFrom('app.jobs as j')
    .leftJoin('app.payments as p', 'p.id', 'j.payment_id')
    .select(['j.state', 'j.deadline_at', 'j.ended_at', createdAt.as('created_at')])
    .select(
      sql<Date>`greatest(j.created_at, j.cancel_requested_at, j.ended_at,
        (SELECT recorded_at FROM app.job_events WHERE job_id = j.id ORDER BY sequence DESC LIMIT 1))`.as(
        'changed_at',
      ),
    )
    .select([ageOf(createdAt).as('age_ms'), ofNodes(sql<boolean>`true`).as('nodes')])
    .select(ofNodes(sql<boolean>`ended_at IS NOT NULL`).as('nodes_ended'))
    .where('j.id', '=', jobId)
    .executeTakeFirst()
  if (!row) return null
  return {
    state: jobStateOf(row.state),
    createdAt: row.created_at,
    changedAt: row.changed_at,
    deadlineAt: row.deadline_at,
    endedAt: row.ended_at,
    ageMs: row.age_ms,
    nodes: row.nodes,
    nodesEnded: row.nodes_ended,
  }
}

async function standingOfOrder(app: AppDatabase, jobId: string): Promise<JobStanding | null> {
  const row = await openOrders(app)
    .select(['p.claimed_at', ageOf(sql<Date>`p.claimed_at`).as('age_ms')])
    .where('o.job_id', '=', jobId)
    .executeTakeFirst()
  if (!row) return null
  return {
    ...{ state: 'ordered', createdAt: row.claimed_at, changedAt: row.claimed_at, ageMs: row.age_ms },
    ...{ deadlineAt: null, endedAt: null, nodes: 0, nodesEnded: 0 },
  }
}

export interface ReadNode {
  readonly nodeId: string
  readonly serviceId: string
  readonly method: string
  readonly path: string
  readonly state: NodeState
  readonly isCarried: boolean
  readonly unitsMax: bigint
  readonly dueAt: Date | null
  readonly outputBytes: number | null
  /** SHA-256, in hex. */
  readonly outputDigest: string | null
  readonly errorCode: string | null
  readonly errorMessage: string | null
  readonly startedAt: Date | null
  readonly endedAt: Date | null
}

/** In the plan's order, without what they hold. */
export async function readNodes(app: AppDatabase, jobId: string): Promise<readonly ReadNode[]> {
  const rows = await app
    .selectFrom('app.job_nodes')
    .select(['node_id', 'state', 'is_carried', 'units_max', 'due_at', 'output_bytes', 'output_digest'])
    .select(['error_code', 'error_message', 'started_at', 'ended_at', 'service_id', 'method', 'path'])
    .where('job_id', '=', jobId)
    .orderBy('ordinal')
    .execute()
  return rows.map((row) => ({
    nodeId: row.node_id,
    serviceId: row.service_id,
    method: row.method,
    path: row.path,
    state: nodeStateOf(row.state),
    isCarried: row.is_carried,
    unitsMax: BigInt(row.units_max),
    dueAt: row.due_at,
    outputBytes: row.output_bytes,
    outputDigest: row.output_digest?.toString('hex') ?? null,
    errorCode: row.error_code,
    errorMessage: row.error_message,
    startedAt: row.started_at,
    endedAt: row.ended_at,
  }))
}

/** Canonical JSON; null once it is removed with the results. */
export async function readPlanText(app: AppDatabase, jobId: string): Promise<string | null> {
  const jobs = app.selectFrom('app.jobs').select('plan')
  return (await jobs.where('id', '=', jobId).executeTakeFirst())?.plan ?? null
}

export interface ReadPaidCall extends PaidCall {
  /** The chain's fee; null while it is not known. */
  readonly fee: SpentFee | null
  /** Null until the chain has it, and where no node tells which transaction it was. */
  readonly transactionHash: string | null
}

export interface ReadAttempt {
  readonly nodeId: string
  readonly attempt: number
  /** Null while it is under way. */
  readonly outcome: string | null
  readonly status: number | null
  readonly errorCode: string | null
  readonly paid: ReadPaidCall | null
  readonly startedAt: Date
  readonly endedAt: Date | null
}

/** The first ones first. */
export async function readAttempts(app: AppDatabase, jobId: string): Promise<readonly ReadAttempt[]> {
  const rows = await app
    .selectFrom('app.job_attempts as a')
    .leftJoin('app.spends as s', (join) =>
      join
        .on('s.job_id', '=', jobId)
        .onRef('s.node_id', '=', 'a.node_id')
        .onRef('s.attempt', '=', 'a.attempt')
        .on('s.state', '=', 'settled'),
    )
    .selectAll('a')
    .select(['s.tx_hash', 's.reference', 's.protocol', 's.fee', 's.fee_currency', 's.fee_units'])
    .where('a.job_id', '=', jobId)
    .orderBy('a.started_at')
    .orderBy('a.node_id')
    .orderBy('a.attempt')
    .execute()
  return rows.map((row) => ({
    nodeId: row.node_id,
    attempt: row.attempt,
    outcome: row.outcome,
    status: row.status,
    errorCode: row.error_code,
    paid: paidOf(row),
    startedAt: row.started_at,
    endedAt: row.ended_at,
  }))
}

interface PaidRow {
  readonly paid_chain_id: number | null
  readonly paid_token: Buffer | null
  readonly paid_amount: string | null
  readonly paid_units: string | null
  readonly paid_reference: string | null
  readonly tx_hash: Buffer | null
  readonly reference: Buffer | null
  readonly protocol: string | null
  readonly fee: string | null
  readonly fee_currency: Buffer | null
  readonly fee_units: string | null
}

function paidOf(row: PaidRow): ReadPaidCall | null {
  const { paid_chain_id: chainId, paid_token: token, paid_amount: amount, paid_units: units } = row
  const { paid_reference: reference } = row
  if (chainId === null || !token || amount === null || units === null || reference === null) return null
  const call = { chainId, currency: toHex(token), amount: BigInt(amount), units: BigInt(units), reference }
  return { ...call, fee: feeOf(row), transactionHash: hashOf(row) }
}

/** An authorization whose transaction no node names is settled by its nonce. */
function hashOf({ protocol, tx_hash: hash, reference }: PaidRow): string | null {
  if (!hash || (protocol === 'x402' && reference && hash.equals(reference))) return null
  return toHex(hash)
}

const feeOf = ({ fee, fee_currency: currency, fee_units: units }: PaidRow): SpentFee | null =>
  fee === null
    ? null
    : { fee: BigInt(fee), feeCurrency: currency ? toHex(currency) : '0x', units: BigInt(units ?? 0) }

/** JSON texts by node. */
export async function readOutputs(
  app: AppDatabase,
  jobId: string,
  nodeIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const rows = await app
    .selectFrom('app.job_nodes')
    .select(['node_id', 'output'])
    .where('job_id', '=', jobId)
    .where('node_id', '=', anyOf('text', nodeIds))
    .execute()
  return new Map(rows.flatMap(({ node_id, output }) => (output === null ? [] : [[node_id, output] as const])))
}

/** Jobs for the operator, the newest first. */
export async function listJobs(app: AppDatabase, limit: number): Promise<readonly ListedJob[]> {
  const rows = await app
    .selectFrom('app.jobs as j')
    .leftJoin('app.payments as p', 'p.id', 'j.payment_id')
    .select([
      'j.id',
      'j.state',
      'j.payer',
      'j.currency',
      'j.decimals',
      'j.charged_units',
      'j.committed_units',
    ])
    .select(['j.created_at', 'j.ended_at', 'p.proof'])
    .orderBy('j.created_at', 'desc')
    .limit(limit)
    .execute()
  return rows.map((row) => ({
    jobId: row.id,
    state: jobStateOf(row.state),
    payer: toHex(row.payer),
    currency: row.currency,
    decimals: row.decimals,
    chargedUnits: BigInt(row.charged_units),
    committedUnits: row.committed_units === null ? null : BigInt(row.committed_units),
    createdAt: row.created_at,
    endedAt: row.ended_at,
    isReversed: row.proof === 'reversed',
  }))
}

export type ListedJob = {
  /** The chain took its payment back. */
  readonly isReversed: boolean
} & Pick<
  ReadJob,
  | 'jobId'
  | 'state'
  | 'payer'
  | 'currency'
  | 'decimals'
  | 'chargedUnits'
  | 'committedUnits'
  | 'createdAt'
  | 'endedAt'
>

/**
 * Asks for a job's end: what has not begun will not. False where it has ended, or was asked for
 * before.
 */
export async function requestCancel(app: AppDatabase, jobId: string): Promise<boolean> {
  const { numUpdatedRows } = await app
    .updateTable('app.jobs')
    .set({ cancel_requested_at: sql<Date>`clock_timestamp()` })
    .where('id', '=', jobId)
    .where('ended_at', 'is', null)
    .where('cancel_requested_at', 'is', null)
    .executeTakeFirst()
  return numUpdatedRows === 1n
}

/** Jobs whose results are removed by one statement: each may have 32 MiB. */
const REMOVED_JOBS = 20

/**
 * Removes plans and outputs of some jobs that ended so long ago; digests and amounts stay. False
 * when none is left.
 */
export async function removeResults(app: AppDatabase, keptMs: number): Promise<boolean> {
  return app.transaction().execute(async (transaction) => {
    const rows = await transaction
      .selectFrom('app.jobs')
      .select('id')
      .where('results_removed_at', 'is', null)
      .where('ended_at', '<', fromNow(-keptMs))
      .where(({ not, exists, selectFrom }) =>
        not(
          exists(
            // Their payments are claimed, and they will carry the outputs over.
            selectFrom('app.job_orders as o')
              .innerJoin('app.payments as p', 'p.id', 'o.payment_id')
              .select('o.job_id')
              .whereRef('o.retry_of', '=', 'app.jobs.id')
              .where(MAKES_JOB),
          ),
        ),
      )
      .limit(REMOVED_JOBS)
      .forUpdate()
      .skipLocked()
      .execute()
    const ids = rows.map(({ id }) => id)
    if (ids.length === 0) return false
    await transaction.updateTable('app.job_nodes').set({ output: null }).where('job_id', 'in', ids).execute()
    await transaction.deleteFrom('app.job_events').where('job_id', 'in', ids).execute()
    await transaction
      .updateTable('app.jobs')
      .set({ plan: null, results_removed_at: sql<Date>`clock_timestamp()` })
      .where('id', 'in', ids)
      .execute()
    return ids.length === REMOVED_JOBS
  })
}
