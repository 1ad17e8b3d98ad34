/** POST /v1/jobs/{jobId}/cancel: for the account that bought the job, which a charge of zero proves. */
import { rawEndpoint } from '#http/rawEndpoint.ts'
import * as s from '#http/schema.ts'
import { agentRequests } from '../../allowance.ts'
import { JOBS_SCOPE } from '../../job/JobOrders.ts'
import { cancelJob, cancelJobErrors, type OrchestratorServices } from '../../operations.ts'
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
  errors: ['param_invalid', 'payment_required', ...cancelJobErrors],
  answer: async ({ path: { jobId }, asking, caller }, services: OrchestratorServices) => {
    const proved = await provePayer(asking, caller, services)
    if (proved.kind === 'challenged') return proved
    const { ready } = await cancelJob(jobId, proved.payer, services)
    return { kind: 'json', value: { jobId, ready }, headers: privately }
  },
})
