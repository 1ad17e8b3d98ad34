/** What one payer has bought. */
import { sql } from 'kysely'
import { toBytes, toHex } from '#store/sql.ts'
import type { AppDatabase } from '../database.ts'

export interface PayerJob {
  readonly jobId: string
  readonly state: string
  readonly idempotencyKey: string
  readonly planHash: string
  readonly currency: string
  readonly decimals: number
  readonly chargedUnits: bigint
  /** Null before the end. */
  readonly committedUnits: bigint | null
  readonly createdAt: Date
  readonly endedAt: Date | null
}

/** What was paid in one token. */
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
    .selectFrom('app.jobs')
    .select([
      ...(['id', 'state', 'idempotency_key', 'plan_hash', 'currency', 'decimals'] as const),
      ...(['charged_units', 'committed_units', 'created_at', 'ended_at'] as const),
    ])
    .where('payer', '=', toBytes(payer))
    .orderBy('created_at', 'desc')
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
    createdAt: row.created_at,
    endedAt: row.ended_at,
  }))
}

/** What all of the payer's jobs cost. */
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
