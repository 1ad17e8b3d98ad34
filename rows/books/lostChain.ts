/** The fate of money on a chain that is gone, such as a dev chain that began anew. */
import { sql } from 'kysely'
import type { AppDatabase } from '../database.ts'
import { reversePayment } from '../jobs/reversals.ts'
import { voidSpend } from '../jobs/spends.ts'
import { CHANNEL_METHOD, columns, paymentOf } from '../payments/payments.ts'

/** Payments that are taken back between two looks. */
const PAGE = 1_000

/**
 * Payments made there are taken back, with the jobs and debts that hang on them; payments due there are not
 * made on the chain that follows. After a death in between all of it is done again.
 */
export async function voidMoneyOn(app: AppDatabase, chainId: number): Promise<void> {
  await endSending(app, chainId)
  await unsign(app, chainId)
  await voidOpenSpends(app, chainId)
  await takeBackPayments(app, chainId)
  await app.deleteFrom('app.outflow_marks').where('chain_id', '=', chainId).execute()
  await app.deleteFrom('app.forgotten_outflows').where('chain_id', '=', chainId).execute()
}

/** A payment that a channel has already given is settled by whoever looks for it. */
async function endSending(app: AppDatabase, chainId: number): Promise<void> {
  await app
    .deleteFrom('app.payments')
    .where('chain_id', '=', chainId)
    .where('taken_at', 'is', null)
    .where((is) =>
      is.or([
        is('state', '=', 'claimed'),
        is.and([is('state', '=', 'sending'), is('method', '=', CHANNEL_METHOD)]),
      ]),
    )
    .execute()
  await app
    .updateTable('app.payments')
    .set({ state: 'failed' })
    .where('chain_id', '=', chainId)
    .where('state', '=', 'sending')
    .where('method', '<>', CHANNEL_METHOD)
    .execute()
}

/** Transactions of refunds and rewards can be mined no more: those who hold one sign none. */
async function unsign(app: AppDatabase, chainId: number): Promise<void> {
  await app
    .updateTable('app.payouts')
    .set((row) => ({ state: 'queued', sent_with: null, hold: sql<number>`${row.ref('hold')} + 1` }))
    .where('chain_id', '=', chainId)
    .where('state', 'in', ['queued', 'sending'])
    .execute()
}

async function voidOpenSpends(app: AppDatabase, chainId: number): Promise<void> {
  for (const state of ['reserved', 'sending'] as const) {
    const open = await app
      .selectFrom('app.spends')
      .select('id')
      .where('chain_id', '=', chainId)
      .where('state', '=', state)
      .execute()
    for (const { id } of open) await voidSpend(app, id, { from: state })
  }
}

async function takeBackPayments(app: AppDatabase, chainId: number): Promise<void> {
  // Final blocks had confirmed them.
  await app
    .updateTable('app.payments')
    .set({ proof: null, block_number: null })
    .where('chain_id', '=', chainId)
    .where('proof', 'in', ['confirmed', 'differs'])
    .execute()
  for (let after = ''; ; ) {
    const rows = await app
      .selectFrom('app.payments')
      .select(columns)
      .where('chain_id', '=', chainId)
      .where('state', '=', 'settled')
      .where('proof', 'is', null)
      .where('id', '>', after)
      .orderBy('id')
      .limit(PAGE)
      .execute()
    for (const row of rows) await reversePayment(app, paymentOf(row))
    const last = rows.at(-1)
    if (!last) return
    after = last.id
  }
}
