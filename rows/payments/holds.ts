/** Holds of payments, renewed by the processes that have them, and what ends them: the answer. */
import { sql } from 'kysely'
import { type AppDatabase, databaseNow, fromNow } from '../database.ts'
import { CHANNEL_METHOD, columns, type HeldPayment, type Payment, paymentOf } from './payments.ts'

/** An answer that was paid for and lost is given again for so long. */
const ANSWERED_WITHIN_MS = 24 * 3_600_000
/** One that is answered more than once is taken so often. */
const ATTEMPTS_MAX = 6

/** Takes a row that nobody works on; null where somebody does, or nothing is left to do. */
export async function takePayment(app: AppDatabase, id: string, holdMs: number): Promise<Payment | null> {
  const row = await app
    .updateTable('app.payments')
    .set((row) => ({ attempt: sql<number>`${row.ref('attempt')} + 1`, held_until: fromNow(holdMs) }))
    .where('id', '=', id)
    .where('held_until', '<', databaseNow)
    .where((is) =>
      is.or([
        is('state', 'in', ['claimed', 'sending']),
        is.and([
          is('state', '=', 'settled'),
          is.or([
            is('answered_at', 'is', null),
            is.and([
              is.or([is('reference', 'is not', null), isNewestVoucher]),
              is('attempt', '<', ATTEMPTS_MAX),
            ]),
          ]),
          is('owed_at', 'is', null),
          is('settled_at', '>', fromNow(-ANSWERED_WITHIN_MS)),
        ]),
      ]),
    )
    .returning(columns)
    .executeTakeFirst()
  return row ? paymentOf(row) : null
}

/** Its payer has signed for nothing more since, and the channel is open. */
const isNewestVoucher = sql<boolean>`CASE WHEN method = ${CHANNEL_METHOD} THEN EXISTS (
  SELECT FROM app.channels c
  WHERE c.id = decode(substr(split_part(identity, ':', 1), 3), 'hex')
    AND c.accepted::text = split_part(identity, ':', 2) AND NOT c.is_closed) ELSE false END`

/**
 * Whether its answer is given once: a payment with a name and a voucher stand for their answer, and open
 * it again, at most five times.
 */
export const isSingle = ({ reference, method }: Pick<Payment, 'reference' | 'method'>): boolean =>
  reference === null && method !== CHANNEL_METHOD

/** Those that are held still, from now on for so long; what has run out or was let go stays so. */
export async function renewHolds(
  app: AppDatabase,
  held: readonly HeldPayment[],
  holdMs: number,
): Promise<readonly HeldPayment[]> {
  if (held.length === 0) return []
  const { rows } = await sql<HeldPayment>`
    UPDATE app.payments AS p SET held_until = ${fromNow(holdMs)}
    FROM unnest(${held.map(({ id }) => id)}::text[], ${held.map(({ attempt }) => attempt)}::integer[])
      AS h (id, attempt)
    WHERE p.id = h.id AND p.attempt = h.attempt AND p.held_until > clock_timestamp()
    RETURNING p.id, p.attempt`.execute(app)
  return rows
}

/** The answer that it paid for has left in full, or is kept. False where it had before. */
export async function answerPayment(app: AppDatabase, id: string): Promise<boolean> {
  const unanswered = app.updateTable('app.payments').where('id', '=', id).where('answered_at', 'is', null)
  const { numUpdatedRows } = await unanswered.set({ answered_at: databaseNow }).executeTakeFirst()
  return numUpdatedRows > 0n
}

/** As `answerPayment`, for an answer that is not given again, whatever stands for it. */
export async function endPayment(app: AppDatabase, id: string): Promise<void> {
  await app
    .updateTable('app.payments')
    .set({ answered_at: sql`coalesce(answered_at, ${databaseNow})`, held_until: databaseNow })
    .set({ attempt: sql`greatest(attempt, ${ATTEMPTS_MAX})` })
    .where('id', '=', id)
    .execute()
}
