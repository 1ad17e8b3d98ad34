/** What rows know of the money that left an account. */
import { sql } from 'kysely'
import type { OutflowLedger } from '#money/OutflowWatch.ts'
import type { Outflow } from '#money/outflows.ts'
import { toBytes } from '#store/sql.ts'
import type { AppDatabase } from '../database.ts'
import { pauseAll } from '../payments/pauses.ts'
import { sentWith } from '../payments/payouts.ts'

/** @param account lowercase address */
export function outflowLedger(app: AppDatabase, chainId: number, account: string): OutflowLedger {
  const bytes = Buffer.from(toBytes(account))
  return {
    readMark: async () => {
      const row = await app
        .selectFrom('app.outflow_marks')
        .select('block')
        .where('chain_id', '=', chainId)
        .where('account', '=', bytes)
        .executeTakeFirst()
      return row ? Number(row.block) : null
    },
    keepMark: async (block) => {
      await app
        .insertInto('app.outflow_marks')
        .values({ chain_id: chainId, account: bytes, block })
        .onConflict((conflict) =>
          conflict
            .columns(['chain_id', 'account'])
            .doUpdateSet({ block: sql`greatest(outflow_marks.block, excluded.block)` }),
        )
        .execute()
    },
    unknownAmong: (outflows) => unknownAmong(app, chainId, outflows),
    stop: (problem) => pauseAll(app, problem),
  }
}

/**
 * Those that neither a payment to a seller nor a refund or reward explains: by its transaction, or, while
 * that is not known, by receiver, token and amount.
 */
export async function unknownAmong(
  app: AppDatabase,
  chainId: number,
  outflows: readonly Outflow[],
): Promise<readonly Outflow[]> {
  if (outflows.length === 0) return []
  const asked = outflows.map(({ txHash, token, to, amount }, place) => ({
    ...{ place, amount: `${amount}` },
    ...{ tx: txHash.slice(2), token: token.slice(2), to: to.slice(2) },
  }))
  const { rows } = await sql<{ place: number }>`
    SELECT left_.place FROM jsonb_to_recordset(${JSON.stringify(asked)}::jsonb)
      AS left_(place int, tx text, token text, "to" text, amount numeric)
    WHERE NOT EXISTS (
      SELECT FROM app.spends s WHERE s.chain_id = ${chainId} AND s.state <> 'void' AND (
        s.tx_hash = decode(left_.tx, 'hex') OR (
          (s.state IN ('reserved', 'sending') OR s.tx_hash = s.reference) AND s.amount = left_.amount
          AND s.currency = decode(left_.token, 'hex') AND s.recipient = decode(left_."to", 'hex'))))
    AND NOT EXISTS (
      SELECT FROM app.payouts o LEFT JOIN app.payout_transactions t ON t.payout_id = o.id
      WHERE o.chain_id = ${chainId} AND (
        t.tx_hash = decode(left_.tx, 'hex') OR (
          o.state = 'sending' AND o.amount + ${sentWith(sql`o.id`)} = left_.amount
          AND o.currency = decode(left_.token, 'hex') AND o.recipient = decode(left_."to", 'hex'))))
    ORDER BY left_.place`.execute(app)
  return rows.flatMap(({ place }) => outflows[place] ?? [])
}
