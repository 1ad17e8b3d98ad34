/** Payments that are owed back to their payers, and what became of that. */
import { toHex } from '#store/sql.ts'
import { type AppDatabase, databaseNow, fromNow } from '../database.ts'
import { queuePayout } from './debts.ts'
import { addOwed } from './ledger.ts'
import type { Payment } from './payments.ts'
import type { PayoutState } from './payouts.ts'

/** A payment whose money belongs to its payer. */
export interface Liability {
  /** The payment's id. */
  readonly id: string
  readonly scope: string
  readonly chainId: number
  /** Lowercase addresses. */
  readonly currency: string
  readonly payer: string
  /** In the currency's smallest unit. */
  readonly amount: bigint
  readonly owedAt: Date
  /** Null where no refund was queued. */
  readonly refund: PayoutState | null
}

/** Its answer may be opened again for a day; a quarter of an hour later nobody works on it. */
const COLLECTED_WITHIN_MS = 24 * 3_600_000 + 15 * 60_000

/** Owes what was paid for one of the scopes and never collected. How many payments were. */
export async function oweUncollected(
  app: AppDatabase,
  scopes: readonly string[],
  limit: number,
): Promise<number> {
  return app.transaction().execute(async (transaction) => {
    const due = await transaction
      .selectFrom('app.payments')
      .select(['id', 'scope', 'chain_id', 'currency', 'amount'])
      .where('state', '=', 'settled')
      .where('answered_at', 'is', null)
      .where('owed_at', 'is', null)
      .where('scope', 'in', scopes)
      .where('settled_at', '<', fromNow(-COLLECTED_WITHIN_MS))
      .where('held_until', '<', databaseNow)
      .where((is) => is.or([is('proof', 'is', null), is('proof', '<>', 'reversed')]))
      .orderBy('settled_at')
      .limit(limit)
      .forUpdate()
      .skipLocked()
      .execute()
    for (const { id, scope, chain_id: chainId, currency, amount } of due) {
      await transaction
        .updateTable('app.payments')
        .set({ owed_at: databaseNow })
        .where('id', '=', id)
        .execute()
      await addOwed(transaction, { id, scope, chainId, currency: toHex(currency), amount: BigInt(amount) })
    }
    return due.length
  })
}

/**
 * A payment that has settled and bought nothing goes back to its payer, within the transaction that settles
 * it.
 */
export async function refundUnused(transaction: AppDatabase, payment: Payment, nowMs: number): Promise<void> {
  const { id: reference, chainId, currency, amount, payer: to } = payment
  await transaction
    .updateTable('app.payments')
    .set({ owed_at: databaseNow })
    .where('id', '=', reference)
    .execute()
  await addOwed(transaction, payment)
  await queuePayout(transaction, { kind: 'refund', reference, chainId, currency, amount, to }, nowMs)
}

/** The oldest first. */
export async function listLiabilities(app: AppDatabase, limit: number): Promise<readonly Liability[]> {
  const rows = await selected(app).orderBy('paid.id').limit(limit).execute()
  return rows.map(liabilityOf)
}

/**
 * Queues the refund of a payment that is owed, to its recorded payer. `queued before` and `not owed`
 * change nothing.
 */
export async function queueRefund(
  app: AppDatabase,
  id: string,
  nowMs: number,
): Promise<'queued' | 'queued before' | 'not owed'> {
  return app.transaction().execute(async (transaction) => {
    const row = await selected(transaction).where('paid.id', '=', id).executeTakeFirst()
    if (!row) return 'not owed'
    const { chainId, currency, amount, payer: to } = liabilityOf(row)
    const terms = { kind: 'refund', reference: id, chainId, currency, amount, to } as const
    return (await queuePayout(transaction, terms, nowMs)) ? 'queued' : 'queued before'
  })
}

const selected = (app: AppDatabase) =>
  app
    .selectFrom('app.payments as paid')
    .leftJoin('app.payouts as out', (join) =>
      join
        .onRef('out.reference', '=', 'paid.id')
        .on('out.kind', '=', 'refund')
        .on('out.state', '<>', 'withdrawn'),
    )
    .select([
      ...(['paid.id', 'paid.scope', 'paid.chain_id', 'paid.currency', 'paid.payer'] as const),
      ...(['paid.amount', 'paid.owed_at', 'out.state'] as const),
    ])
    .where('paid.owed_at', 'is not', null)
    .where((is) => is.or([is('paid.proof', 'is', null), is('paid.proof', '<>', 'reversed')]))

type LiabilityRow = Awaited<ReturnType<ReturnType<typeof selected>['executeTakeFirstOrThrow']>>

const liabilityOf = (row: LiabilityRow): Liability => ({
  id: row.id,
  scope: row.scope,
  chainId: row.chain_id,
  currency: toHex(row.currency),
  payer: toHex(row.payer),
  amount: BigInt(row.amount),
  owedAt: row.owed_at ?? new Date(0),
  refund: row.state === 'queued' || row.state === 'sending' || row.state === 'paid' ? row.state : null,
})
