/** Subscriptions of accounts that pay: a payment buys one for thirty days, or thirty more. */
import { sql } from 'kysely'
import { failure } from '#errors.ts'
import { type AppDatabase, databaseNow, fromNow } from '../database.ts'
import { answerPayment } from '../payments/holds.ts'
import { changeSubscription, type Subscription } from './subscriptions.ts'

const DAY_MS = 86_400_000
const TERM_MS = 30 * DAY_MS
/** Past its end it can be renewed for so long; then it is removed. */
const RENEWABLE_MS = 30 * DAY_MS
/** Looked at in one pass. */
const ENDED_MAX = 500

/** The payment has bought something already. */
export class PaymentSpentError extends failure('PaymentSpentError', 'payment_used', 'stop') {
  constructor() {
    super('This payment has bought a subscription already; GET /v1/webhooks lists those of its account.')
  }
}

/** In the transaction of what it buys: it buys nothing else. @throws PaymentSpentError */
export async function spendPayment(transaction: AppDatabase, payment: string): Promise<void> {
  if (!(await answerPayment(transaction, payment))) throw new PaymentSpentError()
}

/**
 * Thirty days more, behind those that are paid for still. One that has ended goes on.
 * @param next first block that is not looked through yet
 */
export async function addTerm(
  transaction: AppDatabase,
  { id, disabledReason }: Subscription,
  next: number,
): Promise<Subscription> {
  await transaction
    .updateTable('app.webhooks')
    .set({ expires_at: sql<Date>`greatest(expires_at, ${databaseNow}) + ${TERM_MS} * interval '1 ms'` })
    .where('id', '=', id)
    .execute()
  const begins = { status: 'active', activeFrom: next, disabledFrom: null, disabledReason: null } as const
  return changeSubscription(transaction, id, disabledReason === 'expired' ? begins : {})
}

/** The account that bought a subscription; null for those of organizations, and none. */
export async function buyerOf(app: AppDatabase, id: string): Promise<string | null> {
  const found = await app
    .selectFrom('app.webhooks')
    .select('owner')
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .where('expires_at', 'is not', null)
    .executeTakeFirst()
  return found?.owner ?? null
}

/** Those whose time is over and that are looked for still; of one id, where it is given. */
export async function endedTerms(
  app: AppDatabase,
  id?: string,
): Promise<{ readonly webhookId: string; readonly owner: string; readonly chainId: number }[]> {
  const rows = await app
    .selectFrom('app.webhooks')
    .select(['id', 'owner', 'chain_id'])
    .where('status', '<>', 'disabled')
    .where('deleted_at', 'is', null)
    .where('expires_at', '<=', databaseNow)
    .$if(id !== undefined, (query) => query.where('id', '=', id ?? ''))
    .orderBy('id')
    .limit(ENDED_MAX)
    .execute()
  return rows.map(({ id: webhookId, owner, chain_id: chainId }) => ({ webhookId, owner, chainId }))
}

/** Deletes those that nobody has renewed in time. */
export async function deleteEnded(app: AppDatabase): Promise<void> {
  await app
    .updateTable('app.webhooks')
    .set({ deleted_at: databaseNow })
    .where('deleted_at', 'is', null)
    .where('status', '=', 'disabled')
    .where('expires_at', '<=', fromNow(-RENEWABLE_MS))
    .execute()
}
