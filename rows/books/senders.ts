/** Accounts that money leaves from, and what rows know of it. */
import { sql } from 'kysely'
import { toBytes, toHex } from '#store/sql.ts'
import type { AppDatabase } from '../database.ts'
import { type Payout, payoutKindOf, sentWith } from '../payments/payouts.ts'

export interface Sender {
  /** Lowercase addresses. */
  readonly account: `0x${string}`
  readonly token: string
}

/**
 * Payees, wallets, and whatever account debts were paid from, each with the tokens that rows of money
 * have on the chain.
 */
export async function listSenders(app: AppDatabase, chainId: number): Promise<readonly Sender[]> {
  const { rows } = await sql<{ account: Buffer; token: Buffer }>`
    WITH tokens AS (
      SELECT currency AS token FROM app.payments WHERE chain_id = ${chainId}
      UNION SELECT currency FROM app.spends WHERE chain_id = ${chainId}
      UNION SELECT currency FROM app.payouts WHERE chain_id = ${chainId}
    ), accounts AS (
      SELECT recipient AS account FROM app.payments WHERE chain_id = ${chainId}
      UNION SELECT payer FROM app.spends WHERE chain_id = ${chainId}
      UNION SELECT account FROM app.outflow_marks WHERE chain_id = ${chainId}
    )
    SELECT account, token FROM accounts, tokens ORDER BY account, token`.execute(app)
  return rows.map(({ account, token }) => ({ account: toHex(account), token: toHex(token) }))
}

/** Lowercase addresses that payments of a chain went to. */
export async function listPayees(app: AppDatabase, chainId: number): Promise<readonly `0x${string}`[]> {
  const rows = await app
    .selectFrom('app.payments')
    .select('recipient')
    .distinct()
    .where('chain_id', '=', chainId)
    .execute()
  return rows.map(({ recipient }) => toHex(recipient))
}

/** Chains that any row of money is on. */
export async function listMoneyChains(app: AppDatabase): Promise<readonly number[]> {
  const { rows } = await sql<{ chain_id: number }>`
    SELECT chain_id FROM app.payments WHERE state <> 'failed'
    UNION SELECT chain_id FROM app.spends WHERE state <> 'void'
    UNION SELECT chain_id FROM app.payouts
    ORDER BY chain_id`.execute(app)
  return rows.map(({ chain_id: chainId }) => Number(chainId))
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

export type Unpaid = Pick<Payout, 'id' | 'kind' | 'reference' | 'attempt' | 'to' | 'currency' | 'amount'>

/** Payouts of a chain that are not paid, the first ones first, with how many transactions were signed. */
export const listUnpaid = async (
  app: AppDatabase,
  chainId: number,
  limit: number,
): Promise<readonly Unpaid[]> => {
  const rows = await app
    .selectFrom('app.payouts')
    .select(['id', 'kind', 'reference', 'attempt', 'recipient', 'currency'])
    .select(sql<string>`amount + ${sentWith(sql`app.payouts.id`)}`.as('amount'))
    .where('chain_id', '=', chainId)
    .where('state', 'in', ['queued', 'sending'])
    .where('sent_with', 'is', null)
    .orderBy('id')
    .limit(limit)
    .execute()
  return rows.map(({ id, kind, reference, attempt, recipient, currency, amount }) => ({
    ...{ id, kind: payoutKindOf(kind), reference, attempt },
    ...{ to: toHex(recipient), currency: toHex(currency), amount: BigInt(amount) },
  }))
}
