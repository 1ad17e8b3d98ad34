/** Tables of what payers say of their jobs. */
import { filled, given, maybe } from '../table.ts'

export const reviewTables = {
  'app.job_reviews': {
    job_id: given('uuid'),
    digest: given('bytea'),
    rating: given('integer'),
    comment: maybe('text'),
    unrewarded_reason: maybe('text'),
    reviewed_at: filled('timestamptz'),
    is_proved: filled('boolean'),
  },
  'app.node_reviews': {
    job_id: given('uuid'),
    node_id: given('text'),
    rating: given('integer'),
    comment: maybe('text'),
    tags: given('text[]'),
  },
} as const
