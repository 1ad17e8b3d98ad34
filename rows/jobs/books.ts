/**
 * Books of a job: what its payer paid lies in `escrow:jobs` until the job has ended, and is then the
 * service's as far as calls were paid for, and the payer's again for the rest.
 */
import { sql } from 'kysely'
import {
  COST_OF_CALLS,
  COST_OF_UNDELIVERED,
  COSTS_OF_FEES,
  ESCROW_OF_JOBS,
  REFUNDS,
  REVENUE_OF_JOBS,
  WALLET,
} from '#money/accounts.ts'
import type { Fee } from '#money/fees.ts'
import { toHex } from '#store/sql.ts'
import type { AppDatabase } from '../database.ts'
import { addEntries, type Entry } from '../payments/ledger.ts'

/** A payment for a job, in the token's own unit. */
export interface JobCharge {
  /** The row in `app.payments`. */
  readonly paymentId: string
  readonly method: 'charge' | 'session'
  readonly chainId: number
  /** Lowercase address. */
  readonly token: string
  readonly tokenDecimals: number
  readonly amount: bigint
}

/** A payment's amount is held until its job has ended, in the transaction that makes the job. */
export const addHeld = (transaction: AppDatabase, charge: JobCharge): Promise<void> =>
  addEntries(transaction, `job:${charge.paymentId}/held`, [
    { ...moneyOf(charge), account: REVENUE_OF_JOBS, amount: -charge.amount },
    { ...moneyOf(charge), account: ESCROW_OF_JOBS, amount: charge.amount },
  ])

const moneyOf = ({ chainId, token: currency }: JobCharge) => ({ chainId, currency })

/** A call that was paid for. */
export interface PaidCall {
  readonly chainId: number
  /** Lowercase address of the token. */
  readonly currency: string
  readonly amount: bigint
  /** In the smallest unit of the quote's currency, rounded up. */
  readonly units: bigint
  readonly reference: string
}

/** The ledger's name of the cost of a call. */
export const costIdOf = ({ chainId, reference }: Pick<PaidCall, 'chainId' | 'reference'>): string =>
  `cost:${chainId}:${reference}`

export async function addCost(
  transaction: AppDatabase,
  { chainId, currency, amount, reference }: PaidCall,
  isDelivered: boolean,
): Promise<void> {
  await addEntries(transaction, costIdOf({ chainId, reference }), [
    { account: WALLET, chainId, currency, amount: -amount },
    { account: isDelivered ? COST_OF_CALLS : COST_OF_UNDELIVERED, chainId, currency, amount },
  ])
}

/** The chain's fee of the wallet for a spend, in the transaction that ends it. */
export const addFee = (
  transaction: AppDatabase,
  spendId: string,
  chainId: number,
  { fee, feeCurrency: currency }: Fee,
): Promise<void> =>
  addEntries(transaction, `fee:${spendId}`, [
    { account: WALLET, chainId, currency, amount: -fee },
    { account: COSTS_OF_FEES, chainId, currency, amount: fee },
  ])

/** The cost of calls, in the smallest unit of the quote's currency. */
export interface CallCosts {
  /** The sellers' receipts. */
  readonly paidUnits: bigint
  /** The chains' fees: as stated while they are not known. */
  readonly feeUnits: bigint
}

/** The end of a job. */
export interface Closing {
  readonly costs: CallCosts
  readonly committedUnits: bigint
  /** In the token's smallest unit; 0 where nothing was charged. */
  readonly committedAmount: bigint
  readonly refund: bigint
}

/** A job's money, as its row has it. */
export interface ChargedJob {
  readonly paymentId: string | null
  readonly payer: string
  readonly costMultiplier: string
  readonly decimals: number
  readonly chargedUnits: bigint
  readonly charge: JobCharge | null
}

/** The cost of a job's paid calls so far, by its attempts. */
export async function readCosts(transaction: AppDatabase, jobId: string): Promise<CallCosts> {
  const row = await transaction
    .selectFrom('app.job_attempts')
    .select([
      sql<string>`coalesce(sum(paid_units), 0)`.as('paid'),
      sql<string>`coalesce(sum((SELECT coalesce(fee_units, stated_fee_units) FROM app.spends s
        WHERE s.job_id = ${jobId} AND s.node_id = app.job_attempts.node_id AND s.state <> 'void')), 0)`.as(
        'fees',
      ),
    ])
    .where('job_id', '=', jobId)
    .where('paid_units', 'is not', null)
    .executeTakeFirstOrThrow()
  return { paidUnits: BigInt(row.paid), feeUnits: BigInt(row.fees) }
}

/** Moves what a charge held, in the transaction that ends its job. */
export async function addClosing(
  transaction: AppDatabase,
  charge: JobCharge,
  { committedAmount, refund }: Pick<Closing, 'committedAmount' | 'refund'>,
): Promise<void> {
  const entries: readonly Entry[] = [
    { ...moneyOf(charge), account: ESCROW_OF_JOBS, amount: -charge.amount },
    { ...moneyOf(charge), account: REVENUE_OF_JOBS, amount: committedAmount },
    { ...moneyOf(charge), account: REFUNDS, amount: refund },
  ]
  const moved = entries.filter(({ amount }) => amount !== 0n)
  await addEntries(transaction, `job:${charge.paymentId}/closed`, moved)
}

/** Whether the chain took back what a job was paid with. */
export async function isReversed(app: AppDatabase, paymentId: string): Promise<boolean> {
  const found = await app
    .selectFrom('app.payments')
    .select('id')
    .where('id', '=', paymentId)
    .where('proof', '=', 'reversed')
    .executeTakeFirst()
  return found !== undefined
}

/** The row's columns of its money. */
export const chargeColumns = [
  'payer',
  'cost_multiplier',
  'decimals',
  'charged_units',
  'payment_id',
  'payment_method',
  'chain_id',
  'token',
  'token_decimals',
  'charged_amount',
] as const

export interface ChargeRow {
  readonly payer: Buffer
  readonly cost_multiplier: string
  readonly decimals: number
  readonly charged_units: string
  readonly payment_id: string | null
  readonly payment_method: string | null
  readonly chain_id: number | null
  readonly token: Buffer | null
  readonly token_decimals: number | null
  readonly charged_amount: string | null
}

export const chargedJobOf = (row: ChargeRow): ChargedJob => ({
  paymentId: row.payment_id,
  payer: toHex(row.payer),
  costMultiplier: row.cost_multiplier,
  decimals: row.decimals,
  chargedUnits: BigInt(row.charged_units),
  charge: chargeOf(row),
})

function chargeOf(row: ChargeRow): JobCharge | null {
  const {
    payment_id: paymentId,
    chain_id: chainId,
    token,
    token_decimals: tokenDecimals,
    charged_amount: amount,
  } = row
  if (paymentId === null || chainId === null || !token || tokenDecimals === null || amount === null)
    return null
  const method = row.payment_method === 'session' ? 'session' : 'charge'
  return { ...{ paymentId, method, chainId, tokenDecimals }, token: toHex(token), amount: BigInt(amount) }
}
