/** Debts of the service, made, paid and withdrawn in the transaction that books them. */
import { sql } from 'kysely'
import { owedAccounts, payerAccount } from '#money/accounts.ts'
import type { Fee } from '#money/fees.ts'
import { toBytes } from '#store/sql.ts'
import { type AppDatabase, databaseNow } from '../database.ts'
import { newTimedId } from '../identifiers.ts'
import { addEntries, type Entry, feeEntries } from './ledger.ts'
import {
  isPayoutTransaction,
  type Payout,
  type PayoutKind,
  type PayoutTerms,
  payoutKindOf,
} from './payouts.ts'

/**
 * Owes the amount from now on, within the caller's transaction, which also books it as owed. False
 * where it is owed or was paid already.
 */
export async function queuePayout(
  transaction: AppDatabase,
  { to, feePart = null, ...terms }: PayoutTerms & { readonly feePart?: bigint | null },
  nowMs: number,
): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await transaction
    .insertInto('app.payouts')
    .values({
      id: newTimedId('out', nowMs),
      kind: terms.kind,
      reference: terms.reference,
      chain_id: terms.chainId,
      currency: toBytes(terms.currency),
      amount: terms.amount,
      recipient: toBytes(to),
      fee_part: feePart,
    })
    .onConflict((conflict) => conflict.columns(['kind', 'reference']).doNothing())
    .executeTakeFirst()
  return numInsertedOrUpdatedRows === 1n
}

/**
 * Takes back what is owed, where no transaction of it can be mined: nobody signs one any more. What
 * was withdrawn, or is sent all the same; both 0 where nothing was owed.
 */
export async function withdrawPayout(
  transaction: AppDatabase,
  kind: PayoutKind,
  reference: string,
): Promise<{ readonly withdrawn: bigint; readonly sent: bigint }> {
  const row = await transaction
    .selectFrom('app.payouts')
    .select(['id', 'state', 'amount', 'sent_with'])
    .where('kind', '=', kind)
    .where('reference', '=', reference)
    .where('state', '<>', 'withdrawn')
    .forUpdate()
    .executeTakeFirst()
  if (!row) return { withdrawn: 0n, sent: 0n }
  const amount = BigInt(row.amount)
  // Those that it is sent with may have paid it.
  if (row.state !== 'queued' || row.sent_with !== null) return { withdrawn: 0n, sent: amount }
  await transaction
    .updateTable('app.payouts')
    .set({ state: 'withdrawn', problem: null })
    .where('id', '=', row.id)
    .execute()
  // Debts that would have been sent with it wait for another.
  await transaction
    .updateTable('app.payouts')
    .set({ sent_with: null, held_until: databaseNow })
    .where('sent_with', '=', row.id)
    .execute()
  return { withdrawn: amount, sent: 0n }
}

/** A final block's word on a payout. */
export interface PaidBy extends Fee {
  readonly txHash: string
  readonly blockNumber: number
}

/**
 * Paid, with its entries, in one transaction. False where it was paid already: whoever knows it may
 * say so, held or not.
 */
export async function finishPayout(app: AppDatabase, payout: Payout, by: PaidBy): Promise<boolean> {
  return app.transaction().execute(async (transaction) => {
    await nameTransaction(transaction, payout, by.txHash)
    return finish(transaction, payout, by)
  })
}

/**
 * The transaction that brought an authorization to the chain is somebody else's, and known afterwards.
 * One that brought several is the first one's.
 */
async function nameTransaction(
  transaction: AppDatabase,
  { id, attempt, chainId, transaction: known }: Payout,
  txHash: string,
): Promise<void> {
  if (known?.txHash === txHash || (await isPayoutTransaction(transaction, chainId, txHash))) return
  await transaction
    .updateTable('app.payout_transactions')
    .set({ tx_hash: toBytes(txHash) })
    .where('payout_id', '=', id)
    .where('attempt', '=', attempt)
    .execute()
}

/**
 * Paid by a transaction of somebody else's, such as the operator's, where nothing was signed for it
 * here. False where something was, or it is paid. Rejects where the transaction has paid another one.
 */
export async function finishPaidElsewhere(app: AppDatabase, payout: Payout, by: PaidBy): Promise<boolean> {
  return app.transaction().execute((transaction) => finishElsewhere(transaction, payout, by))
}

/** As `finishPaidElsewhere`, in the caller's transaction. */
export async function finishElsewhere(
  transaction: AppDatabase,
  payout: Payout,
  by: PaidBy,
): Promise<boolean> {
  const { numUpdatedRows } = await transaction
    .updateTable('app.payouts')
    .set((row) => ({
      ...{ state: 'sending', attempt: payout.attempt + 1 },
      // A process that had taken it signs no more.
      hold: sql<number>`${row.ref('hold')} + 1`,
    }))
    .where('id', '=', payout.id)
    .where('state', '=', 'queued')
    .where('attempt', '=', payout.attempt)
    .executeTakeFirst()
  if (numUpdatedRows === 0n) return false
  await transaction
    .insertInto('app.payout_transactions')
    .values({
      ...{ payout_id: payout.id, attempt: payout.attempt + 1, chain_id: payout.chainId },
      ...{ tx_hash: toBytes(by.txHash), raw: toBytes('0x'), valid_before: databaseNow },
    })
    .execute()
  return finish(transaction, payout, by)
}

/**
 * Paid by the transaction of another, which is paid, in the caller's transaction. False where something was
 * signed for it.
 */
export async function finishWith(
  transaction: AppDatabase,
  { id, kind, amount, ...debt }: Payout,
  first: { readonly id: string; readonly blockNumber: number },
): Promise<boolean> {
  const { numUpdatedRows } = await transaction
    .updateTable('app.payouts')
    .set((row) => ({
      ...paidIn(first.blockNumber),
      sent_with: first.id,
      hold: sql<number>`${row.ref('hold')} + 1`,
    }))
    .where('id', '=', id)
    .where('state', '=', 'queued')
    .where('attempt', '=', 0)
    .where('sent_with', 'is', null)
    .executeTakeFirst()
  if (numUpdatedRows === 0n) return false
  await addEntries(transaction, id, entriesOf(debt, kind, amount))
  return true
}

const paidIn = (blockNumber: number) => ({
  ...{ state: 'paid', paid_at: databaseNow, block_number: blockNumber, problem: null, failures: 0 },
})

const entriesOf = (
  { chainId, currency, to }: Pick<Payout, 'chainId' | 'currency' | 'to'>,
  kind: PayoutKind,
  amount: bigint,
): readonly Entry[] => [
  { account: owedAccounts[kind], chainId, currency, amount: -amount },
  { account: payerAccount(to), chainId, currency, amount },
]

async function finish(
  transaction: AppDatabase,
  { id, kind, ...debt }: Payout,
  { blockNumber, ...fee }: PaidBy,
): Promise<boolean> {
  const paid = paidIn(blockNumber)
  const own = await transaction
    .updateTable('app.payouts')
    .set(paid)
    .where('id', '=', id)
    .where('state', '=', 'sending')
    .returning('amount')
    .executeTakeFirst()
  if (!own) return false
  const others = await transaction
    .updateTable('app.payouts')
    .set(paid)
    .where('sent_with', '=', id)
    .where('state', '=', 'queued')
    .returning(['id', 'kind', 'amount'])
    .execute()
  for (const other of others)
    await addEntries(transaction, other.id, entriesOf(debt, payoutKindOf(other.kind), BigInt(other.amount)))
  const entries = [...entriesOf(debt, kind, BigInt(own.amount)), ...feeEntries(debt.chainId, fee)]
  await addEntries(transaction, id, entries)
  return true
}
