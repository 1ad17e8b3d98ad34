/** Debts of the service, made and withdrawn in the transaction that books them. */
import { toBytes } from '#store/sql.ts'
import { type AppDatabase, databaseNow } from '../database.ts'
import { newTimedId } from '../identifiers.ts'
import type { PayoutKind, PayoutTerms } from './payouts.ts'

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
  // What would have been sent with it waits for another.
  await transaction
    .updateTable('app.payouts')
    .set({ sent_with: null, held_until: databaseNow })
    .where('sent_with', '=', row.id)
    .execute()
  return { withdrawn: amount, sent: 0n }
}
