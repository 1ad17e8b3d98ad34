/** A job of a plan that was quoted and paid for. */
import { randomUUID } from 'node:crypto'
import type { AppDatabase } from '#rows/database.ts'
import type { JobCharge } from '#rows/jobs/books.ts'
import { type InsertedJob, insertJob, type NewJob } from '#rows/jobs/newJobs.ts'
import type { JobTerms } from '#rows/jobs/orders.ts'
import { canonicalJson } from '../plan/canonicalJson.ts'
import type { Plan } from '../plan/plan.ts'
import { planHash } from '../plan/planHash.ts'

export interface JobOrder {
  /** UUID, version 4: chosen before the payment is spent, so that its outcome has a name. */
  readonly jobId: string
  /** Lowercase address, as it was verified. */
  readonly payer: string
  readonly idempotencyKey: string
  readonly plan: Plan
  /** The part of a quote that it goes on with: prices that its calls may cost, and what was accepted. */
  readonly quote: JobTerms
  /** Null for a plan that costs nothing. */
  readonly charge: JobCharge | null
  /** Milliseconds since the epoch. */
  readonly nowMs: number
  /** Chance, where the order has some. */
  readonly sellerSeed?: string
  /** The job whose outputs it goes on with: the nodes named are not called again. */
  readonly carried?: NewJob['carried']
}

/** The longest that a job runs: what is not done by then has failed, and is refunded. */
const JOB_MS_MAX = 6 * 3_600_000

/**
 * Makes the job in the transaction that settles its payment; the same payer, key and plan give the
 * job that is there. Who commits rings the bell of jobs.
 * @throws IdempotencyConflictError, CarriedOutputGoneError
 */
export function createJob(transaction: AppDatabase, order: JobOrder): Promise<InsertedJob> {
  const { jobId, payer, idempotencyKey, plan, quote, charge, nowMs } = order
  const { carried = null, sellerSeed = randomUUID() } = order
  const prices = new Map(quote.nodes.map(({ nodeId, amountUnits }) => [nodeId, BigInt(amountUnits)]))
  return insertJob(transaction, {
    id: jobId,
    ...{ payer, idempotencyKey, charge, carried, sellerSeed },
    planHash: planHash(plan),
    plan: canonicalJson(plan),
    nodes: plan.nodes.map(({ id, serviceId, method, path }) => ({
      ...{ nodeId: id, serviceId, method, path },
      unitsMax: prices.get(id) ?? 0n,
    })),
    currency: quote.currency,
    decimals: quote.decimals,
    costMultiplier: quote.costMultiplier,
    chargedUnits: BigInt(quote.totalAmountUnits),
    deadlineAt: new Date(nowMs + JOB_MS_MAX),
  })
}
