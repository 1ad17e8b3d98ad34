/** The rows' record of the money that left an account. */
import { sql } from 'kysely'
import { memoOf } from '#money/debtMemo.ts'
import type { OutflowLedger } from '#money/OutflowWatch.ts'
import type { Marked, Outflow } from '#money/outflows.ts'
import { toBytes } from '#store/sql.ts'
import type { AppDatabase } from '../database.ts'
import { keepForgotten } from '../payments/forgotten.ts'
import { pauseAll, standsSinceRestore } from '../payments/pauses.ts'

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
    keepForgotten: (outflows) => keepForgotten(app, chainId, outflows),
    stands: () => standsSinceRestore(app),
    unknownAmong: (outflows) => unknownAmong(app, chainId, outflows),
    stop: (problem) => pauseAll(app, problem),
  }
}

/**
 * Those that neither a payment to a seller nor a refund or reward explains: by its transaction, or by its
 * memo or nonce while somebody else decides the transaction.
 */
export async function unknownAmong<One extends Outflow & Marked>(
  app: AppDatabase,
  chainId: number,
  outflows: readonly One[],
): Promise<readonly One[]> {
  if (outflows.length === 0) return []
  // First: one that is final meanwhile is named by its transaction then.
  const sending = await memosOfSending(app, chainId)
  const asked = outflows.map(({ txHash, memo }, place) => ({
    ...{ place, tx: txHash.slice(2), memo: memo?.slice(2) ?? null },
  }))
  const { rows } = await sql<{ place: number }>`
    SELECT left_.place FROM jsonb_to_recordset(${JSON.stringify(asked)}::jsonb)
      AS left_(place int, tx text, memo text)
    WHERE NOT EXISTS (
      SELECT FROM app.spends s WHERE s.chain_id = ${chainId} AND s.state <> 'void' AND (
        s.tx_hash = decode(left_.tx, 'hex') OR s.reference = decode(left_.memo, 'hex')))
    AND NOT EXISTS (
      SELECT FROM app.payout_transactions t
      WHERE t.chain_id = ${chainId} AND t.tx_hash = decode(left_.tx, 'hex'))
    ORDER BY left_.place`.execute(app)
  const unnamed = rows.flatMap(({ place }) => outflows[place] ?? [])
  return unnamed.filter(({ memo }) => memo === null || !sending.has(memo))
}

/** Memos of transactions that payouts were signed with and that are not final. */
async function memosOfSending(app: AppDatabase, chainId: number): Promise<ReadonlySet<string>> {
  const rows = await app
    .selectFrom('app.payouts')
    .select(['kind', 'reference', 'attempt'])
    .where('chain_id', '=', chainId)
    .where('state', '=', 'sending')
    .execute()
  return new Set(rows.map(({ attempt, ...debt }) => memoOf(debt, attempt)))
}
