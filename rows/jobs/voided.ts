/**
 * The part of a call's counted cost that the chain did not take: all of it, if its answer came and no block
 * has its payment in the end, or a part of the fee that was stated for it. It is taken back, and a job that
 * has ended owes its payer that much more.
 */
import { sql } from 'kysely'
import { REFUNDS, REVENUE_OF_JOBS } from '#money/accounts.ts'
import type { AppDatabase } from '../database.ts'
import { queuePayout, withdrawPayout } from '../payments/debts.ts'
import { addEntries } from '../payments/ledger.ts'
import { chargeColumns, chargedJobOf, costIdOf, isReversed, readCosts } from './books.ts'
import { closingOf } from './closing.ts'

/** A debt anew for a spend goes by its id: it ends once. */
export interface EndedSpend extends CallId {
  readonly id: string
  readonly jobId: string
  /** Its part of the fees that an end before has counted. */
  readonly statedFeeUnits: bigint
}

interface CallId {
  readonly nodeId: string
  readonly attempt: number
}

/**
 * The row of the spend's job: first of all that are locked, as where calls are written. Null where
 * there is none.
 */
export async function lockJobOf(transaction: AppDatabase, spendId: string) {
  const job = await transaction
    .selectFrom('app.jobs')
    .select(['id', 'ended_at', 'committed_amount', 'fee_units', ...chargeColumns])
    .select(sql<number>`(extract(epoch FROM clock_timestamp()) * 1000)::float8`.as('now_ms'))
    .where('id', '=', (query) =>
      query.selectFrom('app.spends').select(sql<string>`job_id::uuid`.as('id')).where('id', '=', spendId),
    )
    .forUpdate()
    .executeTakeFirst()
  return job ?? null
}

type LockedJob = NonNullable<Awaited<ReturnType<typeof lockJobOf>>>

/** Within the transaction that ends the spend. A call that is booked later is checked by `voidCalls`. */
export async function takeBackCost(
  transaction: AppDatabase,
  job: LockedJob,
  spend: EndedSpend,
): Promise<void> {
  const { jobId, nodeId, attempt } = spend
  const paid = await transaction
    .selectFrom('app.job_attempts')
    .select(['paid_chain_id', 'paid_reference'])
    .where('job_id', '=', jobId)
    .where('node_id', '=', nodeId)
    .where('attempt', '=', attempt)
    .where('paid_reference', 'is not', null)
    .executeTakeFirst()
  if (!paid || paid.paid_chain_id === null || paid.paid_reference === null) return
  await transaction
    .updateTable('app.job_attempts')
    .set({
      ...{ paid_chain_id: null, paid_token: null, paid_amount: null, paid_units: null },
      paid_reference: null,
    })
    .where('job_id', '=', jobId)
    .where('node_id', '=', nodeId)
    .where('attempt', '=', attempt)
    .execute()
  const costId = costIdOf({ chainId: paid.paid_chain_id, reference: paid.paid_reference })
  await sql`
    INSERT INTO app.ledger_entries (transaction_id, account, chain_id, currency, amount)
    SELECT transaction_id || '/void', account, chain_id, currency, -amount
    FROM app.ledger_entries WHERE transaction_id = ${costId}`.execute(transaction)
  if (job.ended_at) await closeAgain(transaction, job, spend.id, spend.statedFeeUnits)
}

/**
 * Within the transaction that ends the spend, once its fee is known. What the chain took beyond what was
 * stated stays the service's: nobody is charged more after the end.
 */
export async function takeBackFee(
  transaction: AppDatabase,
  job: LockedJob,
  { id, jobId, nodeId, statedFeeUnits }: EndedSpend,
  feeUnits: bigint,
): Promise<void> {
  const unspent = statedFeeUnits - feeUnits
  if (!job.ended_at || unspent <= 0n) return
  const counted = await transaction
    .selectFrom('app.job_attempts')
    .select('attempt')
    .where('job_id', '=', jobId)
    .where('node_id', '=', nodeId)
    .where('paid_units', 'is not', null)
    .executeTakeFirst()
  if (counted) await closeAgain(transaction, job, id, unspent)
}

/**
 * The job keeps less than it did: the difference is owed beside what was refunded. Other fees count as its
 * end has counted them.
 */
async function closeAgain(
  transaction: AppDatabase,
  row: LockedJob,
  spendId: string,
  lessFeeUnits: bigint,
): Promise<void> {
  const job = chargedJobOf(row)
  // Null too where the chain took the payment back before the end.
  const charge = row.committed_amount === null ? null : job.charge
  const { paidUnits } = await readCosts(transaction, row.id)
  const feeUnits = BigInt(row.fee_units) - lessFeeUnits
  const { committedUnits, committedAmount } = closingOf(job, { paidUnits, feeUnits })
  await transaction
    .updateTable('app.jobs')
    .set({
      ...{ fee_units: feeUnits, committed_units: committedUnits },
      ...(charge && { committed_amount: committedAmount }),
    })
    .where('id', '=', row.id)
    .execute()
  const amount = BigInt(row.committed_amount ?? 0) - committedAmount
  if (!charge || amount <= 0n) return
  const { chainId, token: currency, paymentId } = charge
  const move = (what: string, from: string, to: string) =>
    addEntries(transaction, `job:${paymentId}/${what}/void:${spendId}`, [
      { account: from, chainId, currency, amount: -amount },
      { account: to, chainId, currency, amount },
    ])
  await move('closed', REVENUE_OF_JOBS, REFUNDS)
  const owed = { kind: 'refund', reference: spendId, chainId, currency, amount } as const
  await queuePayout(transaction, { ...owed, to: job.payer }, row.now_ms)
  if (!(await isReversed(transaction, paymentId))) return
  // A payment that never came is not paid back.
  await withdrawPayout(transaction, 'refund', spendId)
  await move('reversed', REFUNDS, REVENUE_OF_JOBS)
}

/** Calls of a job whose spend is void: a process that bought one may not have known it. */
export async function voidCalls(transaction: AppDatabase, jobId: string): Promise<(call: CallId) => boolean> {
  const rows = await transaction
    .selectFrom('app.spends')
    .select(['node_id', 'attempt'])
    .where('job_id', '=', jobId)
    .where('state', '=', 'void')
    .where('reference', 'is not', null)
    .execute()
  return ({ nodeId, attempt }) => rows.some((row) => row.node_id === nodeId && row.attempt === attempt)
}
