/** Accounts that money leaves from, and what rows know of it. */
import { sql } from 'kysely'
import { toBytes, toHex } from '#store/sql.ts'
import type { AppDatabase } from '../database.ts'
import { type Payout, payoutKindOf } from '../payments/payouts.ts'

export interface Sender {
  /** Lowercase addresses. */
  readonly account: string
  readonly token: string
}

/** Payees, who send refunds and rewards, and wallets, each with the tokens that rows have. */
export async function listSenders(app: AppDatabase, chainId: number): Promise<readonly Sender[]> {
  const { rows } = await sql<{ account: Buffer; token: Buffer }>`
    SELECT recipient AS account, currency AS token FROM app.payments WHERE chain_id = ${chainId}
    UNION SELECT payer, currency FROM app.spends WHERE chain_id = ${chainId}
    ORDER BY account, token`.execute(app)
  return rows.map(({ account, token }) => ({ account: toHex(account), token: toHex(token) }))
}

/** Which of the transactions any row names. */
export async function knownAmong(
  app: AppDatabase,
  chainId: number,
  hashes: readonly string[],
): Promise<ReadonlySet<string>> {
  if (hashes.length === 0) return new Set()
  const asked = hashes.map((hash) => Buffer.from(toBytes(hash)))
  const { rows } = await sql<{ tx_hash: Buffer }>`
    SELECT tx_hash FROM app.payments WHERE chain_id = ${chainId} AND tx_hash = ANY(${asked})
    UNION SELECT tx_hash FROM app.payout_transactions WHERE chain_id = ${chainId} AND tx_hash = ANY(${asked})
    UNION SELECT tx_hash FROM app.spends WHERE chain_id = ${chainId} AND tx_hash = ANY(${asked})
    UNION SELECT tx_hash FROM app.channel_captures WHERE tx_hash = ANY(${asked})`.execute(app)
  return new Set(rows.map(({ tx_hash: hash }) => toHex(hash)))
}

/** Payouts of a chain that are not paid, the first ones first, with how many transactions were signed. */
export const listUnpaid = async (
  app: AppDatabase,
  chainId: number,
  limit: number,
): Promise<readonly Pick<Payout, 'id' | 'kind' | 'reference' | 'attempt'>[]> => {
  const rows = await app
    .selectFrom('app.payouts')
    .select(['id', 'kind', 'reference', 'attempt'])
    .where('chain_id', '=', chainId)
    .where('state', 'in', ['queued', 'sending'])
    .orderBy('id')
    .limit(limit)
    .execute()
  return rows.map((row) => ({ ...row, kind: payoutKindOf(row.kind) }))
}
