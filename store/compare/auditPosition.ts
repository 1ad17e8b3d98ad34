/**
 * How far the audit of a chain has come, in Postgres: a restart goes on from it and keeps telling
 * what was found.
 */
import type { Queryable } from '../ledger/lane.ts'
import { quoteIdentifier } from '../sql.ts'
import type { Difference } from './verify.ts'

export interface AuditPosition {
  /** Last block read again after it became final; -1 before the first. */
  readonly recentTo: number
  /** Last block of the round over all that is held; -1 when one begins. */
  readonly historyTo: number
  /** Found and not mended. */
  readonly differences: readonly Difference[]
}

interface AuditRow {
  recent_to: number
  history_to: number
  differences: Difference[]
}

/** Null before the first block was audited. */
export async function readAuditPosition(client: Queryable, schema: string): Promise<AuditPosition | null> {
  const { rows } = await client.query<AuditRow>(`SELECT * FROM ${quoteIdentifier(schema)}.audits`)
  const [row] = rows
  return row ? { recentTo: row.recent_to, historyTo: row.history_to, differences: row.differences } : null
}

export async function storeAuditPosition(
  client: Queryable,
  schema: string,
  { recentTo, historyTo, differences }: AuditPosition,
): Promise<void> {
  await client.query(
    `INSERT INTO ${quoteIdentifier(schema)}.audits (recent_to, history_to, differences) VALUES ($1, $2, $3)
     ON CONFLICT (one) DO UPDATE SET recent_to = $1, history_to = $2, differences = $3`,
    [recentTo, historyTo, JSON.stringify(differences)],
  )
}
