/** A moment of a running program: a call of a job is paid for and not answered. */
import { DEV_CHAIN_ID, devChainFiles } from '#local/devchain/devChainRecord.ts'
import { readConnection } from '#local/engines/connection.ts'
import { openPostgres } from '#store/postgres.ts'
import { silentLogger } from '#telemetry.ts'
import { readPid } from './millrace.ts'

/**
 * Waits until a call of a job is paid for and not answered, and holds the chain up, so that it stays so.
 * @returns what lets the chain go on
 */
export async function holdPaidCall(dataDir: string): Promise<() => void> {
  const url = readConnection(dataDir)?.databaseUrl ?? ''
  const postgres = openPostgres({ url, applicationName: 'test', log: silentLogger })
  const open = `SELECT 1 FROM app.spends WHERE state = 'sending' AND sent_at IS NOT NULL
    AND NOT EXISTS (SELECT FROM app.spend_answers WHERE spend_id = id)`
  const chain = readPid(devChainFiles(dataDir, DEV_CHAIN_ID).record)
  while ((await postgres.pool.query(open)).rowCount === 0);
  process.kill(chain, 'SIGSTOP')
  await postgres.close()
  return () => process.kill(chain, 'SIGCONT')
}
