import type { AppDatabase } from '#rows/database.ts'

/** Ends holds and pauses before the next try: every payment and payout is due. */
export async function dueNow(app: AppDatabase): Promise<void> {
  const due = { held_until: new Date(0) }
  await app.updateTable('app.payments').set(due).execute()
  await app.updateTable('app.payouts').set(due).execute()
}
