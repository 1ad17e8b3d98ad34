/** Money of a service, written as the product writes it, and the desk that its operator reads. */

import type { MoneyDesk } from '#api/routes/operator/services.ts'
import { address, PATH_USD } from '#primitives.ts'
import type { AppDatabase } from '#rows/database.ts'
import { insertReview } from '#rows/jobs/reviews.ts'
import { adoptHistory, reserveSpend, type WalletLimits } from '#rows/jobs/wallet.ts'
import { queuePayout } from '#rows/payments/debts.ts'
import { failPayment, settlePayment } from '#rows/payments/payments.ts'
import { toBytes } from '#store/sql.ts'
import { besideDevChain, parTokensDefault, quoteTerms } from '#wallet/currencies.ts'
import { readWalletReport } from '#wallet/spend/walletReport.ts'
import { buy, claim, payOut, randomHex, settle } from '../../orchestrator/jobs/support/boughtJobs.ts'

const CHAIN = 1337
export const strangeToken = `0x${'5e'.repeat(20)}`
export const payer = `0x${'ab'.repeat(20)}`
const limits: WalletLimits = {
  ...{ jobUnits: 5_000_000n, dayUnits: 50_000_000n, serviceUnits: 25_000_000n },
  ...{ payeeUnits: 25_000_000n, payerUnits: 12_500_000n },
}
const terms = besideDevChain(quoteTerms('1', parTokensDefault), CHAIN)

export interface DeskOptions {
  readonly wallet?: boolean
  readonly sellingProblem?: string | null
  readonly books?: ReturnType<MoneyDesk['books']>
}

/** A desk over the rows; what no row has is as told here. */
export function deskOver(
  app: AppDatabase,
  { wallet = true, sellingProblem = null, books = null }: DeskOptions = {},
): MoneyDesk {
  const balances = [
    { chainId: CHAIN, token: PATH_USD, decimals: 6, amount: 123_456_789n },
    { chainId: 8453, token: `0x${'83'.repeat(20)}`, decimals: 6, amount: null },
  ]
  const reported = { app, address: address(`0x${'c0'.repeat(20)}`), terms, limits }
  return {
    ...{ app, sellingProblem },
    books: () => books,
    wallet: wallet
      ? async () => {
          const { balances: told, spent, ...report } = await readWalletReport(reported, balances)
          return { ...report, balances: [...told], spent: [...spent] }
        }
      : null,
    decimalsOf: (_chainId, currency) => (currency === strangeToken ? null : 6),
  }
}

const paid = { payer, currency: PATH_USD }

/** Payments of every state, a refund and a reward, two reviews, and a call that the wallet paid. */
export async function writeMoney(app: AppDatabase) {
  const huge = await claim(app, { ...paid, scope: 'data:read', amount: 123_456_789_012_345_678_901n })
  await settle(app, huge)
  const failed = await claim(app, { ...paid, scope: 'indexer:query', amount: 1_000n })
  await failPayment(app, failed)
  const late = await claim(app, { ...paid, scope: 'data:read', amount: 500n })
  await failPayment(app, late)
  // Its payer was told to pay anew.
  await settlePayment(app, late, { receipt: '{}', txHash: late.txHash })
  const strange = await claim(app, { ...paid, scope: 'webhooks:write', currency: strangeToken, amount: 7n })
  await settle(app, strange)
  const { jobId, payment } = await buy(app, paid)
  await queue(app, 'refund', payment.id, 1_500n)
  await queue(app, 'reward', jobId, 25n)
  await payOut(app, 'refund', payment.id)
  await review(app, jobId, { rating: 4, isProved: true, comment: 'Did what it said.' })
  const other = await buy(app, paid)
  await review(app, other.jobId, { rating: 2, isProved: false })
  await app
    .updateTable('app.job_reviews')
    .set({ unrewarded_reason: 'payer_unproved' })
    .where('job_id', '=', other.jobId)
    .execute()
  await app
    .updateTable('app.payouts')
    .set({ problem: 'payouts are paused: by the operator' })
    .where('kind', '=', 'reward')
    .execute()
  await adoptHistory(app, 0)
  await reserveSpend(
    app,
    {
      ...{ jobId, nodeId: 'a', attempt: 1, serviceId: 'weather', protocol: 'mpp', chainId: CHAIN },
      ...{ currency: PATH_USD, amount: 1_200_000n, units: 1_250_000n, statedFeeUnits: 50_000n },
      ...{ recipient: `0x${'9a'.repeat(20)}`, payer: `0x${'c0'.repeat(20)}` },
    },
    limits,
    Date.now(),
  )
  return { ids: { huge, failed, late, strange, job: payment }, jobId, otherJobId: other.jobId }
}

export const review = (
  app: AppDatabase,
  jobId: string,
  said: { readonly rating: number; readonly isProved: boolean; readonly comment?: string },
) =>
  app
    .transaction()
    .execute((transaction) =>
      insertReview(transaction, jobId, { comment: null, tools: [], digest: toBytes(randomHex(32)), ...said }),
    )

export const queue = (app: AppDatabase, kind: 'refund' | 'reward', reference: string, amount: bigint) =>
  app
    .transaction()
    .execute((transaction) =>
      queuePayout(
        transaction,
        { kind, reference, amount, chainId: CHAIN, currency: PATH_USD, to: payer },
        Date.now(),
      ),
    )
