/**
 * Jobs are made in the transaction that settles their payment. A payer's idempotency key belongs to
 * one plan for good, so that a repeated request finds its job instead of paying for another.
 */
import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { failure } from '#errors.ts'
import { toBytes } from '#store/sql.ts'
import type { AppDatabase } from '../database.ts'
import { addHeld, type JobCharge } from './books.ts'
import { addEvents } from './events.ts'

export interface NewJobNode {
  readonly nodeId: string
  readonly serviceId: string
  readonly method: string
  readonly path: string
  /** The most its call may cost, in the smallest unit of the quote's currency. */
  readonly unitsMax: bigint
}

export interface NewJob {
  /** UUID, version 4. */
  readonly id: string
  /** Lowercase address. */
  readonly payer: string
  readonly idempotencyKey: string
  /** SHA-256 of the plan, in hex. */
  readonly planHash: string
  /** Canonical JSON. */
  readonly plan: string
  /** In the plan's order. */
  readonly nodes: readonly NewJobNode[]
  readonly currency: string
  readonly decimals: number
  readonly costMultiplier: string
  /** In the smallest unit of the quote's currency. */
  readonly chargedUnits: bigint
  /** Null for what costs nothing. */
  readonly charge: JobCharge | null
  readonly deadlineAt: Date
  /** The job whose outputs it goes on with, and the nodes that have them. */
  readonly carried: { readonly jobId: string; readonly nodeIds: readonly string[] } | null
}

export interface FoundJob {
  readonly jobId: string
  readonly planHash: string
}

/** The payer's job of that key. */
export async function findJobByKey(
  app: AppDatabase,
  payer: string,
  idempotencyKey: string,
): Promise<FoundJob | null> {
  const row = await app
    .selectFrom('app.jobs')
    .select(['id', 'plan_hash'])
    .where('payer', '=', toBytes(payer))
    .where('idempotency_key', '=', idempotencyKey)
    .executeTakeFirst()
  return row ? { jobId: row.id, planHash: row.plan_hash } : null
}

/**
 * The job's id: of the new one, or of the one that the payer's key made before. It is to be run once
 * the transaction is committed.
 * @throws IdempotencyConflictError where the key made a job of another plan
 */
export async function insertJob(transaction: AppDatabase, job: NewJob): Promise<InsertedJob> {
  const inserted = await transaction
    .insertInto('app.jobs')
    .values(rowOf(job))
    .onConflict((conflict) => conflict.columns(['payer', 'idempotency_key']).doNothing())
    .returning('id')
    .executeTakeFirst()
  if (!inserted) {
    const found = await findJobByKey(transaction, job.payer, job.idempotencyKey)
    if (found?.planHash !== job.planHash) throw new IdempotencyConflictError()
    return { jobId: found.jobId, isNew: false }
  }
  await transaction
    .insertInto('app.job_nodes')
    .values(job.nodes.map(nodeRowOf(job)))
    .execute()
  if (job.charge) await addHeld(transaction, job.charge)
  if (job.carried) await carryOutputs(transaction, job.id, job.carried)
  await addEvents(transaction, job.id, [{ type: 'job', data: { state: 'queued' } }])
  return { jobId: job.id, isNew: true }
}

export interface InsertedJob {
  readonly jobId: string
  readonly isNew: boolean
}

const rowOf = (job: NewJob) => ({
  id: job.id,
  payer: toBytes(job.payer),
  idempotency_key: job.idempotencyKey,
  plan_hash: job.planHash,
  plan: job.plan,
  retry_of: job.carried?.jobId ?? null,
  currency: job.currency,
  decimals: job.decimals,
  cost_multiplier: job.costMultiplier,
  charged_units: job.chargedUnits,
  deadline_at: job.deadlineAt,
  ...(job.charge && {
    payment_id: job.charge.paymentId,
    payment_method: job.charge.method,
    chain_id: job.charge.chainId,
    token: toBytes(job.charge.token),
    token_decimals: job.charge.tokenDecimals,
    charged_amount: job.charge.amount,
  }),
})

const nodeRowOf =
  ({ id }: NewJob) =>
  ({ nodeId, serviceId, method, path, unitsMax }: NewJobNode, ordinal: number) => ({
    ...{ job_id: id, node_id: nodeId, ordinal, service_id: serviceId, method, path, units_max: unitsMax },
    // Chance: the seller must not find the job by it, whose id is all that a reader needs.
    seller_key: randomUUID(),
  })

/** Outputs are copied: the job that they were paid for keeps its own, and loses them first. */
async function carryOutputs(
  transaction: AppDatabase,
  jobId: string,
  { jobId: from, nodeIds }: NonNullable<NewJob['carried']>,
): Promise<void> {
  const { numAffectedRows } = await sql`
    UPDATE app.job_nodes AS n
    SET state = 'succeeded', is_carried = true, units_max = 0, output = o.output, output_bytes = o.output_bytes,
        output_digest = o.output_digest, ended_at = clock_timestamp()
    FROM app.job_nodes o
    WHERE n.job_id = ${jobId} AND n.node_id = ANY (${nodeIds}::text[])
      AND o.job_id = ${from} AND o.node_id = n.node_id AND o.state = 'succeeded' AND o.output IS NOT NULL
  `.execute(transaction)
  if (numAffectedRows !== BigInt(nodeIds.length)) throw new CarriedOutputGoneError()
  await sql`
    UPDATE app.jobs SET output_bytes = (SELECT coalesce(sum(output_bytes), 0) FROM app.job_nodes WHERE job_id = ${jobId})
    WHERE id = ${jobId}`.execute(transaction)
}

/** The payer's idempotency key belongs to a job of another plan. */
export class IdempotencyConflictError extends failure(
  'IdempotencyConflictError',
  'idempotency_conflict',
  'stop',
) {
  constructor() {
    super('the idempotency key belongs to a job of another plan')
  }
}

/** An output that was to be carried over is no longer kept. */
export class CarriedOutputGoneError extends failure('CarriedOutputGoneError', 'job_results_removed', 'stop') {
  constructor() {
    super('outputs of the job before are no longer kept')
  }
}
