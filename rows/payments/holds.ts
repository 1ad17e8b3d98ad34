/** Holds of payments, renewed by the processes that have them. */
import { sql } from 'kysely'
import { type AppDatabase, fromNow } from '../database.ts'
import type { HeldPayment } from './payments.ts'

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
