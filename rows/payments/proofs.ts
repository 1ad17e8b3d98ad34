/** Our own index's word on settlements. */
import { sql } from 'kysely'
import { COSTS_OF_REVERSED, REFUNDS, revenueAccount } from '#money/accounts.ts'
import { toBytes, toHex } from '#store/sql.ts'
import { type AppDatabase, fromNow } from '../database.ts'
import { withdrawPayout } from './debts.ts'
import { addEntries } from './ledger.ts'
import { columns, type Payment, payingAccount, paymentOf } from './payments.ts'

/** A payment whose transaction is known. */
export type Settled = Payment & { readonly txHash: string }

/**
 * Payments on a chain that settled and that no final block was compared with, in the order of their
 * ids. @param after id of the last that was looked at; empty for none
 */
export async function listUnproved(
  app: AppDatabase,
  chainId: number,
  after: string,
  limit: number,
): Promise<readonly Settled[]> {
  const rows = await onChain(app, chainId)
    .where('state', '=', 'settled')
    .where('proof', 'is', null)
    .where('id', '>', after)
    .orderBy('id')
    .limit(limit)
    .execute()
  return rows.map(paymentOf).filter(hasTransaction)
}

/** Those of the last day that are held to have failed. */
export async function listFailed(
  app: AppDatabase,
  chainId: number,
  after: string,
  limit: number,
): Promise<readonly Settled[]> {
  const rows = await onChain(app, chainId)
    .where('state', '=', 'failed')
    .where('claimed_at', '>', fromNow(-24 * 3_600_000))
    .where('id', '>', after)
    .orderBy('id')
    .limit(limit)
    .execute()
  return rows.map(paymentOf).filter(hasTransaction)
}

/** Those that settled and that the chain did not take back. */
export async function listSettled(
  app: AppDatabase,
  chainId: number,
  after: string,
  limit: number,
): Promise<readonly (Settled & { readonly isProved: boolean })[]> {
  const rows = await onChain(app, chainId)
    .select('proof')
    .where('state', '=', 'settled')
    .where((is) => is.or([is('proof', 'is', null), is('proof', '<>', 'reversed')]))
    .where('id', '>', after)
    .orderBy('id')
    .limit(limit)
    .execute()
  return rows
    .map((row) => ({ ...paymentOf(row), isProved: row.proof !== null }))
    .filter((payment): payment is Settled & { readonly isProved: boolean } => hasTransaction(payment))
}

/** Which of the transactions of a chain are those of payments that settled. */
export async function settledAmong(
  app: AppDatabase,
  chainId: number,
  hashes: readonly string[],
): Promise<ReadonlySet<string>> {
  if (hashes.length === 0) return new Set()
  const rows = await app
    .selectFrom('app.payments')
    .select('tx_hash')
    .where('chain_id', '=', chainId)
    .where('state', '=', 'settled')
    .where(
      'tx_hash',
      'in',
      hashes.map((hash) => Buffer.from(toBytes(hash))),
    )
    .execute()
  return new Set(rows.flatMap(({ tx_hash: hash }) => (hash ? toHex(hash) : [])))
}

/** The block is final, and has the transfer or another one. */
export async function keepProof(
  app: AppDatabase,
  id: string,
  proof: 'confirmed' | 'differs',
  blockNumber: number,
): Promise<void> {
  await app
    .updateTable('app.payments')
    .set({ proof, block_number: blockNumber })
    .where('id', '=', id)
    .where('state', '=', 'settled')
    .where('proof', 'is', null)
    .execute()
}

/** The chain took the transaction back, and has the payment by another one. */
export async function renameTransaction(app: AppDatabase, id: string, txHash: string): Promise<void> {
  await app
    .updateTable('app.payments')
    .set({ tx_hash: toBytes(txHash) })
    .where('id', '=', id)
    .where('state', '=', 'settled')
    .where('proof', 'is', null)
    .execute()
}

/**
 * Takes the entries of a payment back within the caller's transaction; a refund that was not signed is
 * not sent. False where that was done before, or where it did not settle.
 */
export async function takeBack(transaction: AppDatabase, payment: Payment): Promise<boolean> {
  const { id, scope, chainId, currency, amount } = payment
  const row = await transaction
    .updateTable('app.payments')
    .set({ proof: 'reversed' })
    .where('id', '=', id)
    .where('state', '=', 'settled')
    .where('proof', 'is', null)
    .returning('owed_at')
    .executeTakeFirst()
  if (!row) return false
  const isRefunded = row.owed_at !== null && (await withdrawPayout(transaction, 'refund', id)).sent > 0n
  const owed = isRefunded ? COSTS_OF_REVERSED : REFUNDS
  await addEntries(transaction, `${id}/reversed`, [
    { account: row.owed_at ? owed : revenueAccount(scope), chainId, currency, amount: -amount },
    { account: payingAccount(payment), chainId, currency, amount },
  ])
  return true
}

/** How many payments and payouts an operator should look at, on whatever chain. */
export interface DoubtfulPayments {
  /** Within a day. */
  readonly reversed: number
  readonly differing: number
  /** Sent more than a minute ago, and not known to have settled or failed. */
  readonly unknown: number
  /** Owed for more than ten minutes and not sent, whether a chain has somebody to send them or not. */
  readonly waiting: number
  /** Debts above the budget of a day, owed now or paid within one. */
  readonly large: number
  /** How many of payouts and wallet stand, as the database may not know what was sent. */
  readonly stopped: number
}

export const noFindings: DoubtfulPayments = {
  ...{ reversed: 0, differing: 0, unknown: 0, waiting: 0, large: 0, stopped: 0 },
}

/** @param budgets what may be sent within a day, by currency, in its smallest unit */
export async function countFindings(
  app: AppDatabase,
  budgets: ReadonlyMap<string, bigint>,
): Promise<DoubtfulPayments> {
  const payments = await app
    .selectFrom('app.payments')
    .select([
      sql<number>`count(*) FILTER (WHERE proof = 'reversed')::int`.as('reversed'),
      sql<number>`count(*) FILTER (WHERE proof = 'differs')::int`.as('differing'),
      sql<number>`count(*) FILTER (WHERE state = 'sending')::int`.as('unknown'),
    ])
    .where((is) =>
      is.or([
        is.and([is('proof', 'in', ['reversed', 'differs']), is('settled_at', '>', fromNow(-24 * 3_600_000))]),
        is.and([is('state', 'in', ['claimed', 'sending']), is('claimed_at', '<', fromNow(-60_000))]),
      ]),
    )
    .executeTakeFirstOrThrow()
  const { waiting } = await app
    .selectFrom('app.payouts')
    .select(sql<number>`count(*)::int`.as('waiting'))
    .where('state', 'in', ['queued', 'sending'])
    // A sent payout may wait for its block to be final for longer.
    .where((is) => is.or([is('state', '=', 'queued'), is('problem', 'is not', null)]))
    .where(sql`coalesce(collect_until, queued_at)`, '<', fromNow(-600_000))
    .executeTakeFirstOrThrow()
  const { stopped } = await app
    .selectFrom('app.pauses')
    .select(sql<number>`count(*)::int`.as('stopped'))
    .where('cause', '=', 'restore')
    .executeTakeFirstOrThrow()
  return { ...payments, waiting, large: await countLarge(app, budgets), stopped }
}

async function countLarge(app: AppDatabase, budgets: ReadonlyMap<string, bigint>): Promise<number> {
  if (budgets.size === 0) return 0
  const { large } = await app
    .selectFrom('app.payouts')
    .select(sql<number>`count(*)::int`.as('large'))
    .where((is) =>
      is.or([is('state', 'in', ['queued', 'sending']), is('paid_at', '>', fromNow(-24 * 3_600_000))]),
    )
    .where((is) =>
      is.or(
        [...budgets].map(([currency, budget]) =>
          is.and([is('currency', '=', Buffer.from(toBytes(currency))), is('amount', '>', `${budget}`)]),
        ),
      ),
    )
    .executeTakeFirstOrThrow()
  return large
}

/** A transaction of a session moves what many payments come to: no transfer is one of them. */
const onChain = (app: AppDatabase, chainId: number) =>
  app
    .selectFrom('app.payments')
    .select(columns)
    .where('chain_id', '=', chainId)
    .where('method', 'not like', '%/session')
    .where('tx_hash', 'is not', null)

const hasTransaction = (payment: Payment): payment is Settled => payment.txHash !== null
