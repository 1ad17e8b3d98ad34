/** The part of an ended job that its payer may buy again: the rest keeps its outputs. */
import { ApiError } from '#http/errors.ts'
import { PaymentRefusedError } from '#payments/methods/PaymentMethod.ts'
import type { AppDatabase } from '#rows/database.ts'
import { type EndedJob, lockResults, readEnded } from '#rows/jobs/newJobs.ts'
import { isOrdered } from '#rows/jobs/orders.ts'
import type { Plan } from '../plan/plan.ts'
import { readPlan } from '../plan/readPlan.ts'

export interface RetriedJob {
  readonly jobId: string
  /** Lowercase address: nobody else goes on with the job. */
  readonly payer: string
  /** Those that have their outputs, in the order of the plan. */
  readonly nodeIds: readonly string[]
}

/** @throws ApiError job_not_found, job_not_retryable */
export async function readRetriedJob(
  app: AppDatabase,
  jobId: string,
): Promise<{ readonly plan: Plan; readonly retried: RetriedJob }> {
  // The order first: whoever finds it gone finds its job.
  const isOrder = await isOrdered(app, jobId)
  const job = await readEnded(app, jobId)
  if (!job) throw isOrder ? notRetryable('its payment has not settled yet') : new ApiError('job_not_found')
  const { payer, delivered: nodeIds, plan } = job
  const obstacle = obstacleOf(job)
  if (obstacle !== null) throw notRetryable(obstacle)
  if (plan === null) throw resultsGone()
  return { plan: readPlan(JSON.parse(plan)), retried: { jobId, payer, nodeIds } }
}

function obstacleOf({ hasEnded, isReversed, delivered, nodeCount }: EndedJob): string | null {
  if (!hasEnded) return 'the job runs'
  if (isReversed) return 'the chain took the payment of the job back'
  return delivered.length === nodeCount ? 'each node has its output' : null
}

/** @throws ApiError forbidden, whose payment pays for nothing here */
export function assertBuyer(retried: RetriedJob | null, payer: string): void {
  if (retried && retried.payer !== payer)
    throw new ApiError('forbidden', 'Another account bought this job.', {
      cause: new PaymentRefusedError(new Error('another account bought the job')),
    })
}

/**
 * In the transaction that claims the payment: the job keeps its results until the order is done.
 * @throws ApiError job_not_retryable
 */
export async function holdResults(transaction: AppDatabase, { jobId }: RetriedJob): Promise<void> {
  if (!(await lockResults(transaction, jobId))) throw resultsGone()
}

export const resultsGone = (): ApiError => notRetryable('the results of the job are no longer kept')

const notRetryable = (obstacle: string): ApiError =>
  new ApiError('job_not_retryable', `Nothing can be tried again: ${obstacle}.`)
