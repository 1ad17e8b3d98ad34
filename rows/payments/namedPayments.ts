/** Payments by what their payers call them, and what is known of those whose outcome is not. */
import { toBytes, toHex } from '#store/sql.ts'
import type { AppDatabase } from '../database.ts'
import { columns, type Payment, paymentOf } from './payments.ts'

/** The payment that the payer named so. */
export async function findNamedPayment(
  app: AppDatabase,
  payer: string,
  reference: string,
): Promise<Payment | null> {
  const row = await app
    .selectFrom('app.payments')
    .select(columns)
    .where('payer', '=', Buffer.from(toBytes(payer)))
    .where('reference', '=', reference)
    .executeTakeFirst()
  return row ? paymentOf(row) : null
}

/** The payer may name another one so, where this one has failed. */
export async function forgetName(app: AppDatabase, id: string): Promise<void> {
  await app
    .updateTable('app.payments')
    .set({ reference: null })
    .where('id', '=', id)
    .where('state', '=', 'failed')
    .execute()
}

/** Keeps the transaction of a payment whose outcome is not known. */
export async function noteTransaction(
  app: AppDatabase,
  credentialDigest: Uint8Array,
  txHash: string,
): Promise<void> {
  await app
    .updateTable('app.payments')
    .set({ tx_hash: toBytes(txHash) })
    .where('credential_digest', '=', Buffer.from(credentialDigest))
    .where('state', '=', 'sending')
    .execute()
}

/** The hash that `noteTransaction` kept. */
export async function findNoted(app: AppDatabase, credentialDigest: Uint8Array): Promise<string | null> {
  const row = await app
    .selectFrom('app.payments')
    .select('tx_hash')
    .where('credential_digest', '=', Buffer.from(credentialDigest))
    .where('state', '=', 'sending')
    .executeTakeFirst()
  return row?.tx_hash ? toHex(row.tx_hash) : null
}
