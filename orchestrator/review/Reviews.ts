/**
 * Reviews of jobs and their rewards. Whoever knows a job's id may review it; what its payer is proved
 * to have said takes the place of that, counts, and is rewarded.
 */
import { timingSafeEqual } from 'node:crypto'
import { messageOf } from '#errors.ts'
import { ApiError } from '#http/errors.ts'
import type { Challenged } from '#http/request/access.ts'
import { amountOf } from '#money/amounts.ts'
import type { Proved } from '#payments/PayerProofs.ts'
import type { PaidRequest } from '#payments/requestDigest.ts'
import type { AppDatabase } from '#rows/database.ts'
import { findJob, type ReadJob, readNodes } from '#rows/jobs/reads.ts'
import {
  findReview,
  insertReview,
  keepReason,
  listUnrewarded,
  type StoredReview,
} from '#rows/jobs/reviews.ts'
import {
  oweReward,
  type RewardToken,
  readRewarded,
  readRewardFacts,
  rewardsOfDay,
} from '#rows/jobs/rewards.ts'
import { findPayout } from '#rows/payments/payouts.ts'
import { repeat } from '#runtime/repeat.ts'
import type { Clock } from '#runtime/runtime.ts'
import type { Logger } from '#telemetry.ts'
import { type GivenReview, readReview, reviewDigest } from './review.ts'
import { judge, passingReasons, type RewardReason, type RewardTerms } from './reward.ts'
import { ineligible, type Reward, rewardOf } from './rewardResult.ts'

export interface ReviewsOptions {
  readonly app: AppDatabase
  /** Null where rewards are off. */
  readonly terms: RewardTerms | null
  /** The most that a transfer costs now, in the token's smallest unit. Rejects where nobody tells it. */
  readonly transferFee: (token: RewardToken, to: string) => Promise<bigint>
  readonly clock: Clock
  readonly log: Logger
}

/** The result of a review that was given. */
export interface TakenReview {
  readonly kind: 'taken'
  /** The account that paid for the job gave the review that is stored. */
  readonly isProved: boolean
  readonly outcome: 'stored' | 'known' | 'notReady'
  readonly reward: Reward
}

/** Rewards whose cause against them may have passed. */
const LOOK_MS = 60_000
const LOOKED_MAX = 100
/** A review waits no longer for a node: its reward is looked at again. */
const FEE_WAIT_MS = 5_000
/** Older reviews stay as they are. */
const YOUNG_MS = 30 * 24 * 3_600_000

export class Reviews {
  readonly #options: ReviewsOptions

  constructor(options: ReviewsOptions) {
    this.#options = options
  }

  /**
   * Stores the review, and owes its reward, in one transaction.
   * @param place of the review in its request, such as `body`
   * @param prove which account gives the review; null where nothing says so
   * @throws ApiError job_not_found, body_invalid; idempotency_conflict for another review
   */
  async take(
    jobId: string,
    given: GivenReview,
    place: string,
    prove: (request: PaidRequest) => Promise<Proved | null>,
  ): Promise<TakenReview | Challenged> {
    const { app } = this.#options
    const notReady = { kind: 'taken', isProved: false, outcome: 'notReady' } as const
    const job = await this.#jobOf(jobId)
    if (job === 'ordered') return { ...notReady, reward: ineligible('job_not_ready') }
    const nodes = await readNodes(app, jobId)
    const review = readReview(given, new Set(nodes.map(({ nodeId }) => nodeId)), place)
    if (job.endedAt === null) return { ...notReady, reward: ineligible('job_not_ready') }
    const digest = reviewDigest(review)
    const proved = await prove(provedRequest(jobId, digest))
    if (proved?.kind === 'challenged') return proved
    // The review of another account is one that nothing proves.
    const isProved = proved?.payer === job.payer
    const transferFee = await this.#transferFee(jobId)
    const isNew = await app.transaction().execute(async (transaction) => {
      if (!(await insertReview(transaction, jobId, { ...review, digest, isProved }))) return false
      await this.#reward(transaction, jobId, transferFee)
      return true
    })
    const stored = await findReview(app, jobId)
    if (!stored || !timingSafeEqual(stored.digest, digest))
      throw new ApiError('idempotency_conflict', 'This job has another review already.')
    return {
      ...{ kind: 'taken', isProved: stored.isProved, outcome: isNew ? 'stored' : 'known' },
      reward: await this.#rewardOf(job, stored),
    }
  }

  /** @throws ApiError job_not_found */
  async read(jobId: string): Promise<{ readonly review: StoredReview | null; readonly reward: Reward }> {
    const job = await this.#jobOf(jobId)
    if (job === 'ordered' || job.endedAt === null)
      return { review: null, reward: ineligible('job_not_ready') }
    const review = await findReview(this.#options.app, jobId)
    return { review, reward: await this.#rewardOf(job, review) }
  }

  /** Looks again at rewards that may be owed by now, until aborted. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#options
    const failed = { log, ms: LOOK_MS, message: 'rewards could not be looked at' }
    await repeat({ clock, signal, failed }, async () => {
      await this.reconsider()
      return LOOK_MS
    })
  }

  /** Once, for each review whose cause against a reward can pass. */
  async reconsider(): Promise<void> {
    const { app } = this.#options
    for (const jobId of await listUnrewarded(app, passingReasons, YOUNG_MS, LOOKED_MAX)) {
      const transferFee = await this.#transferFee(jobId)
      await app.transaction().execute((transaction) => this.#reward(transaction, jobId, transferFee))
    }
  }

  /** `ordered` while its payment has not settled. @throws ApiError job_not_found */
  async #jobOf(jobId: string): Promise<ReadJob | 'ordered'> {
    const job = await findJob(this.#options.app, jobId)
    if (!job) throw new ApiError('job_not_found')
    return job
  }

  /** The cost of a transfer to the payer; null if nobody tells it now, or nothing would be sent. */
  async #transferFee(jobId: string): Promise<bigint | null> {
    const { app, terms, transferFee, clock, log } = this.#options
    const rewarded = terms && (await readRewarded(app, jobId))
    if (!rewarded) return null
    const over = new AbortController()
    const late = clock.sleep(FEE_WAIT_MS, over.signal).then(() => null)
    const told = transferFee(rewarded.token, rewarded.payer).catch((error: unknown) => {
      log.warn({ job: jobId, problem: messageOf(error) }, 'what a reward costs is not known')
      return null
    })
    const fee = await Promise.race([told, late])
    over.abort()
    late.catch(() => {})
    return fee
  }

  /** Owes what the review earns, or keeps why not. */
  async #reward(transaction: AppDatabase, jobId: string, transferFee: bigint | null): Promise<void> {
    const { terms, clock } = this.#options
    const facts = await readRewardFacts(transaction, jobId)
    if (!facts) throw new Error('a review is of no job')
    const judged = judge(facts, terms, transferFee)
    if (judged.kind === 'ineligible' || !facts.charge || !terms)
      return keepReason(transaction, jobId, judged.kind === 'ineligible' ? judged.reason : 'rewards_disabled')
    const { payer, charge: token } = facts
    const spent = await rewardsOfDay(transaction, token, payer)
    const { amount, feePart } = judged
    const budget = (dollars: string) => amountOf(dollars, 1, token.decimals)
    const isWithin =
      spent.all + amount <= budget(terms.dollarsPerDay) && spent.own + amount <= budget(terms.dollarsPerPayer)
    if (isWithin) await oweReward(transaction, jobId, { payer, token, amount, feePart }, clock.now())
    await keepReason(transaction, jobId, isWithin ? null : ('budget_exhausted' satisfies RewardReason))
  }

  async #rewardOf(job: ReadJob, review: StoredReview | null): Promise<Reward> {
    const { jobId, currency, decimals, tokenDecimals } = job
    const payout = review && (await findPayout(this.#options.app, 'reward', jobId))
    return rewardOf(review, payout, { currency, tokenDecimals: tokenDecimals ?? decimals })
  }
}

/** By whichever door a review comes, a proof is of what it says. */
const provedRequest = (jobId: string, digest: Uint8Array): PaidRequest => ({
  method: 'POST',
  url: `/v1/jobs/${jobId}/feedback`,
  body: Buffer.from(digest).toString('hex'),
})
