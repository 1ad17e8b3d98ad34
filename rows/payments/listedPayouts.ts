/** Refunds and rewards as an operator reads them. */
import type { AppDatabase } from '../database.ts'
import { type Payout, type PayoutState, payoutOf, selected } from './payouts.ts'

export interface ListedPayout extends Payout {
  /** It waits until then for others to the same account; null where it waits for none. */
  readonly collectUntil: Date | null
}

/** The newest first, or those before the one of the id `before`; of one state where it is given. */
export async function listPayouts(
  app: AppDatabase,
  limit: number,
  { before = null, state }: { before?: string | null; state?: PayoutState | undefined } = {},
): Promise<readonly ListedPayout[]> {
  const rows = await selected(app)
    .select('out.collect_until')
    .$if(before !== null, (query) => query.where('out.id', '<', before ?? ''))
    .$if(state !== undefined, (query) => query.where('of.state', '=', state ?? ''))
    .orderBy('out.id', 'desc')
    .limit(limit)
    .execute()
  return rows.map((row) => {
    const payout = payoutOf(row)
    const isWaiting = payout.state === 'queued' && payout.sentWith === null
    return { ...payout, collectUntil: isWaiting ? row.collect_until : null }
  })
}
