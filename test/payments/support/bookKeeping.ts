/** Provers and payouts of an indexed dev chain, and rows as time or a restored database leaves them. */
import { privateKeyToAccount } from 'viem/accounts'
import { Prover } from '#payments/books/Prover.ts'
import { PayoutChain } from '#payments/payouts/PayoutChain.ts'
import { Payouts } from '#payments/payouts/Payouts.ts'
import type { AppDatabase } from '#rows/database.ts'
import { findPayout } from '#rows/payments/payouts.ts'
import { systemRuntime } from '#runtime/runtime.ts'
import { silentLogger } from '#telemetry.ts'
import { dueNow } from './dueNow.ts'
import type { IndexedDevChain } from './indexed.ts'
import { type accountOf, keyOf, PATH_USD, type Shop } from './shop.ts'

const { clock } = systemRuntime()

interface Kept {
  readonly app: AppDatabase
  readonly chain: IndexedDevChain
}

/** The chain's final blocks, as audits read them. */
export const indexOf = ({ chainId, store }: IndexedDevChain) => ({
  ...{ chainId, schema: store.schema, reads: store.postgres.reads },
})

/** A prover that looks as if so many milliseconds had passed. */
export const proverOf = ({ app, chain, payments }: Kept & Pick<Shop, 'payments'>, laterMs: number) =>
  new Prover({
    ...{ app, chain: { chainId: chain.chainId, index: indexOf(chain) }, nodes: [chain.node] },
    outcome: (payment) => payments.outcome(payment),
    budgets: () => new Map(),
    ...{ clock: { ...clock, now: () => clock.now() + laterMs }, log: silentLogger },
  })

/** One turn of what is owed, out of the account; what became of a payment's refund. */
export async function payOutRefund(
  { app, chain, account }: Kept & { readonly account: ReturnType<typeof accountOf> },
  paymentId: string,
) {
  const payouts = new Payouts({
    ...{ app, budgetOf: () => 1_000n, mayPay: () => true },
    ...{ runtime: systemRuntime(), log: silentLogger },
    chain: new PayoutChain({
      ...{ chainId: chain.chainId, account: privateKeyToAccount(keyOf(account)), nodes: [chain.node], clock },
      feeTokens: [PATH_USD],
    }),
  })
  await dueNow(app)
  // Small ones have waited for others long enough.
  await app
    .updateTable('app.payouts')
    .set({ queued_at: new Date(0) })
    .execute()
  await payouts.turn()
  return (await findPayout(app, 'refund', paymentId))?.state
}

/** Payments have settled so many hours ago, and no answer was collected. */
export async function ageAnswers(app: AppDatabase, hours: number): Promise<void> {
  await dueNow(app)
  await app
    .updateTable('app.payments')
    .set({ answered_at: null, settled_at: new Date(Date.now() - hours * 3_600_000) })
    .execute()
}

/** Rows as of a moment when the refund was owed, in a database that was restored. */
export async function restoreOwed(app: AppDatabase, id: string): Promise<void> {
  await app.deleteFrom('app.ledger_entries').where('transaction_id', '=', id).execute()
  await app.deleteFrom('app.payout_transactions').where('payout_id', '=', id).execute()
  const owed = { state: 'queued', attempt: 0, paid_at: null, block_number: null }
  await app.updateTable('app.payouts').set(owed).where('id', '=', id).execute()
  await app.updateTable('app.histories').set({ history: 'another/00000001' }).execute()
}
