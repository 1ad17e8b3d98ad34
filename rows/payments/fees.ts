/**
 * Fees that accounts of ours pay on chains: one sender at a time, whatever process, and no more a
 * day than the operator allows.
 */
import { sql } from 'kysely'
import { failure } from '#errors.ts'
import { toBytes } from '#store/sql.ts'
import type { AppDatabase } from '../database.ts'

export class FeesSpentError extends failure('FeesSpentError', 'fees_spent', 'stop') {
  constructor() {
    super('the fees allowed for a day are spent')
  }
}

export interface FeeAccount {
  readonly chainId: number
  /** Lowercase address. */
  readonly address: string
  /** In the smallest unit of the chain's own coin. */
  readonly perDay: bigint
}

/**
 * Waits for the account's turn, and keeps it while `work` lasts. What it reserves stays reserved
 * where it fails: a transaction may have been sent.
 */
export async function inTurnOf<Result>(
  app: AppDatabase,
  account: FeeAccount,
  work: (reserve: (amount: bigint) => Promise<void>) => Promise<Result>,
): Promise<Result> {
  const name = `fees ${account.chainId} ${account.address}`
  const ended = await app.transaction().execute(async (transaction) => {
    await sql`SELECT pg_advisory_xact_lock(hashtextextended(${name}, 0))`.execute(transaction)
    const reserve = (amount: bigint) => reserveFees(transaction, account, amount)
    return work(reserve).then(
      (result) => ({ result }),
      (error: unknown) => ({ error }),
    )
  })
  if ('error' in ended) throw ended.error
  return ended.result
}

/** @throws FeesSpentError */
async function reserveFees(app: AppDatabase, account: FeeAccount, amount: bigint): Promise<void> {
  if ((await feesLeft(app, account)) < amount) throw new FeesSpentError()
  await app
    .insertInto('app.fee_days')
    .values({
      chain_id: account.chainId,
      address: toBytes(account.address),
      day: today,
      reserved: amount,
    })
    .onConflict((conflict) =>
      conflict.columns(['chain_id', 'address', 'day']).doUpdateSet((row) => ({
        reserved: sql<bigint>`${row.ref('app.fee_days.reserved')} + ${row.ref('excluded.reserved')}`,
      })),
    )
    .execute()
}

/** Left of the present day, by the database's clock (UTC). */
export async function feesLeft(app: AppDatabase, { chainId, address, perDay }: FeeAccount): Promise<bigint> {
  const row = await app
    .selectFrom('app.fee_days')
    .select('reserved')
    .where('chain_id', '=', chainId)
    .where('address', '=', Buffer.from(toBytes(address)))
    .where('day', '=', today)
    .executeTakeFirst()
  const left = perDay - BigInt(row?.reserved ?? 0)
  return left > 0n ? left : 0n
}

const today = sql<Date>`date_trunc('day', clock_timestamp(), 'UTC')`
