/** A review as it is answered. */
import * as s from '#http/schema.ts'
import type { Review } from '#rows/jobs/reviews.ts'
import { type GivenReview, reviewSchema } from './review.ts'
import { rewardSchema } from './rewardResult.ts'

export const reviewResultSchema = s.named('ReviewResult', {
  jobId: s.text({ format: 'uuid' }),
  review: s.optional(reviewSchema),
  reward: rewardSchema,
})

export const shownReview = ({ rating, comment, tools }: Review): GivenReview => ({
  rating,
  ...(comment !== null && { comment }),
  tools: tools.map(({ nodeId, rating, comment, tags }) => ({
    ...{ nodeId, rating, tags: [...tags] },
    ...(comment !== null && { comment }),
  })),
})
