/**
 * Small refunds wait for others to the same account, and are paid by one transfer: that of the last,
 * which the others name. It stays so, whatever becomes of its transactions.
 */
import { sql } from 'kysely'
import { toBytes } from '#store/sql.ts'
import { type AppDatabase, databaseNow } from '../database.ts'
import type { HeldPayout } from './payouts.ts'

/** A refund waits so long for others, and goes alone then. */
const COLLECT_HOURS = 24

/** Those who collect stand in a line. Any constant does, as long as it is ours alone. */
const COLLECT_LOCK = 7_414_214_220

/**
 * Joins to a refund those that wait for others. What its transfer pays from now on, or null where it
 * waits, or another process has it.
 * @param worth what a transfer has to pay to go at once, in the currency's smallest unit; 0 where none waits
 */
export async function collect(app: AppDatabase, payout: HeldPayout, worth: bigint): Promise<bigint | null> {
  const { id, hold, kind, total, attempt } = payout
  // What was signed before goes as it was.
  if (kind !== 'refund' || attempt > 0 || worth === 0n) return total
  return app.transaction().execute(async (transaction) => {
    await sql`SELECT pg_advisory_xact_lock(${COLLECT_LOCK})`.execute(transaction)
    const own = await transaction
      .selectFrom('app.payouts')
      .select(sql<boolean>`${collectUntil} <= ${databaseNow}`.as('is_over'))
      .where('id', '=', id)
      .where('hold', '=', hold)
      .where('state', '=', 'queued')
      .where('sent_with', 'is', null)
      .forUpdate()
      .executeTakeFirst()
    if (!own) return null
    const others = await waitingBeside(transaction, payout).execute()
    const sum = others.reduce((all, { amount }) => all + BigInt(amount), total)
    if (sum >= worth || own.is_over) await join(transaction, id, others)
    else await waitForOthers(transaction, id)
    return sum >= worth || own.is_over ? sum : null
  })
}

const collectUntil = sql<Date>`coalesce(collect_until, queued_at + ${COLLECT_HOURS} * interval '1 hour')`

async function join(
  transaction: AppDatabase,
  id: string,
  others: readonly { readonly id: string }[],
): Promise<void> {
  if (others.length === 0) return
  const ids = others.map((other) => other.id)
  await transaction
    .updateTable('app.payouts')
    // A process that has one of them writes no more.
    .set((row) => ({ sent_with: id, problem: null, hold: sql<number>`${row.ref('hold')} + 1` }))
    .where('id', 'in', ids)
    .execute()
}

const waitingBeside = (transaction: AppDatabase, { id, chainId, currency, to }: HeldPayout) =>
  transaction
    .selectFrom('app.payouts as out')
    .select(['id', 'amount'])
    .where('kind', '=', 'refund')
    .where('state', '=', 'queued')
    .where('attempt', '=', 0)
    .where('collect_until', 'is not', null)
    .where('sent_with', 'is', null)
    .where('id', '<>', id)
    .where('chain_id', '=', chainId)
    .where('currency', '=', Buffer.from(toBytes(currency)))
    .where('recipient', '=', Buffer.from(toBytes(to)))
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(selectFrom('app.payouts as with').select('with.id').whereRef('with.sent_with', '=', 'out.id')),
      ),
    )
    .orderBy('id')
    .limit(COLLECTED_MAX)
    .forUpdate()

/** Refunds of one transfer. */
const COLLECTED_MAX = 500

/** Looked at again at the end of its time; another refund to the same account takes it along before. */
const waitForOthers = (transaction: AppDatabase, id: string) =>
  transaction
    .updateTable('app.payouts')
    .set({ collect_until: collectUntil, held_until: collectUntil, problem: null, failures: 0 })
    .where('id', '=', id)
    .execute()
