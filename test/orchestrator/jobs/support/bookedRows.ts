/** Rows that nothing of a test makes otherwise: a channel, and spends of calls that scripted sellers sold. */
import { sql } from 'kysely'
import type { AppDatabase } from '#rows/database.ts'
import { randomHex } from './boughtJobs.ts'
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
