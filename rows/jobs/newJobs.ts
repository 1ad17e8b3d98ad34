/**
 * Jobs are made in the transaction that settles their payment. A payer's idempotency key belongs to
 * one plan for good, so that a repeated request finds its job instead of paying for another.
 */
import { hash } from 'node:crypto'
import { sql } from 'kysely'
import { failure } from '#errors.ts'
import { toBytes, toHex } from '#store/sql.ts'
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
  /** Chance, the same for a job that is made once more: its sellers know its calls by what comes from it. */
  readonly sellerSeed: string
  /** The job whose outputs it goes on with, and the nodes that have them. */
  readonly carried: { readonly jobId: string; readonly nodeIds: readonly string[] } | null
}

export interface FoundJob {
  readonly jobId: string
  readonly planHash: string
  /** The job that it goes on with. */
  readonly retryOf: string | null
}

/** The payer's job of that key. */
export async function findJobByKey(
  app: AppDatabase,
  payer: string,
  idempotencyKey: string,
): Promise<FoundJob | null> {
  const row = await app
    .selectFrom('app.jobs')
    .select(['id', 'plan_hash', 'retry_of'])
    .where('payer', '=', toBytes(payer))
    .where('idempotency_key', '=', idempotencyKey)
    .executeTakeFirst()
  return row ? { jobId: row.id, planHash: row.plan_hash, retryOf: row.retry_of } : null
}

/**
 * The job's id: of the new one, or of the one that the payer's key made before. It is to be run once
 * the transaction is committed.
 * @throws IdempotencyConflictError where the key made a job of another plan, or one that goes on with
 *   another job
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
    const isSame = found?.planHash === job.planHash && found.retryOf === (job.carried?.jobId ?? null)
    if (!found || !isSame) throw new IdempotencyConflictError()
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
  ({ id, sellerSeed }: NewJob) =>
  ({ nodeId, serviceId, method, path, unitsMax }: NewJobNode, ordinal: number) => ({
    ...{ job_id: id, node_id: nodeId, ordinal, service_id: serviceId, method, path, units_max: unitsMax },
    seller_key: sellerKeyOf(sellerSeed, nodeId),
  })

/** The seller must not find the job by it, whose id is all that a reader needs. */
const sellerKeyOf = (seed: string, nodeId: string): string =>
  hash('sha256', `${seed}/${nodeId}`, 'hex').slice(0, SELLER_KEY_DIGITS)

const SELLER_KEY_DIGITS = 32

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

export interface EndedJob {
  /** Lowercase address. */
  readonly payer: string
  readonly hasEnded: boolean
  /** The chain took its payment back. */
  readonly isReversed: boolean
  /** Canonical JSON; null where the results are no longer kept. */
  readonly plan: string | null
  readonly nodeCount: number
  /** Ids of nodes that have their outputs, in the order of the plan. */
  readonly delivered: readonly string[]
}

/** A job that another may go on with, or why none may. Null for an id that no job has. */
export async function readEnded(app: AppDatabase, jobId: string): Promise<EndedJob | null> {
  const row = await app
    .selectFrom('app.jobs as j')
    .leftJoin('app.payments as p', 'p.id', 'j.payment_id')
    .select(['j.payer', 'j.plan', 'j.ended_at', 'p.proof'])
    .select((job) => [
      job
        .selectFrom('app.job_nodes as n')
        .whereRef('n.job_id', '=', 'j.id')
        .select(({ fn }) => fn.countAll<string>().as('nodes'))
        .as('nodes'),
    ])
    .where('j.id', '=', jobId)
    .executeTakeFirst()
  if (!row) return null
  return {
    ...{ payer: toHex(row.payer), plan: row.plan, hasEnded: row.ended_at !== null },
    ...{ isReversed: row.proof === 'reversed', nodeCount: Number(row.nodes) },
    delivered: await readDelivered(app, jobId),
  }
}

/** Ids of nodes that have their outputs, in the order of the plan. */
export async function readDelivered(app: AppDatabase, jobId: string): Promise<readonly string[]> {
  const rows = await app
    .selectFrom('app.job_nodes')
    .select('node_id')
    .where('job_id', '=', jobId)
    .where('state', '=', 'succeeded')
    .orderBy('ordinal')
    .execute()
  return rows.map(({ node_id: nodeId }) => nodeId)
}

/** Whether the job has its results, which nobody removes before the transaction is over. */
export async function lockResults(transaction: AppDatabase, jobId: string): Promise<boolean> {
  const row = await transaction
    .selectFrom('app.jobs')
    .select('results_removed_at')
    .where('id', '=', jobId)
    .forShare()
    .executeTakeFirst()
  return row?.results_removed_at === null
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
