/** Money that left, by the rows of what it was sent for. */
import { type RawBuilder, sql } from 'kysely'
import { COSTS_OF_FEES, PAYEE } from '#money/accounts.ts'
import { toHex } from '#store/sql.ts'
import type { AppDatabase } from '../database.ts'
import { sentWith } from '../payments/payouts.ts'

/** A payment to a seller, a refund or a reward, which the chain has. */
export interface SentMoney {
  /** The id of the spend or the payout. */
  readonly id: string
  readonly txHash: string | null
  /** Lowercase addresses. */
  readonly currency: string
  readonly to: string
  /** In the currency's smallest unit. */
  readonly amount: bigint
  /** The chain's fee by the ledger, by currency; null if it is not known. */
  readonly fees: ReadonlyMap<string, bigint> | null
  /** The block that paid it; null where the row names none. */
  readonly blockNumber: number | null
  /** Unix seconds; it cannot be mined from then on. */
  readonly validBeforeSeconds: number
  /** The chain took its fee, and refused it. */
  readonly isReverted: boolean
}

interface SentRow {
  readonly id: string
  readonly tx_hash: Buffer | null
  readonly currency: Buffer
  readonly recipient: Buffer
  readonly amount: string
  readonly fees: readonly { readonly currency: string; readonly amount: string }[] | null
  readonly block_number: number | null
  readonly valid_before: Date | null
  readonly is_reverted: boolean
}

/** Transactions of payouts that took a fee and paid nothing, by the ids that their fees are booked by. */
export const revertedPayouts = sql`
  SELECT l.transaction_id, t.* FROM app.ledger_entries l JOIN app.payout_transactions t
    ON t.payout_id = split_part(l.transaction_id, '/reverted/', 1) AND t.attempt::text = split_part(l.transaction_id, '/reverted/', 2)
  WHERE l.account = ${PAYEE} AND l.transaction_id LIKE '%/reverted/%'`

/** Fees that a transaction of the ledger has, as SentRow has them. */
const bookedFees = (transactionId: RawBuilder<unknown>) => sql`
  (SELECT coalesce(jsonb_agg(jsonb_build_object('currency', '0x' || encode(f.currency, 'hex'), 'amount', f.amount::text)), '[]')
   FROM (SELECT currency, sum(amount) AS amount FROM app.ledger_entries
     WHERE transaction_id = ${transactionId} AND account = ${COSTS_OF_FEES} GROUP BY currency) AS f)`

/** Transactions that were sent on a chain, in the order of the ids. @param after empty for the first */
export const listSent = (
  app: AppDatabase,
  chainId: number,
  after: string,
  limit: number,
): Promise<readonly SentMoney[]> =>
  sentBy(
    app,
    sql`
      SELECT * FROM (
        SELECT id, tx_hash, currency, recipient, amount,
          CASE WHEN fee IS NOT NULL THEN ${bookedFees(sql`'fee:' || app.spends.id`)} END AS fees, NULL::bigint AS block_number, valid_before,
          false AS is_reverted
        FROM app.spends WHERE state = 'settled' AND chain_id = ${chainId}
        UNION ALL
        SELECT o.id, t.tx_hash, o.currency, o.recipient, o.amount + ${sentWith(sql`o.id`)}, ${bookedFees(sql`o.id`)}, o.block_number, t.valid_before, false
        FROM app.payouts o JOIN app.payout_transactions t ON t.payout_id = o.id AND t.attempt = o.attempt
        WHERE o.state = 'paid' AND o.chain_id = ${chainId}
        UNION ALL
        SELECT t.transaction_id, t.tx_hash, o.currency, o.recipient, o.amount, ${bookedFees(sql`t.transaction_id`)}, NULL, t.valid_before, true
        FROM (${revertedPayouts}) AS t JOIN app.payouts o ON o.id = t.payout_id
        WHERE o.chain_id = ${chainId}
      ) AS sent WHERE id > ${after} ORDER BY id LIMIT ${limit}`,
  )

/** Payments to sellers that no call of their job was booked with, though the job has ended. */
export const listUnbooked = (app: AppDatabase, limit: number): Promise<readonly SentMoney[]> =>
  sentBy(
    app,
    sql`
      SELECT s.id, s.tx_hash, s.currency, s.recipient, s.amount, NULL::jsonb AS fees,
        NULL::bigint AS block_number, s.valid_before, false AS is_reverted
      FROM app.spends s JOIN app.jobs j ON j.id = s.job_id::uuid AND j.ended_at IS NOT NULL
      WHERE s.state = 'settled' AND NOT EXISTS (
        SELECT FROM app.job_attempts a
        WHERE a.job_id = j.id AND a.node_id = s.node_id AND a.paid_reference IS NOT NULL)
      ORDER BY s.id LIMIT ${limit}`,
  )

async function sentBy(app: AppDatabase, statement: RawBuilder<unknown>): Promise<readonly SentMoney[]> {
  const { rows } = await sql<SentRow>`${statement}`.execute(app)
  return rows.map((row) => ({
    id: row.id,
    txHash: row.tx_hash && toHex(row.tx_hash),
    currency: toHex(row.currency),
    to: toHex(row.recipient),
    amount: BigInt(row.amount),
    fees: row.fees && new Map(row.fees.map(({ currency, amount }) => [currency, BigInt(amount)])),
    blockNumber: row.block_number === null ? null : Number(row.block_number),
    isReverted: row.is_reverted,
    validBeforeSeconds: row.valid_before ? row.valid_before.getTime() / 1_000 : Number.MAX_SAFE_INTEGER,
  }))
}
