/** Reviews of jobs: one a job, for good once its payer is proved to have given it. */
import { sql } from 'kysely'
import { toHex } from '#store/sql.ts'
import { type AppDatabase, databaseNow, fromNow } from '../database.ts'
import { type PayoutState, payoutStateOf } from '../payments/payouts.ts'

export interface NodeReview {
  readonly nodeId: string
  /** 1 to 5. */
  readonly rating: number
  readonly comment: string | null
  readonly tags: readonly string[]
}

export interface Review {
  /** 1 to 5. */
  readonly rating: number
  readonly comment: string | null
  readonly tools: readonly NodeReview[]
}

export interface StoredReview extends Review {
  /** SHA-256, by which the same review is known. */
  readonly digest: Uint8Array
  readonly reviewedAt: Date
  /** The account that paid for the job gave it. */
  readonly isProved: boolean
  /** Why no reward is owed; null where one is. */
  readonly unrewardedReason: string | null
}

/**
 * A proved review takes the place of one that is not. False where the job has a review that stays.
 */
export async function insertReview(
  transaction: AppDatabase,
  jobId: string,
  {
    rating,
    comment,
    tools,
    digest,
    isProved,
  }: Review & { readonly digest: Uint8Array; readonly isProved: boolean },
): Promise<boolean> {
  const said = { digest, rating, comment, is_proved: isProved }
  const written = await transaction
    .insertInto('app.job_reviews')
    .values({ job_id: jobId, ...said })
    .onConflict((conflict) =>
      conflict
        .column('job_id')
        .doUpdateSet({ ...said, reviewed_at: databaseNow })
        .where(sql<boolean>`excluded.is_proved AND NOT app.job_reviews.is_proved`),
    )
    .returning('job_id')
    .executeTakeFirst()
  if (!written) return false
  await transaction.deleteFrom('app.node_reviews').where('job_id', '=', jobId).execute()
  if (tools.length > 0)
    await transaction
      .insertInto('app.node_reviews')
      .values(
        tools.map(({ nodeId, tags, ...said }) => ({
          job_id: jobId,
          node_id: nodeId,
          tags: [...tags],
          ...said,
        })),
      )
      .execute()
  return true
}

/** Null where nothing was said. */
export async function findReview(app: AppDatabase, jobId: string): Promise<StoredReview | null> {
  const row = await app
    .selectFrom('app.job_reviews')
    .selectAll()
    .where('job_id', '=', jobId)
    .executeTakeFirst()
  if (!row) return null
  const tools = await app
    .selectFrom('app.node_reviews')
    .select(['node_id', 'rating', 'comment', 'tags'])
    .where('job_id', '=', jobId)
    .orderBy('node_id')
    .execute()
  return {
    rating: row.rating,
    comment: row.comment,
    tools: tools.map(({ node_id: nodeId, ...said }) => ({ nodeId, ...said })),
    digest: row.digest,
    reviewedAt: row.reviewed_at,
    isProved: row.is_proved,
    unrewardedReason: row.unrewarded_reason,
  }
}

/** A review with what it says of the job as a whole, and its reward. */
export interface ListedReview {
  readonly jobId: string
  /** Lowercase address that paid for the job. */
  readonly payer: string
  readonly rating: number
  readonly comment: string | null
  readonly reviewedAt: Date
  /** Microseconds since the epoch, which the list is ordered by. */
  readonly reviewedAtMicros: string
  readonly isProved: boolean
  /** Why no reward is owed; null where one is. */
  readonly unrewardedReason: string | null
  readonly reward: ReviewReward | null
}

/** A reward that is owed, or was paid. */
export interface ReviewReward {
  readonly state: PayoutState
  readonly chainId: number
  readonly currency: string
  /** In the currency's smallest unit. */
  readonly amount: bigint
}

/** The place of a review in their list. */
export type ReviewPlace = Pick<ListedReview, 'reviewedAtMicros' | 'jobId'>

/** The newest first, or those before one. */
export async function listReviews(
  app: AppDatabase,
  limit: number,
  before: ReviewPlace | null = null,
): Promise<readonly ListedReview[]> {
  const rows = await app
    .selectFrom('app.job_reviews as review')
    .innerJoin('app.jobs as job', 'job.id', 'review.job_id')
    .leftJoin('app.payouts as out', (join) =>
      join
        .on('out.reference', '=', sql<string>`review.job_id::text`)
        .on('out.kind', '=', 'reward')
        .on('out.state', '<>', 'withdrawn'),
    )
    // The one that its transfer is of.
    .leftJoin('app.payouts as of', (join) =>
      join.on('of.id', '=', sql<string>`coalesce(out.sent_with, out.id)`),
    )
    .select(['review.job_id', 'job.payer', 'review.rating', 'review.comment', 'review.reviewed_at'])
    .select(['review.is_proved', 'review.unrewarded_reason', 'of.state', 'out.chain_id', 'out.currency'])
    .select([
      'out.amount',
      sql<string>`(extract(epoch FROM review.reviewed_at) * 1000000)::bigint::text`.as('micros'),
    ])
    .$if(before !== null, (query) =>
      query.where(
        sql<boolean>`(review.reviewed_at, review.job_id) < (${momentOf(before)}, ${before?.jobId ?? ''}::uuid)`,
      ),
    )
    .orderBy('review.reviewed_at', 'desc')
    .orderBy('review.job_id', 'desc')
    .limit(limit)
    .execute()
  return rows.map((row) => ({
    jobId: row.job_id,
    payer: toHex(row.payer),
    rating: row.rating,
    comment: row.comment,
    reviewedAt: row.reviewed_at,
    reviewedAtMicros: row.micros,
    isProved: row.is_proved,
    unrewardedReason: row.unrewarded_reason,
    reward: rewardOf(row),
  }))
}

const momentOf = (place: ReviewPlace | null) =>
  sql`'epoch'::timestamptz + ${place?.reviewedAtMicros ?? '0'}::bigint * interval '1 microsecond'`

const rewardOf = (row: {
  readonly state: string | null
  readonly chain_id: number | null
  readonly currency: Buffer | null
  readonly amount: string | null
}): ReviewReward | null =>
  row.state === null || row.chain_id === null || !row.currency || row.amount === null
    ? null
    : {
        state: payoutStateOf(row.state),
        chainId: row.chain_id,
        currency: toHex(row.currency),
        amount: BigInt(row.amount),
      }

/** Why a review earns nothing whose job was paid with what the chain took back. */
export const PAYMENT_REVERSED = 'payment_reversed'

/** @param reason null once a reward is owed */
export async function keepReason(
  transaction: AppDatabase,
  jobId: string,
  reason: string | null,
): Promise<void> {
  await transaction
    .updateTable('app.job_reviews')
    .set({ unrewarded_reason: reason })
    .where('job_id', '=', jobId)
    .execute()
}

/** Jobs whose review has one of the reasons, the longest first. */
export async function listUnrewarded(
  app: AppDatabase,
  reasons: readonly string[],
  youngerThanMs: number,
  limit: number,
): Promise<readonly string[]> {
  const rows = await app
    .selectFrom('app.job_reviews')
    .select('job_id')
    .where('unrewarded_reason', 'in', reasons)
    .where('reviewed_at', '>', fromNow(-youngerThanMs))
    .orderBy('reviewed_at')
    .limit(limit)
    .execute()
  return rows.map(({ job_id }) => job_id)
}

/** Takes words out on request; ratings and tags stay. False for a job without a review. */
export async function removeComments(app: AppDatabase, jobId: string): Promise<boolean> {
  return app.transaction().execute(async (transaction) => {
    await transaction
      .updateTable('app.node_reviews')
      .set({ comment: null })
      .where('job_id', '=', jobId)
      .execute()
    const { numUpdatedRows } = await transaction
      .updateTable('app.job_reviews')
      .set({ comment: null })
      .where('job_id', '=', jobId)
      .executeTakeFirst()
    return numUpdatedRows === 1n
  })
}
