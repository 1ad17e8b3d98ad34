/**
 * Orders: jobs whose payment is claimed. One key of a payer has one order or one job, so that of
 * requests that come at once one alone pays.
 */
import { sql } from 'kysely'
import { isRecord } from '#primitives.ts'
import { toBytes, toHex } from '#store/sql.ts'
import type { AppDatabase } from '../database.ts'
import { type FoundJob, findJobByKey } from './newJobs.ts'

export interface JobTerms {
  readonly currency: string
  readonly decimals: number
  readonly costMultiplier: string
  /** In the smallest unit of the currency, as digits. */
  readonly totalAmountUnits: string
  readonly nodes: readonly { readonly nodeId: string; readonly amountUnits: string }[]
}

export interface JobOrderRow {
  readonly paymentId: string
  /** UUID, version 4. */
  readonly jobId: string
  /** Lowercase address. */
  readonly payer: string
  readonly idempotencyKey: string
  readonly planHash: string
  /** Canonical JSON. */
  readonly plan: string
  readonly terms: JobTerms
  readonly tokenDecimals: number
  /** Chance. */
  readonly sellerSeed: string
  /** The job that it goes on with. */
  readonly retryOf: string | null
}

/** An order whose payment failed gives way; another may come in its place at that moment. */
const TRIES_MAX = 5

/**
 * Null once the order is there. Else what the payer's key has already; the transaction is then to be
 * given up.
 */
export async function claimOrder(
  transaction: AppDatabase,
  order: Omit<JobOrderRow, 'sellerSeed'>,
): Promise<FoundJob | null> {
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const { numInsertedOrUpdatedRows } = await transaction
      .insertInto('app.job_orders')
      .values({
        payment_id: order.paymentId,
        job_id: order.jobId,
        payer: toBytes(order.payer),
        idempotency_key: order.idempotencyKey,
        plan_hash: order.planHash,
        plan: order.plan,
        quote: JSON.stringify(order.terms),
        token_decimals: order.tokenDecimals,
        retry_of: order.retryOf,
      })
      .onConflict((conflict) => conflict.columns(['payer', 'idempotency_key']).doNothing())
      .executeTakeFirst()
    // A job took its order's place while this one waited for the key.
    if (numInsertedOrUpdatedRows === 1n) return findJobByKey(transaction, order.payer, order.idempotencyKey)
    const found = await findOrder(transaction, order)
    if (found) return found
  }
  return findJobByKey(transaction, order.payer, order.idempotencyKey)
}

/** Null where there is none, or one that has failed and is gone now. */
async function findOrder(
  transaction: AppDatabase,
  { payer, idempotencyKey }: Pick<JobOrderRow, 'payer' | 'idempotencyKey'>,
): Promise<FoundJob | null> {
  const row = await transaction
    .selectFrom('app.job_orders as o')
    .innerJoin('app.payments as p', 'p.id', 'o.payment_id')
    .select(['o.payment_id', 'o.job_id', 'o.plan_hash', 'o.retry_of', MAKES_JOB.as('makes_job')])
    .where('o.payer', '=', toBytes(payer))
    .where('o.idempotency_key', '=', idempotencyKey)
    .executeTakeFirst()
  if (!row) return null
  if (row.makes_job) return { jobId: row.job_id, planHash: row.plan_hash, retryOf: row.retry_of }
  await transaction.deleteFrom('app.job_orders').where('payment_id', '=', row.payment_id).execute()
  return null
}

/** The order of a payment, whose job the same transaction makes; null where that was done. */
export async function takeOrder(transaction: AppDatabase, paymentId: string): Promise<JobOrderRow | null> {
  const row = await transaction
    .deleteFrom('app.job_orders')
    .where('payment_id', '=', paymentId)
    .returningAll()
    .executeTakeFirst()
  return row
    ? {
        paymentId,
        jobId: row.job_id,
        payer: toHex(row.payer),
        idempotencyKey: row.idempotency_key,
        planHash: row.plan_hash,
        plan: row.plan,
        terms: termsOf(row.quote),
        tokenDecimals: row.token_decimals,
        sellerSeed: row.seller_seed,
        retryOf: row.retry_of,
      }
    : null
}

/** The id of the job that a payment makes, or has made. */
export async function findJobOfPayment(app: AppDatabase, paymentId: string): Promise<string | null> {
  const ordered = openOrders(app).select('o.job_id as id').where('o.payment_id', '=', paymentId)
  const made = app.selectFrom('app.jobs').select('id').where('payment_id', '=', paymentId)
  const row = await ordered.union(made).executeTakeFirst()
  return row?.id ?? null
}

/** Whether a job will have the id once its payment has settled. */
export const isOrdered = async (app: AppDatabase, jobId: string): Promise<boolean> =>
  (await findOrderer(app, jobId)) !== null

/** Lowercase address of the account that has ordered what will be a job; null where nobody has. */
export async function findOrderer(app: AppDatabase, jobId: string): Promise<`0x${string}` | null> {
  const row = await openOrders(app).select('o.payer').where('o.job_id', '=', jobId).executeTakeFirst()
  return row ? toHex(row.payer) : null
}

/** A payment `p` that failed makes no job, also where it settles after all: it is owed back then. */
export const MAKES_JOB = sql<boolean>`p.state <> 'failed' AND p.owed_at IS NULL`

/** Orders that will be jobs. */
export const openOrders = (app: AppDatabase) =>
  app
    .selectFrom('app.job_orders as o')
    .innerJoin('app.payments as p', 'p.id', 'o.payment_id')
    .where(MAKES_JOB)

/** As it was written. */
function termsOf(quote: unknown): JobTerms {
  const { currency, decimals, costMultiplier, totalAmountUnits, nodes } = isRecord(quote) ? quote : {}
  return {
    currency: String(currency),
    decimals: Number(decimals),
    costMultiplier: String(costMultiplier),
    totalAmountUnits: String(totalAmountUnits),
    nodes: (Array.isArray(nodes) ? nodes : []).map((node) => ({
      nodeId: String(node.nodeId),
      amountUnits: String(node.amountUnits),
    })),
  }
}
