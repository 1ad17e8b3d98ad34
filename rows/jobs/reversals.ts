/**
 * A payment that the chain took back, and what hangs on it: its job begins and pays nothing more, and
 * what is owed for it is not sent. What left all the same is a cost.
 */
import { COSTS_OF_REVERSED, ESCROW_OF_JOBS, owedAccounts, REVENUE_OF_JOBS } from '#money/accounts.ts'
import type { AppDatabase } from '../database.ts'
import { withdrawPayout } from '../payments/debts.ts'
import { addEntries } from '../payments/ledger.ts'
import type { Payment } from '../payments/payments.ts'
import { takeBack } from '../payments/proofs.ts'
import { chargeColumns, chargedJobOf, type JobCharge } from './books.ts'
import { requestCancel } from './reads.ts'
import { readRefundsOfJob } from './refunds.ts'
import { keepReason, PAYMENT_REVERSED } from './reviews.ts'

/**
 * No block has the transaction and none can. False where that was done before, or where the payment
 * did not settle.
 */
export async function reversePayment(app: AppDatabase, payment: Payment): Promise<boolean> {
  return app.transaction().execute(async (transaction) => {
    // Its row comes first, as where a job ends or is rewarded.
    const job = await transaction
      .selectFrom('app.jobs')
      .select(['id', 'ended_at', 'committed_amount', ...chargeColumns])
      .where('payment_id', '=', payment.id)
      .forUpdate()
      .executeTakeFirst()
    if (!(await takeBack(transaction, payment))) return false
    const charge = job && chargedJobOf(job).charge
    if (!charge) return true
    await keepReason(transaction, job.id, PAYMENT_REVERSED)
    if (job.ended_at === null) {
      await moveBack(transaction, charge, [[ESCROW_OF_JOBS, charge.amount]])
      await requestCancel(transaction, job.id)
      return true
    }
    const committed = BigInt(job.committed_amount ?? 0)
    await moveBack(transaction, charge, [
      ...(await refundsOwed(transaction, job.id, charge.amount - committed)),
      await owedFor(transaction, 'reward', job.id),
    ])
    return true
  })
}

/** All refunds of a job that has ended. @param amount of them together */
async function refundsOwed(
  transaction: AppDatabase,
  jobId: string,
  amount: bigint,
): Promise<readonly Moved[]> {
  let sum = 0n
  for (const reference of await readRefundsOfJob(transaction, jobId))
    sum += (await withdrawPayout(transaction, 'refund', reference)).sent
  return [
    [COSTS_OF_REVERSED, sum],
    [owedAccounts.refund, amount - sum],
  ]
}

type Moved = readonly [account: string, amount: bigint]

/** The account of money that was owed: it is owed no more, or has left. */
async function owedFor(transaction: AppDatabase, kind: 'reward', reference: string): Promise<Moved> {
  const { withdrawn, sent } = await withdrawPayout(transaction, kind, reference)
  return sent > 0n ? [COSTS_OF_REVERSED, sent] : [owedAccounts[kind], withdrawn]
}

/** Makes even what the revenue of the job was taken from, as the payment has taken it back. */
async function moveBack(
  transaction: AppDatabase,
  { paymentId, chainId, token: currency }: JobCharge,
  moved: readonly Moved[],
): Promise<void> {
  const byAccount = Map.groupBy(moved, ([account]) => account)
  const from = [...byAccount]
    .map(([account, of]): Moved => [account, sumOf(of)])
    .filter(([, sum]) => sum > 0n)
  if (from.length === 0) return
  const sum = sumOf(from)
  await addEntries(transaction, `job:${paymentId}/reversed`, [
    ...from.map(([account, amount]) => ({ account, chainId, currency, amount: -amount })),
    { account: REVENUE_OF_JOBS, chainId, currency, amount: sum },
  ])
}

const sumOf = (moved: readonly Moved[]): bigint => moved.reduce((sum, [, amount]) => sum + amount, 0n)
