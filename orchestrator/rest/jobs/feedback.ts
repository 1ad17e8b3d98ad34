/**
 * Reviews of a job: whoever knows its id may give and read one, and nothing is paid. A client that
 * says that it can prove its account is asked to, by a charge of zero.
 */
import { rawEndpoint } from '#http/rawEndpoint.ts'
import type * as s from '#http/schema.ts'
import { namesMethod } from '#payments/acceptPayment.ts'
import { mppPaymentIn } from '#payments/methods/mpp.ts'
import { jobReads } from '../../allowance.ts'
import { JOBS_SCOPE } from '../../job/JobOrders.ts'
import type { OrchestratorServices } from '../../operations.ts'
import type { Reviews } from '../../review/Reviews.ts'
import { reviewSchema } from '../../review/review.ts'
import { reviewResultSchema, shownReview } from '../../review/reviewResult.ts'
import { jobIdParameter, privately } from './readJob.ts'

export interface ReviewServices extends Pick<OrchestratorServices, 'jobs'> {
  readonly reviews: Reviews
}

const statuses = { stored: 201, known: 200, notReady: 202 } as const

const answered = (status: number, value: s.Static<typeof reviewResultSchema>) => ({
  kind: 'json' as const,
  status,
  value,
  headers: privately,
})

export const giveReviewEndpoint = rawEndpoint({
  path: '/v1/jobs/{jobId}/feedback',
  method: 'POST',
  summary: 'Review a job: 201 when it is stored, 200 for the same review again, 202 while the job runs.',
  description:
    'A job has one review. It counts, and may be rewarded, where the account that paid for the job proves itself by a charge of zero, which moves no money: a request with `Accept-Payment: tempo/charge`, as the MPP client sends it, is asked for one (402). Without a proof a review is kept as unproved (`payer_unproved`), and gives way to the payer’s.',
  tag: 'Services',
  access: jobReads,
  asks: { scope: JOBS_SCOPE, what: 'proof' },
  params: { jobId: jobIdParameter },
  body: reviewSchema,
  produces: { 'application/json': reviewResultSchema },
  statuses: [200, 201, 202],
  errors: ['param_invalid', 'body_invalid', 'job_not_found', 'idempotency_conflict'],
  answer: async ({ path: { jobId }, body, headers, caller }, { reviews, jobs }: ReviewServices) => {
    const accept = [headers['accept-payment'] ?? []].flat().join()
    const isAble = mppPaymentIn(headers) !== null || namesMethod(accept, 'tempo/charge')
    const taken = await reviews.take(jobId, body, 'body', async (request) =>
      jobs && isAble ? jobs.proofs.prove(headers, request, caller.id) : null,
    )
    if (taken.kind === 'challenged') return taken
    const { outcome, reward } = taken
    return answered(statuses[outcome], { jobId, reward })
  },
})

export const readReviewEndpoint = rawEndpoint({
  path: '/v1/jobs/{jobId}/feedback',
  summary: 'The review of a job, and what became of its reward.',
  tag: 'Services',
  access: jobReads,
  params: { jobId: jobIdParameter },
  produces: { 'application/json': reviewResultSchema },
  errors: ['param_invalid', 'job_not_found'],
  answer: async ({ path: { jobId } }, { reviews }: ReviewServices) => {
    const { review, reward } = await reviews.read(jobId)
    return answered(200, { jobId, ...(review && { review: shownReview(review) }), reward })
  },
})
