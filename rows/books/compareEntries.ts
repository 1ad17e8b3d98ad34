/** The ledger beside what the rows of payments, jobs, calls and payouts say it should have. */
import { sql } from 'kysely'
import { COSTS_OF_FEES, PAYEE } from '#money/accounts.ts'
import { toHex } from '#store/sql.ts'
import type { AppDatabase } from '../database.ts'
import { expectedEntries } from './expectedEntries.ts'
import { revertedPayouts } from './moneySent.ts'

/** An entry that differs. Amounts are in the currency's smallest unit. */
export interface EntryDifference {
  readonly transactionId: string
  readonly account: string
  readonly chainId: number
  /** Lowercase address. */
  readonly currency: string
  /** The amount by the rows; null if none speaks of it. */
  readonly expected: bigint | null
  /** Null where the ledger has none. */
  readonly ledger: bigint | null
}

interface DifferenceRow {
  readonly transaction_id: string
  readonly account: string
  readonly chain_id: number
  readonly currency: Buffer
  readonly expected: string | null
  readonly ledger: string | null
}

/**
 * The first ones that differ, as of one moment. Fees of payouts are in no other row but in their
 * blocks. What was counted and did not come true was taken back by entries of their own, whose id is
 * that of what they take back, `/void` and more.
 */
export async function compareEntries(app: AppDatabase, limit: number): Promise<readonly EntryDifference[]> {
  const { rows } = await sql<DifferenceRow>`
    WITH expected AS (${expectedEntries}),
    ledger AS (
      SELECT split_part(transaction_id, '/void', 1) AS transaction_id, account, chain_id, currency, sum(amount) AS amount
      FROM app.ledger_entries
      WHERE NOT (account IN (${COSTS_OF_FEES}, ${PAYEE})
        AND (EXISTS (SELECT FROM app.payouts o WHERE o.id = transaction_id AND o.state = 'paid')
          OR transaction_id IN (SELECT transaction_id FROM (${revertedPayouts}) AS r)))
      GROUP BY 1, 2, 3, 4 HAVING sum(amount) <> 0
    )
    SELECT transaction_id, account, chain_id, currency, expected.amount AS expected, ledger.amount AS ledger
    FROM expected FULL JOIN ledger USING (transaction_id, account, chain_id, currency)
    WHERE expected.amount IS DISTINCT FROM ledger.amount
    ORDER BY transaction_id, account LIMIT ${limit}`.execute(app)
  return rows.map((row) => ({
    transactionId: row.transaction_id,
    account: row.account,
    chainId: Number(row.chain_id),
    currency: toHex(row.currency),
    expected: row.expected === null ? null : BigInt(row.expected),
    ledger: row.ledger === null ? null : BigInt(row.ledger),
  }))
}
