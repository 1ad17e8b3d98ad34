/** A database that has forgotten a payment, as one that was restored. */
import { http } from 'viem'
import { askOf } from '#money/node.ts'
import { OutflowWatch } from '#money/OutflowWatch.ts'
import { address } from '#primitives.ts'
import { outflowLedger } from '#rows/books/outflows.ts'
import type { AppDatabase } from '#rows/database.ts'

interface Place {
  readonly rpcUrl: string
  readonly chainId: number
  readonly account: { readonly address: string }
  readonly tokens: readonly string[]
}

/** As a program that has just started looks. */
export async function lookAnew(app: AppDatabase, { rpcUrl, chainId, account, tokens }: Place): Promise<void> {
  const of = address(account.address)
  const ledger = outflowLedger(app, chainId, of)
  const ask = askOf(http(rpcUrl))
  await new OutflowWatch({ chainId, account: of, tokens: () => tokens, ask, ledger }).look()
}

export async function forgetSpends(app: AppDatabase, jobId: string): Promise<void> {
  const own = app.selectFrom('app.spends').select('id').where('job_id', '=', jobId)
  await app.deleteFrom('app.spend_answers').where('spend_id', 'in', own).execute()
  await app.deleteFrom('app.spends').where('job_id', '=', jobId).execute()
}
