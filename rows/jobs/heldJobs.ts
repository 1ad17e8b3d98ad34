/**
 * Jobs that processes run: each is held by one for a limited time, and goes to another when that is
 * over. `fence` grows with each holder, and whatever a holder writes checks it in the same
 * transaction, so that one which was paused past its time writes nothing.
 */
import { sql } from 'kysely'
import { failure } from '#errors.ts'
import { toBytes } from '#store/sql.ts'
import { type AppDatabase, databaseNow, fromNow } from '../database.ts'
import { queuePayout } from '../payments/debts.ts'
import {
  addClosing,
  addCost,
  type CallCosts,
  type ChargedJob,
  type Closing,
  chargeColumns,
  chargedJobOf,
  isReversed,
  type PaidCall,
  readCosts,
} from './books.ts'
import { addEvents, type NewJobEvent } from './events.ts'
import { readOutputs } from './reads.ts'
import { removeReservation } from './reservations.ts'
import { type JobState, jobStateOf, type NodeState, nodeStateOf } from './states.ts'
import { type Places, type TakenJob, takeJobs } from './takeJobs.ts'
import { voidCalls } from './voided.ts'

/** A job, as the process that holds it names it. */
export interface HeldJob {
  readonly jobId: string
  readonly fence: number
}

export interface LoadedNode {
  readonly nodeId: string
  readonly serviceId: string
  /** The key by which its seller knows all attempts of it. */
  readonly sellerKey: string
  readonly state: NodeState
  readonly unitsMax: bigint
  readonly attempt: number
  readonly polls: number
  readonly pollPath: string | null
  readonly dueMs: number | null
  readonly deadlineMs: number | null
}

export interface LoadedJob {
  /** Canonical JSON. */
  readonly plan: string
  readonly state: JobState
  readonly isCancelling: boolean
  readonly deadlineMs: number
  readonly outputBytes: number
  /** In the plan's order. */
  readonly nodes: readonly LoadedNode[]
}

/** A node as it is from now on. */
export interface NodeChange extends Omit<LoadedNode, 'serviceId' | 'sellerKey' | 'unitsMax'> {
  readonly output: { readonly text: string; readonly bytes: number; readonly digest: Uint8Array } | null
  readonly errorCode: string | null
  readonly errorMessage: string | null
}

/** A purchase as it is from now on. */
export interface AttemptChange {
  readonly nodeId: string
  readonly attempt: number
  /** Null where it begins. */
  readonly outcome: 'answered' | 'refused' | 'unknown' | 'paid_not_delivered' | null
  readonly status: number | null
  readonly errorCode: string | null
  readonly paid: PaidCall | null
  /** The answer that was paid for came. */
  readonly isDelivered: boolean
}

/** The changes of one commit. */
export interface JobStep {
  readonly state: JobState
  readonly nodes: readonly NodeChange[]
  readonly attempts: readonly AttemptChange[]
  readonly events: readonly NewJobEvent[]
  /** Bytes of outputs that the step adds. */
  readonly addedBytes: number
  /**
   * `hold`: the holder goes on; `park`: nobody does before that time; `end`: the job is over, its
   * books are closed.
   */
  readonly next:
    | { readonly kind: 'hold' }
    | { readonly kind: 'park'; readonly inMs: number }
    | {
        readonly kind: 'end'
        readonly close: (job: ChargedJob, costs: CallCosts) => Closing
        readonly nowMs: number
      }
}

export interface KeptJob {
  readonly jobId: string
  readonly isCancelling: boolean
}

/** The store of held jobs; a simulation has one of its own. */
export interface HeldJobs {
  /** Takes jobs that are due, first those of payers who have the fewest places here. */
  take(places: Places, holdMs: number): Promise<readonly TakenJob[]>
  /** Null for one that is not the holder's. */
  load(held: HeldJob): Promise<LoadedJob | null>
  /** Holds them for longer: those that are the holder's still. */
  keep(held: readonly HeldJob[], holdMs: number): Promise<readonly KeptJob[]>
  /** JSON texts by node. */
  outputsOf(jobId: string, nodeIds: readonly string[]): Promise<ReadonlyMap<string, string>>
  /** @throws JobTakenError where another process holds it now */
  write(held: HeldJob, step: JobStep): Promise<void>
}

export const heldJobs = (app: AppDatabase): HeldJobs => ({
  take: (places, holdMs) => takeJobs(app, places, holdMs),
  load: (held) => load(app, held),
  keep: (held, holdMs) => keep(app, held, holdMs),
  outputsOf: (jobId, nodeIds) => readOutputs(app, jobId, nodeIds),
  write: (held, step) => app.transaction().execute((transaction) => write(transaction, held, step)),
})

async function load(app: AppDatabase, { jobId, fence }: HeldJob): Promise<LoadedJob | null> {
  const job = await app
    .selectFrom('app.jobs')
    .select(['plan', 'state', 'deadline_at', 'cancel_requested_at', 'output_bytes'])
    .where('id', '=', jobId)
    .where('fence', '=', fence)
    .where('ended_at', 'is', null)
    .executeTakeFirst()
  if (!job) return null
  const nodes = await app
    .selectFrom('app.job_nodes')
    .select([
      'node_id',
      'service_id',
      'state',
      'units_max',
      'attempt',
      'polls',
      'poll_path',
      'due_at',
      'deadline_at',
    ])
    // A node that was made before there were keys may have been called by this one.
    .select(sql<string>`coalesce(seller_key, concat(job_id, '-', ordinal))`.as('seller_key'))
    .where('job_id', '=', jobId)
    .orderBy('ordinal')
    .execute()
  return {
    plan: job.plan ?? '{"nodes":[]}',
    state: jobStateOf(job.state),
    isCancelling: job.cancel_requested_at !== null,
    deadlineMs: job.deadline_at.getTime(),
    outputBytes: job.output_bytes,
    nodes: nodes.map((row) => ({
      nodeId: row.node_id,
      serviceId: row.service_id,
      sellerKey: row.seller_key,
      state: nodeStateOf(row.state),
      unitsMax: BigInt(row.units_max),
      attempt: row.attempt,
      polls: row.polls,
      pollPath: row.poll_path,
      dueMs: row.due_at?.getTime() ?? null,
      deadlineMs: row.deadline_at?.getTime() ?? null,
    })),
  }
}

async function keep(app: AppDatabase, held: readonly HeldJob[], holdMs: number): Promise<readonly KeptJob[]> {
  if (held.length === 0) return []
  const { rows } = await sql<{ id: string; is_cancelling: boolean }>`
    UPDATE app.jobs AS j SET due_at = ${fromNow(holdMs)}
    FROM unnest(${held.map(({ jobId }) => jobId)}::uuid[], ${held.map(({ fence }) => fence)}::integer[]) AS h (id, fence)
    WHERE j.id = h.id AND j.fence = h.fence AND j.ended_at IS NULL
    RETURNING j.id, j.cancel_requested_at IS NOT NULL AS is_cancelling`.execute(app)
  return rows.map(({ id, is_cancelling: isCancelling }) => ({ jobId: id, isCancelling }))
}

/** The job's row is locked first, so that its writes stand in a line. */
async function write(transaction: AppDatabase, { jobId, fence }: HeldJob, step: JobStep): Promise<void> {
  const { state, next, addedBytes } = step
  const job = await transaction
    .updateTable('app.jobs')
    .set((row) => ({
      state,
      started_at: sql<Date>`coalesce(started_at, ${databaseNow})`,
      ...(addedBytes > 0 && { output_bytes: sql<number>`${row.ref('output_bytes')} + ${addedBytes}` }),
      ...(next.kind === 'park' && { due_at: fromNow(next.inMs) }),
      ...(next.kind === 'end' && { due_at: null, ended_at: databaseNow }),
    }))
    .where('id', '=', jobId)
    .where('fence', '=', fence)
    .where('ended_at', 'is', null)
    .returning(chargeColumns)
    .executeTakeFirst()
  if (!job) throw new JobTakenError()
  await writeNodes(transaction, jobId, step.nodes)
  await writeAttempts(transaction, jobId, await withoutVoid(transaction, jobId, step.attempts))
  await addEvents(transaction, jobId, step.events)
  if (next.kind !== 'end') return
  await close(transaction, jobId, chargedJobOf(job), next)
  await removeReservation(transaction, jobId)
}

async function writeNodes(
  transaction: AppDatabase,
  jobId: string,
  nodes: readonly NodeChange[],
): Promise<void> {
  if (nodes.length === 0) return
  const of = <Value>(pick: (node: NodeChange) => Value) => nodes.map(pick)
  const dateOf = (ms: number | null) => (ms === null ? null : new Date(ms))
  await sql`
    UPDATE app.job_nodes AS n
    SET state = c.state, attempt = c.attempt, polls = c.polls, poll_path = c.poll_path, due_at = c.due_at,
        deadline_at = c.deadline_at, output = c.output, output_bytes = c.bytes, output_digest = c.digest,
        error_code = c.code, error_message = c.message,
        started_at = CASE WHEN c.attempt > 0 THEN coalesce(n.started_at, clock_timestamp()) END,
        ended_at = CASE WHEN c.state NOT IN ('pending', 'running', 'waiting') THEN clock_timestamp() END
    FROM unnest(
      ${of((n) => n.nodeId)}::text[], ${of((n) => n.state)}::text[], ${of((n) => n.attempt)}::integer[],
      ${of((n) => n.polls)}::integer[], ${of((n) => n.pollPath)}::text[], ${of((n) => dateOf(n.dueMs))}::timestamptz[],
      ${of((n) => dateOf(n.deadlineMs))}::timestamptz[], ${of((n) => n.output?.text ?? null)}::text[],
      ${of((n) => n.output?.bytes ?? null)}::integer[], ${of((n) => n.output?.digest ?? null)}::bytea[],
      ${of((n) => n.errorCode)}::text[], ${of((n) => n.errorMessage)}::text[])
      AS c (node_id, state, attempt, polls, poll_path, due_at, deadline_at, output, bytes, digest, code, message)
    WHERE n.job_id = ${jobId} AND n.node_id = c.node_id`.execute(transaction)
}

/** The chain may have said meanwhile that a payment is void, which counted when its answer came. */
async function withoutVoid(
  transaction: AppDatabase,
  jobId: string,
  attempts: readonly AttemptChange[],
): Promise<readonly AttemptChange[]> {
  if (attempts.every(({ paid }) => paid === null)) return attempts
  const isVoid = await voidCalls(transaction, jobId)
  return attempts.map((each) => (isVoid(each) ? { ...each, paid: null } : each))
}

async function writeAttempts(
  transaction: AppDatabase,
  jobId: string,
  attempts: readonly AttemptChange[],
): Promise<void> {
  if (attempts.length === 0) return
  await transaction
    .insertInto('app.job_attempts')
    .values(
      attempts.map(({ nodeId, attempt, outcome, status, errorCode, paid }) => ({
        job_id: jobId,
        node_id: nodeId,
        attempt,
        started_at: databaseNow,
        ended_at: outcome === null ? null : databaseNow,
        outcome,
        status,
        error_code: errorCode,
        paid_chain_id: paid?.chainId ?? null,
        paid_token: paid ? toBytes(paid.currency) : null,
        paid_amount: paid?.amount ?? null,
        paid_units: paid?.units ?? null,
        paid_reference: paid?.reference ?? null,
      })),
    )
    .onConflict((conflict) =>
      conflict.columns(['job_id', 'node_id', 'attempt']).doUpdateSet((row) => ({
        ended_at: row.ref('excluded.ended_at'),
        outcome: row.ref('excluded.outcome'),
        status: row.ref('excluded.status'),
        error_code: row.ref('excluded.error_code'),
        paid_chain_id: row.ref('excluded.paid_chain_id'),
        paid_token: row.ref('excluded.paid_token'),
        paid_amount: row.ref('excluded.paid_amount'),
        paid_units: row.ref('excluded.paid_units'),
        paid_reference: row.ref('excluded.paid_reference'),
      })),
    )
    .execute()
  for (const { paid, isDelivered } of attempts) if (paid) await addCost(transaction, paid, isDelivered)
}

/** The rows' payments decide, not what a process remembers. */
async function close(
  transaction: AppDatabase,
  jobId: string,
  job: ChargedJob,
  { close: closingOf, nowMs }: Extract<JobStep['next'], { kind: 'end' }>,
): Promise<void> {
  const closing = closingOf(job, await readCosts(transaction, jobId))
  const { payer } = job
  // A payment that the chain took back has no entries any more, and is not refunded.
  const charge = job.charge && (await isReversed(transaction, job.charge.paymentId)) ? null : job.charge
  await transaction
    .updateTable('app.jobs')
    .set({
      committed_units: closing.committedUnits,
      fee_units: closing.costs.feeUnits,
      committed_amount: charge === null ? null : closing.committedAmount,
    })
    .where('id', '=', jobId)
    .execute()
  if (charge === null) return
  await addClosing(transaction, charge, closing)
  if (closing.refund === 0n) return
  const { chainId, token: currency, paymentId } = charge
  const owed = { kind: 'refund', reference: paymentId, chainId, currency, amount: closing.refund } as const
  await queuePayout(transaction, { ...owed, to: payer }, nowMs)
}

/** Another process holds the job, or it has ended: nothing was written. */
export class JobTakenError extends failure('JobTakenError', 'job_taken', 'stop') {
  constructor() {
    super('another process holds the job')
  }
}
