/** Money of the service in double entry: the entries of a transaction sum to 0, which the database holds. */
import { sql } from 'kysely'
import { COSTS_OF_FEES, PAYEE, REFUNDS, REVENUE_PATTERN, revenueAccount } from '#money/accounts.ts'
import type { Fee } from '#money/fees.ts'
import { toBytes, toHex } from '#store/sql.ts'
import type { AppDatabase } from '../database.ts'

export interface Entry {
  /** One of `money/accounts.ts`. */
  readonly account: string
  readonly chainId: number
  /** Lowercase address of the token. */
  readonly currency: string
  /** In the currency's smallest unit; what an account receives is positive. */
  readonly amount: bigint
}

/** @throws PostgresError when they do not sum to 0, at the end of the transaction */
export async function addEntries(
  transaction: AppDatabase,
  transactionId: string,
  entries: readonly Entry[],
): Promise<void> {
  await transaction
    .insertInto('app.ledger_entries')
    .values(
      entries.map(({ account, chainId, currency, amount }) => ({
        transaction_id: transactionId,
        account,
        chain_id: chainId,
        currency: toBytes(currency),
        amount,
      })),
    )
    .execute()
}

/** Moves a part of a payment from revenue to the debt to its payer. */
export const addOwed = (
  transaction: AppDatabase,
  {
    id,
    scope,
    chainId,
    currency,
    amount,
  }: Omit<Entry, 'account'> & { readonly id: string; readonly scope: string },
): Promise<void> =>
  addEntries(transaction, `${id}/owed`, [
    { account: revenueAccount(scope), chainId, currency, amount: -amount },
    { account: REFUNDS, chainId, currency, amount },
  ])

/** Transactions whose entries do not sum to 0 in each currency: none, unless somebody changed rows. */
export async function findUnbalanced(app: AppDatabase): Promise<readonly string[]> {
  const rows = await app
    .selectFrom('app.ledger_entries')
    .select('transaction_id')
    .groupBy(['transaction_id', 'chain_id', 'currency'])
    .having(sql`sum(amount)`, '<>', 0)
    .orderBy('transaction_id')
    .execute()
  return [...new Set(rows.map((row) => row.transaction_id))]
}

/** The balance of each account, by currency. */
export const readBalances = async (app: AppDatabase): Promise<readonly Entry[]> =>
  balancesOf(await summed(app).execute())

/** Revenue by payments alone: of other movements, such as costs of jobs, others keep account. */
export const readRevenue = async (app: AppDatabase): Promise<readonly Entry[]> =>
  balancesOf(
    await summed(app)
      .where('account', 'like', REVENUE_PATTERN)
      .where('transaction_id', 'like', `${PAYMENT_PREFIX}%`)
      .execute(),
  )

/** As `newTimedId` begins the ids of payments. */
const PAYMENT_PREFIX = 'pay\\_'

const summed = (app: AppDatabase) =>
  app
    .selectFrom('app.ledger_entries')
    .select(['account', 'chain_id', 'currency', sql<string>`sum(amount)`.as('amount')])
    .groupBy(['account', 'chain_id', 'currency'])
    .orderBy('account')

type Summed = Awaited<ReturnType<ReturnType<typeof summed>['execute']>>

const balancesOf = (rows: Summed): readonly Entry[] =>
  rows.map(({ account, chain_id: chainId, currency, amount }) => ({
    account,
    chainId,
    currency: toHex(currency),
    amount: BigInt(amount),
  }))

/** Settled payments that are not owed back, by the account that they are revenue of. */
export async function sumSettled(app: AppDatabase): Promise<readonly Entry[]> {
  const rows = await app
    .selectFrom('app.payments')
    .select(['scope', 'chain_id', 'currency', sql<string>`sum(amount)`.as('amount')])
    .where('state', '=', 'settled')
    .where('owed_at', 'is', null)
    .where((is) => is.or([is('proof', 'is', null), is('proof', '<>', 'reversed')]))
    .groupBy(['scope', 'chain_id', 'currency'])
    .execute()
  return rows.map(({ scope, chain_id: chainId, currency, amount }) => ({
    account: revenueAccount(scope),
    chainId,
    currency: toHex(currency),
    amount: BigInt(amount),
  }))
}

/** The chain's fee for a transfer, out of the payee's account. */
export const feeEntries = (chainId: number, { fee, feeCurrency: currency }: Fee): readonly Entry[] =>
  fee > 0n
    ? [
        { account: PAYEE, chainId, currency, amount: -fee },
        { account: COSTS_OF_FEES, chainId, currency, amount: fee },
      ]
    : []
