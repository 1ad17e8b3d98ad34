/** Agents' feedback on the service. So much is kept of each caller, and of all: the newest. */
import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import { type AppDatabase, databaseNow, fromNow, removeOlder } from '../database.ts'

export const feedbackKinds = ['bug', 'idea', 'praise', 'question', 'other'] as const

export interface ProductFeedback {
  readonly kind: (typeof feedbackKinds)[number]
  readonly message: string
}

export interface StoredFeedback extends ProductFeedback {
  readonly receivedAt: Date
}

const DAY_MS = 24 * 3_600_000
/** Messages of one caller in a day. */
export const CALLER_MESSAGES_MAX = 20
/** Messages of all callers in a day: a crowd of addresses fills no disk. */
const MESSAGES_MAX = 2_000
/** Days that a message is kept. */
const KEPT_DAYS = 90

/** False where the caller, or all of them, have said as much today as is taken. */
export async function insertFeedback(
  app: AppDatabase,
  caller: string,
  { kind, message }: ProductFeedback,
): Promise<boolean> {
  await removeOlder(app, 'app.product_feedback', 'received_at', fromNow(-KEPT_DAYS * DAY_MS))
  const digest = createHash('sha256').update(caller).digest()
  return app.transaction().execute(async (transaction) => {
    // Counted one after the other: two at once do not both take the last place.
    await sql`SELECT pg_advisory_xact_lock(hashtextextended('product_feedback', 0))`.execute(transaction)
    const { all, own } = await transaction
      .selectFrom('app.product_feedback')
      .select(({ fn }) => [
        fn.countAll<string>().as('all'),
        fn.countAll<string>().filterWhere('caller_digest', '=', digest).as('own'),
      ])
      .where('received_at', '>', fromNow(-DAY_MS))
      .executeTakeFirstOrThrow()
    if (Number(all) >= MESSAGES_MAX || Number(own) >= CALLER_MESSAGES_MAX) return false
    await transaction
      .insertInto('app.product_feedback')
      .values({ caller_digest: digest, kind, message, received_at: databaseNow })
      .execute()
    return true
  })
}

/** The newest first. */
export async function listFeedback(app: AppDatabase, limit: number): Promise<readonly StoredFeedback[]> {
  const rows = await app
    .selectFrom('app.product_feedback')
    .select(['kind', 'message', 'received_at'])
    .orderBy('id', 'desc')
    .limit(limit)
    .execute()
  return rows.map(({ kind, message, received_at: receivedAt }) => ({
    kind: feedbackKinds.find((known) => known === kind) ?? 'other',
    message,
    receivedAt,
  }))
}
