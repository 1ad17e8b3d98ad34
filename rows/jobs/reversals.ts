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
      await owedFor(transaction, 'refund', payment.id, charge.amount - committed),
      await owedFor(transaction, 'reward', job.id),
    ])
    return true
  })
}

type Moved = readonly [account: string, amount: bigint]

/** Where money lies that was owed: it is owed no more, or has left. */
async function owedFor(
  transaction: AppDatabase,
  kind: 'refund' | 'reward',
  reference: string,
  owed = 0n,
): Promise<Moved> {
  const { withdrawn, sent } = await withdrawPayout(transaction, kind, reference)
  return sent > 0n ? [COSTS_OF_REVERSED, sent] : [owedAccounts[kind], withdrawn > 0n ? withdrawn : owed]
}

/** Makes even what the revenue of the job was taken from, as the payment has taken it back. */
async function moveBack(
  transaction: AppDatabase,
  { paymentId, chainId, token: currency }: JobCharge,
  moved: readonly Moved[],
): Promise<void> {
  const from = moved.filter(([, amount]) => amount > 0n)
  if (from.length === 0) return
  const sum = from.reduce((total, [, amount]) => total + amount, 0n)
  await addEntries(transaction, `job:${paymentId}/reversed`, [
    ...from.map(([account, amount]) => ({ account, chainId, currency, amount: -amount })),
    { account: REVENUE_OF_JOBS, chainId, currency, amount: sum },
  ])
}
