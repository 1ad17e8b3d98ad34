/**
 * Rows that nothing of a test makes otherwise (a channel, and spends of calls that scripted sellers sold),
 * and the movements of a job in the ledger.
 */
import { sql } from 'kysely'
import type { AppDatabase } from '#rows/database.ts'
import { type Bought, randomHex } from './boughtJobs.ts'
import { payer } from './jobOrder.ts'
import { token } from './scriptedSellers.ts'

/** An open channel that has spent, and paid out, all that it accepted. */
export async function openChannel(app: AppDatabase, channelId: string): Promise<void> {
  await sql`
    INSERT INTO app.channels SELECT (jsonb_populate_record(NULL::app.channels, ${JSON.stringify({
      ...{ id: bytes(channelId), chain_id: 1337, token: bytes(token), payer: bytes(payer), deposit: 500 },
      ...Object.fromEntries(
        ['escrow', 'payee', 'operator', 'salt', 'named_signer', 'signer', 'opening_hash'].map((name) => [
          name,
          bytes(randomHex(20)),
        ]),
      ),
      ...{ accepted: 300, spent: 300, settled: 300, units: 1, close_requested_at: 0, is_closed: false },
      ...Object.fromEntries(
        ['opened_at', 'used_at', 'looked_at'].map((name) => [name, new Date().toISOString()]),
      ),
    })}::jsonb)).*`.execute(app)
}
const bytes = (hex: string) => `\\x${hex.slice(2)}`

/** The wallet's payments for the calls, which scripted sellers only say they got. */
export const spendForCalls = (app: AppDatabase) =>
  sql`
  INSERT INTO app.spends (id, job_id, node_id, attempt, service_id, state, protocol, chain_id, currency, amount, recipient, payer,
    units, day, reference, tx_hash, valid_before, ended_at)
  SELECT 'spd_' || row_number() OVER (), job_id::text, node_id, attempt, 'shop', 'settled', 'mpp', paid_chain_id, paid_token, paid_amount,
    '\\x01', '\\x02', paid_units, '2026-11-28', decode(substr(paid_reference, 3), 'hex'), decode(substr(paid_reference, 3), 'hex'), now(), now()
  FROM app.job_attempts a WHERE paid_reference IS NOT NULL
    AND NOT EXISTS (SELECT FROM app.spends s WHERE s.job_id = a.job_id::text AND s.node_id = a.node_id)`.execute(
    app,
  )

/**
 * The movements of the payment's and its job's transactions, by account; those that are even are left out.
 */
export async function booksOf(app: AppDatabase, { payment, jobId }: Bought) {
  const payouts = await app
    .selectFrom('app.payouts')
    .select('id')
    .where('reference', 'in', [payment.id, jobId])
    .execute()
  const rows = await app
    .selectFrom('app.ledger_entries')
    .select(['account', 'amount'])
    .where((is) =>
      is.or([
        is('transaction_id', 'like', `%${payment.id}%`),
        is('transaction_id', 'like', `reward:${jobId}%`),
        ...payouts.map(({ id }) => is('transaction_id', '=', id)),
      ]),
    )
    .execute()
  const sums = new Map<string, bigint>()
  for (const { account, amount } of rows) sums.set(account, (sums.get(account) ?? 0n) + BigInt(amount))
  return Object.fromEntries([...sums].filter(([, amount]) => amount !== 0n))
}
