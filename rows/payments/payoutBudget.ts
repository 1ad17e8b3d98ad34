/** How much of a day's budget for payouts is used. */
import { sql } from 'kysely'
import { advisoryLocks } from '#store/locks.ts'
import { toBytes } from '#store/sql.ts'
import { type AppDatabase, fromNow } from '../database.ts'
import type { Payout } from './payouts.ts'

const DAY_MS = 24 * 3_600_000

/** The sum signed for within a day in one currency, for others than one debt; each counts once. */
export interface SentWithinDay {
  /** All debts up to the budget together, in the currency's smallest unit. */
  readonly sum: bigint
  /** Debts above it. */
  readonly large: number
}

/** Locks out others that ask until the transaction ends. */
export async function readSentWithinDay(
  transaction: AppDatabase,
  { id, chainId, currency }: Payout,
  budget: bigint,
): Promise<SentWithinDay> {
  await sql`SELECT pg_advisory_xact_lock(${advisoryLocks.payoutBudget})`.execute(transaction)
  const { sum, large } = await transaction
    .selectFrom('app.payouts')
    .select([
      sql<string>`coalesce(sum(amount) FILTER (WHERE amount <= ${`${budget}`}::numeric), 0)`.as('sum'),
      sql<number>`(count(*) FILTER (WHERE amount > ${`${budget}`}::numeric))::int`.as('large'),
    ])
    .where('currency', '=', Buffer.from(toBytes(currency)))
    .where('id', '<>', id)
    .where(sql<string>`coalesce(sent_with, id)`, 'in', (query) =>
      query
        .selectFrom('app.payout_transactions')
        .select('payout_id')
        .where('chain_id', '=', chainId)
        .where('signed_at', '>', fromNow(-DAY_MS)),
    )
    .executeTakeFirstOrThrow()
  return { sum: BigInt(sum), large }
}
