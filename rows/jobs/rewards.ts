/** Rewards of reviews: the facts that decide them, and their money. */
import { sql } from 'kysely'
import { COSTS_OF_FEES, REVENUE_OF_JOBS, REWARDS } from '#money/accounts.ts'
import { advisoryLocks } from '#store/locks.ts'
import { toBytes, toHex } from '#store/sql.ts'
import { type AppDatabase, fromNow } from '../database.ts'
import { queuePayout } from '../payments/debts.ts'
import { addEntries } from '../payments/ledger.ts'
import { type CallCosts, isReversed, readCosts } from './books.ts'
import { refundsOfJob } from './refunds.ts'
import { type JobState, jobStateOf } from './states.ts'

/** A token and how many of its units make one. */
export interface RewardToken {
  readonly chainId: number
  /** Lowercase address. */
  readonly token: string
  readonly decimals: number
}

export interface RewardFacts {
  readonly state: JobState
  /** Lowercase address. */
  readonly payer: string
  /** Null for a job that cost nothing. */
  readonly charge: RewardToken | null
  /** The chain took back what it was paid with. */
  readonly isReversed: boolean
  /** The part of the charge that is not refunded, in the token's unit. */
  readonly committedAmount: bigint
  /** With every fee that chains took for its calls, also for those that they refused. */
  readonly costs: CallCosts
  /** It is known of each payment for its calls what became of it. */
  readonly isCostKnown: boolean
  readonly refunds: RefundFees
  readonly quoteDecimals: number
  /** Nodes that were called for this job. */
  readonly calledNodes: readonly string[]
  readonly hasOutput: boolean
  readonly ratedNodes: readonly string[]
  /** The payer is proved to have given the review. */
  readonly isProved: boolean
  /** One of its sellers is paid to the payer's account. */
  readonly isPaidToPayer: boolean
  /** The job that it goes on with, or another that does, was rewarded. */
  readonly isRewardedBefore: boolean
}

/**
 * The cost of transfers of refunds of a job; another debt's transfer that takes one along costs it nothing.
 */
export interface RefundFees {
  /** In the smallest unit of the token that fees are paid in. */
  readonly booked: bigint
  /** Transfers whose fee is in no book, or not yet. */
  readonly unbooked: number
}

/** The receiver of a job's reward, and its token; null for a job that cost nothing. */
export async function readRewarded(
  app: AppDatabase,
  jobId: string,
): Promise<{ readonly payer: string; readonly token: RewardToken } | null> {
  const row = await app
    .selectFrom('app.jobs')
    .select(['payer', 'chain_id', 'token', 'token_decimals'])
    .where('id', '=', jobId)
    .executeTakeFirst()
  const token = row && tokenOf(row)
  return token ? { payer: toHex(row.payer), token } : null
}

interface TokenRow {
  readonly chain_id: number | null
  readonly token: Buffer | null
  readonly token_decimals: number | null
}

const tokenOf = ({ chain_id: chainId, token, token_decimals: decimals }: TokenRow): RewardToken | null =>
  chainId === null || !token || decimals === null ? null : { chainId, token: toHex(token), decimals }

/** Null for an id that no job has. */
export async function readRewardFacts(app: AppDatabase, jobId: string): Promise<RewardFacts | null> {
  const job = await app
    .selectFrom('app.jobs')
    .select([
      'state',
      'payer',
      'chain_id',
      'token',
      'token_decimals',
      'committed_amount',
      'decimals',
      'retry_of',
      'payment_id',
    ])
    .where('id', '=', jobId)
    // A payment that is taken back meanwhile has to wait: it withdraws what is owed.
    .forShare()
    .executeTakeFirst()
  if (!job) return null
  const nodes = await app
    .selectFrom('app.job_nodes')
    .select(['node_id', 'state', 'attempt', 'is_carried'])
    .where('job_id', '=', jobId)
    .execute()
  const rated = await app
    .selectFrom('app.node_reviews')
    .select('node_id')
    .where('job_id', '=', jobId)
    .execute()
  const spends = await readSpendFees(app, jobId)
  const review = await app
    .selectFrom('app.job_reviews')
    .select('is_proved')
    .where('job_id', '=', jobId)
    .executeTakeFirst()
  return {
    state: jobStateOf(job.state),
    payer: toHex(job.payer),
    charge: tokenOf(job),
    isReversed: job.payment_id !== null && (await isReversed(app, job.payment_id)),
    committedAmount: BigInt(job.committed_amount ?? 0),
    costs: { ...(await readCosts(app, jobId)), feeUnits: spends.feeUnits },
    isCostKnown: spends.open === 0,
    refunds: await readRefundFees(app, jobId),
    quoteDecimals: job.decimals,
    calledNodes: nodes.filter(({ attempt }) => attempt > 0).map(({ node_id }) => node_id),
    hasOutput: nodes.some(({ state, is_carried }) => state === 'succeeded' && !is_carried),
    ratedNodes: rated.map(({ node_id }) => node_id),
    isProved: review?.is_proved ?? false,
    isPaidToPayer: await isPaidTo(app, jobId, job.payer),
    isRewardedBefore: await isRewarded(app, jobId, job.retry_of),
  }
}

async function readSpendFees(
  app: AppDatabase,
  jobId: string,
): Promise<{ readonly feeUnits: bigint; readonly open: number }> {
  const row = await app
    .selectFrom('app.spends')
    .select([
      sql<string>`coalesce(sum(fee_units), 0)`.as('fees'),
      sql<number>`(count(*) FILTER (WHERE state IN ('reserved', 'sending')))::int`.as('open'),
    ])
    .where('job_id', '=', jobId)
    .executeTakeFirstOrThrow()
  return { feeUnits: BigInt(row.fees), open: row.open }
}

async function readRefundFees(app: AppDatabase, jobId: string): Promise<RefundFees> {
  const { rows } = await sql<{ booked: string; unbooked: number }>`
    SELECT coalesce(sum(fee), 0) AS booked, (count(*) FILTER (WHERE fee = 0))::int AS unbooked FROM (
      SELECT (SELECT coalesce(sum(l.amount), 0) FROM app.ledger_entries l
        WHERE l.transaction_id = o.id AND l.account = ${COSTS_OF_FEES}) AS fee
      FROM app.jobs j JOIN app.payouts o ON o.kind = 'refund' AND o.reference = ANY(${refundsOfJob('j')})
      WHERE j.id = ${jobId} AND o.state <> 'withdrawn' AND o.sent_with IS NULL
    ) AS transfers`.execute(app)
  return { booked: BigInt(rows[0]?.booked ?? 0), unbooked: rows[0]?.unbooked ?? 0 }
}

async function isPaidTo(app: AppDatabase, jobId: string, payer: Buffer): Promise<boolean> {
  const found = await app
    .selectFrom('app.spends')
    .select('id')
    .where('job_id', '=', jobId)
    .where('recipient', '=', payer)
    .limit(1)
    .executeTakeFirst()
  return found !== undefined
}

/** A chain of retries is one purchase. */
async function isRewarded(app: AppDatabase, jobId: string, retryOf: string | null): Promise<boolean> {
  const { rows } = await sql<{ found: boolean }>`
    WITH RECURSIVE earlier AS (
      SELECT ${retryOf}::uuid AS id
      UNION SELECT j.retry_of FROM app.jobs j JOIN earlier e ON j.id = e.id WHERE j.retry_of IS NOT NULL
    ), later AS (
      SELECT ${jobId}::uuid AS id
      UNION SELECT j.id FROM app.jobs j JOIN later l ON j.retry_of = l.id
    )
    SELECT EXISTS (
      SELECT 1 FROM app.payouts p
      WHERE p.kind = 'reward' AND p.state <> 'withdrawn' AND p.reference IN (
        SELECT id::text FROM earlier WHERE id IS NOT NULL UNION SELECT id::text FROM later WHERE id <> ${jobId}::uuid)
    ) AS found`.execute(app)
  return rows[0]?.found ?? false
}

const DAY_MS = 24 * 3_600_000

/**
 * The sums owed as rewards within a day, to all and to the payer, in the token's unit. Locks out others
 * that ask until the transaction ends.
 */
export async function rewardsOfDay(
  transaction: AppDatabase,
  { chainId, token }: RewardToken,
  payer: string,
): Promise<{ readonly all: bigint; readonly own: bigint }> {
  await sql`SELECT pg_advisory_xact_lock(${advisoryLocks.rewards})`.execute(transaction)
  const { all, own } = await transaction
    .selectFrom('app.payouts')
    .select([
      sql<string>`coalesce(sum(amount), 0)`.as('all'),
      sql<string>`coalesce(sum(amount) FILTER (WHERE recipient = ${toBytes(payer)}), 0)`.as('own'),
    ])
    .where('kind', '=', 'reward')
    .where('state', '<>', 'withdrawn')
    .where('chain_id', '=', chainId)
    .where('currency', '=', Buffer.from(toBytes(token)))
    .where('queued_at', '>', fromNow(-DAY_MS))
    .executeTakeFirstOrThrow()
  return { all: BigInt(all), own: BigInt(own) }
}

/** Owes the reward from now on, out of what the job earned. False where it is owed already. */
export async function oweReward(
  transaction: AppDatabase,
  jobId: string,
  {
    payer,
    token: { chainId, token: currency },
    amount,
    feePart,
  }: {
    readonly payer: string
    readonly token: RewardToken
    readonly amount: bigint
    /** The most that it may cost as its part of the fee of its transfer. */
    readonly feePart: bigint
  },
  nowMs: number,
): Promise<boolean> {
  const owed = { kind: 'reward', reference: jobId, chainId, currency, amount, to: payer, feePart } as const
  if (!(await queuePayout(transaction, owed, nowMs))) return false
  await addEntries(transaction, `reward:${jobId}`, [
    { account: REVENUE_OF_JOBS, chainId, currency, amount: -amount },
    { account: REWARDS, chainId, currency, amount },
  ])
  return true
}
