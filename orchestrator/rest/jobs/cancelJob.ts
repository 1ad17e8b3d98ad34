/** POST /v1/jobs/{jobId}/cancel: for the account that bought the job, which a charge of zero proves. */
import { ApiError } from '#http/errors.ts'
import { rawEndpoint } from '#http/rawEndpoint.ts'
import * as s from '#http/schema.ts'
import { findOrderer } from '#rows/jobs/orders.ts'
import { readJob, requestCancel } from '#rows/jobs/reads.ts'
import { agentRequests } from '../../allowance.ts'
import { JOBS_SCOPE } from '../../job/JobOrders.ts'
import type { OrchestratorServices } from '../../operations.ts'
import { orderedJobSchema } from './createJob.ts'
import { provePayer } from './provePayer.ts'
import { jobIdParameter, privately } from './readJob.ts'

export const cancelJobEndpoint = rawEndpoint({
  method: 'POST',
  path: '/v1/jobs/{jobId}/cancel',
  summary: 'Begins nothing more of a job, and pays back what is not spent.',
  description:
    'Asks for a charge of zero (402), which proves the account that bought the job. Calls under way are awaited, for they may be paid for already. A job that has ended stays as it is; asking again changes nothing. While its payment has not settled it is 503 `settlement_pending`: ask again.',
  tag: 'Services',
  access: agentRequests,
  asks: { scope: JOBS_SCOPE, what: 'proof' },
  params: { jobId: jobIdParameter },
  // It may be left out; discovery wants a POST that asks for a payment to declare one.
  body: s.object({}),
  produces: { 'application/json': orderedJobSchema },
  errors: ['param_invalid', 'payment_required', 'forbidden', 'job_not_found', 'settlement_pending'],
  answer: async ({ path: { jobId }, asking, caller }, services: OrchestratorServices) => {
    const proved = await provePayer(asking, caller, services)
    if (proved.kind === 'challenged') return proved
    const { rows } = services
    // The order first: whoever finds it gone finds its job.
    const orderer = await findOrderer(rows, jobId)
    const job = await readJob(rows, jobId)
    const payer = job?.payer ?? orderer
    if (payer === null) throw new ApiError('job_not_found')
    if (payer !== proved.payer) throw new ApiError('forbidden', 'Another account bought this job.')
    if (!job) throw settlesFirst()
    await requestCancel(rows, jobId)
    return {
      kind: 'bytes',
      contentType: 'application/json; charset=utf-8',
      body: JSON.stringify({ jobId, ready: job.endedAt !== null }),
      headers: privately,
    }
  },
})

/** Nothing runs yet that could be ended, and nobody knows whether anything will. */
const settlesFirst = (): ApiError =>
  new ApiError(
    'settlement_pending',
    'The payment of this job has not settled yet. Cancel it again in some seconds.',
    {
      headers: { 'retry-after': '5' },
    },
  )
