/** POST /v1/jobs/{jobId}/retry: the account that bought a job buys what failed of it again. */
import { rawEndpoint } from '#http/rawEndpoint.ts'
import { agentRequests } from '../../allowance.ts'
import { JOBS_SCOPE } from '../../job/JobOrders.ts'
import { besidePlan, jobRequestOf } from '../../job/readJobRequest.ts'
import { readRetriedJob } from '../../job/retriedJob.ts'
import { type OrchestratorServices, orderJob, orderJobErrors } from '../../operations.ts'
import { assertSameKey, orderedAnswer, orderedJobSchema } from './createJob.ts'
import { jobIdParameter } from './readJob.ts'

export const retryJobEndpoint = rawEndpoint({
  method: 'POST',
  path: '/v1/jobs/{jobId}/retry',
  summary: 'Buys what failed of a job again: a new job, which has the outputs of the other nodes.',
  description:
    'For the account that bought the job. Without a payment: 402 with the price of the nodes that have no output; the others are neither called nor paid again. `idempotencyKey` is another one than that of the job. As POST /v1/jobs in all else.',
  tag: 'Services',
  access: agentRequests,
  asks: { scope: JOBS_SCOPE, what: 'price' },
  params: { jobId: jobIdParameter },
  body: besidePlan,
  produces: { 'application/json': orderedJobSchema },
  errors: [
    'param_invalid',
    'body_invalid',
    'forbidden',
    'job_not_found',
    'job_not_retryable',
    ...orderJobErrors,
  ],
  answer: async ({ path: { jobId }, body, headers, caller, signal }, services: OrchestratorServices) => {
    assertSameKey(headers, body.idempotencyKey)
    const { plan, retried } = await readRetriedJob(services.rows, jobId)
    const request = jobRequestOf(plan, body, retried)
    return orderedAnswer(await orderJob(request, services, { headers, caller: caller.id, signal }))
  },
})
