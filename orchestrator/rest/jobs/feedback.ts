/** Reviews of a job: whoever knows its id may give and read one. No payment is asked for. */
import { Readable } from 'node:stream'
import { rawEndpoint } from '#http/rawEndpoint.ts'
import type * as s from '#http/schema.ts'
import { jobReads } from '../../allowance.ts'
import type { Reviews } from '../../review/Reviews.ts'
import { reviewSchema } from '../../review/review.ts'
import { reviewResultSchema, shownReview } from '../../review/reviewResult.ts'
import { jobIdParameter, privately } from './readJob.ts'

export interface ReviewServices {
  readonly reviews: Reviews
}

const statuses = { stored: 201, known: 200, notReady: 202 } as const

const answered = (status: number, value: s.Static<typeof reviewResultSchema>) => ({
  kind: 'bytes' as const,
  status,
  contentType: 'application/json; charset=utf-8',
  body: Readable.from([JSON.stringify(value)], { objectMode: false }),
  headers: privately,
})

export const giveReviewEndpoint = rawEndpoint({
  path: '/v1/jobs/{jobId}/feedback',
  method: 'POST',
  summary: 'Review a job: 201 when it is stored, 200 for the same review again, 202 while the job runs.',
  description:
    'A job has one review. What is said is kept; a reward goes to the account that paid for the job.',
  tag: 'Services',
  access: jobReads,
  params: { jobId: jobIdParameter },
  body: reviewSchema,
  produces: { 'application/json': reviewResultSchema },
  statuses: [200, 201, 202],
  errors: ['param_invalid', 'body_invalid', 'job_not_found', 'idempotency_conflict'],
  answer: async ({ path: { jobId }, body }, { reviews }: ReviewServices) => {
    const { outcome, reward } = await reviews.take(jobId, body, 'body')
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
