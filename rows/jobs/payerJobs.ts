/** One payer's purchases. */
import { sql } from 'kysely'
import { toBytes, toHex } from '#store/sql.ts'
import type { AppDatabase } from '../database.ts'
import { refundsOfJob } from './refunds.ts'

export interface PayerJob {
  readonly jobId: string
  readonly state: string
  readonly idempotencyKey: string
  readonly planHash: string
  readonly currency: string
  readonly decimals: number
  readonly chargedUnits: bigint
  /** The transaction that paid for it; null if it cost nothing, or a session paid. */
  readonly transactionHash: string | null
  /** Null where nothing is or was owed. */
  readonly refund: PayerPayout | null
  readonly reward: PayerPayout | null
  /** Null before the end. */
  readonly committedUnits: bigint | null
  readonly createdAt: Date
  readonly endedAt: Date | null
}

/** Money to the payer; of several refunds the sum, and the newest one's state and transaction. */
export interface PayerPayout {
  readonly state: string
  /** In the token's smallest unit. */
  readonly amount: bigint
  readonly tokenDecimals: number
  /** Hash of the transaction that was signed last for it; null before. */
  readonly transactionHash: string | null
}

/** A payer's spending in one token. */
export interface PayerSpend {
  readonly chainId: number
  /** Lowercase address. */
  readonly token: string
  readonly tokenDecimals: number
  readonly jobs: number
  /** In the token's smallest unit. */
  readonly charged: bigint
  /** The same of jobs that have ended. */
  readonly committed: bigint
}

/** The newest first. */
export async function listJobsOfPayer(
  app: AppDatabase,
  payer: string,
  limit: number,
): Promise<readonly PayerJob[]> {
  const rows = await app
    .selectFrom('app.jobs as job')
    .leftJoin('app.payments as paid', 'paid.id', 'job.payment_id')
    .leftJoin('app.payouts as reward', (join) =>
      join
        .on('reward.reference', '=', sql<string>`job.id::text`)
        .on('reward.kind', '=', 'reward')
        .on('reward.state', '<>', 'withdrawn'),
    )
    .select([
      ...(['job.id', 'job.state', 'job.idempotency_key', 'job.plan_hash', 'job.currency'] as const),
      ...(['job.decimals', 'job.charged_units', 'job.committed_units', 'job.created_at'] as const),
      ...(['job.ended_at', 'job.token_decimals', 'paid.tx_hash'] as const),
      ...refundColumns,
      'reward.amount as reward_amount',
      sql<string | null>`(SELECT w.state ${senderOfReward})`.as('reward_state'),
      sql<Buffer | null>`(SELECT t.tx_hash ${senderOfReward})`.as('reward_hash'),
    ])
    .where('job.payer', '=', toBytes(payer))
    .orderBy('job.created_at', 'desc')
    .limit(limit)
    .execute()
  return rows.map((row) => ({
    jobId: row.id,
    state: row.state,
    idempotencyKey: row.idempotency_key,
    planHash: row.plan_hash,
    currency: row.currency,
    decimals: row.decimals,
    chargedUnits: BigInt(row.charged_units),
    committedUnits: row.committed_units === null ? null : BigInt(row.committed_units),
    transactionHash: row.tx_hash && toHex(row.tx_hash),
    refund: payoutOf(row.refund_state, row.refund_amount, row.refund_hash, row.token_decimals),
    reward: payoutOf(row.reward_state, row.reward_amount, row.reward_hash, row.token_decimals),
    createdAt: row.created_at,
    endedAt: row.ended_at,
  }))
}

/**
 * Most jobs have one at most; a payment that is void after the end is refunded by one of its own. `w` is
 * the one whose transfer pays it.
 */
const refunds = sql`FROM app.payouts o
  JOIN app.payouts w ON w.id = coalesce(o.sent_with, o.id)
  LEFT JOIN app.payout_transactions t ON t.payout_id = w.id AND t.attempt = w.attempt
  WHERE o.kind = 'refund' AND o.state <> 'withdrawn' AND o.reference = ANY(${refundsOfJob('job')})`

const refundColumns = [
  sql<string | null>`(SELECT w.state ${refunds} ORDER BY o.id DESC LIMIT 1)`.as('refund_state'),
  sql<string | null>`(SELECT sum(o.amount) ${refunds})`.as('refund_amount'),
  sql<Buffer | null>`(SELECT t.tx_hash ${refunds} ORDER BY o.id DESC LIMIT 1)`.as('refund_hash'),
]

/** Null where nothing is or was owed back for the job. */
export async function readRefund(app: AppDatabase, jobId: string): Promise<PayerPayout | null> {
  const row = await app
    .selectFrom('app.jobs as job')
    .select(refundColumns)
    .select('job.token_decimals')
    .where('job.id', '=', jobId)
    .executeTakeFirst()
  return row ? payoutOf(row.refund_state, row.refund_amount, row.refund_hash, row.token_decimals) : null
}

const senderOfReward = sql`FROM app.payouts w
  LEFT JOIN app.payout_transactions t ON t.payout_id = w.id AND t.attempt = w.attempt
  WHERE w.id = coalesce(reward.sent_with, reward.id)`

const payoutOf = (
  state: string | null,
  amount: string | null,
  hash: Buffer | null,
  tokenDecimals: number | null,
): PayerPayout | null =>
  state === null || amount === null || tokenDecimals === null
    ? null
    : { state, amount: BigInt(amount), tokenDecimals, transactionHash: hash && toHex(hash) }

/** The cost of one service's calls in a day. */
export interface PayerDay {
  /** UTC, as 2026-11-26. */
  readonly day: string
  readonly serviceId: string
  readonly currency: string
  readonly decimals: number
  readonly calls: number
  /** The seller's receipts, in the smallest unit of the currency. */
  readonly units: bigint
}

/** By day, the newest first, and service. */
export async function listDaysOfPayer(
  app: AppDatabase,
  payer: string,
  limit: number,
): Promise<readonly PayerDay[]> {
  const rows = await app
    .selectFrom('app.jobs as job')
    .innerJoin('app.job_nodes as node', 'node.job_id', 'job.id')
    .innerJoin('app.job_attempts as attempt', (join) =>
      join.onRef('attempt.job_id', '=', 'node.job_id').onRef('attempt.node_id', '=', 'node.node_id'),
    )
    .select([
      sql<string>`to_char(attempt.started_at AT TIME ZONE 'UTC', 'YYYY-MM-DD')`.as('day'),
      'node.service_id',
      'job.currency',
      'job.decimals',
      sql<number>`count(*)::int`.as('calls'),
      sql<string>`sum(attempt.paid_units)`.as('units'),
    ])
    .where('job.payer', '=', toBytes(payer))
    .where('attempt.paid_units', 'is not', null)
    .groupBy(['day', 'node.service_id', 'job.currency', 'job.decimals'])
    .orderBy('day', 'desc')
    .orderBy('node.service_id')
    .limit(limit)
    .execute()
  return rows.map(({ day, service_id: serviceId, currency, decimals, calls, units }) => ({
    ...{ day, serviceId, currency, decimals, calls, units: BigInt(units) },
  }))
}

/** The cost of all of the payer's jobs. */
export async function sumSpendOfPayer(app: AppDatabase, payer: string): Promise<readonly PayerSpend[]> {
  const rows = await app
    .selectFrom('app.jobs')
    .select([
      'chain_id',
      'token',
      'token_decimals',
      sql<string>`count(*)`.as('jobs'),
      sql<string>`sum(charged_amount)`.as('charged'),
      sql<string>`coalesce(sum(committed_amount), 0)`.as('committed'),
    ])
    .where('payer', '=', toBytes(payer))
    .where('token', 'is not', null)
    .groupBy(['chain_id', 'token', 'token_decimals'])
    .orderBy('chain_id')
    .orderBy('token')
    .execute()
  return rows.flatMap(({ chain_id: chainId, token, token_decimals: tokenDecimals, ...sums }) =>
    chainId === null || token === null || tokenDecimals === null
      ? []
      : {
          ...{ chainId, token: toHex(token), tokenDecimals, jobs: Number(sums.jobs) },
          charged: BigInt(sums.charged),
          committed: BigInt(sums.committed),
        },
  )
}
