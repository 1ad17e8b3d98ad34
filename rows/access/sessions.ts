/**
 * Sessions of people who signed in, and the nonces they signed in with. A token is stored nowhere,
 * only a keyed digest of it.
 */
import { failure } from '#errors.ts'
import { type AppDatabase, databaseNow, fromNow, removeOlder } from '../database.ts'

export const SESSION_MS = 24 * 60 * 60 * 1_000
/** Sessions of one person; a sign-in beyond them ends the oldest. */
const SESSIONS_MAX = 50
/** Used nonces are remembered for longer than a clock that makes or reads messages can be wrong. */
const NONCES_KEPT_MS = 24 * 60 * 60 * 1_000

/**
 * Uses a nonce up; of those who try at once the first one passes. In the transaction that begins
 * the session. @throws NonceUsedError
 */
export async function useNonce(app: AppDatabase, nonce: string): Promise<void> {
  const { numInsertedOrUpdatedRows } = await app
    .insertInto('app.used_nonces')
    .values({ nonce })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst()
  if (numInsertedOrUpdatedRows !== 1n) throw new NonceUsedError()
}

export async function insertSession(app: AppDatabase, digest: Buffer, userId: string): Promise<void> {
  await app
    .insertInto('app.sessions')
    .values({ digest, user_id: userId, expires_at: fromNow(SESSION_MS) })
    .execute()
  const beyond = app
    .selectFrom('app.sessions')
    .select('digest')
    .where('user_id', '=', userId)
    .orderBy('created_at', 'desc')
    .orderBy('digest')
    .offset(SESSIONS_MAX)
  await app.deleteFrom('app.sessions').where('digest', 'in', beyond).execute()
}

/** The person of a session that has not ended. */
export async function findSession(app: AppDatabase, digests: readonly Buffer[]): Promise<string | null> {
  const row = await app
    .selectFrom('app.sessions')
    .select('user_id')
    .where('digest', 'in', digests)
    .where('expires_at', '>', databaseNow)
    .executeTakeFirst()
  return row?.user_id ?? null
}

export async function deleteSession(app: AppDatabase, digests: readonly Buffer[]): Promise<void> {
  await app.deleteFrom('app.sessions').where('digest', 'in', digests).execute()
}

/**
 * Removes sessions that ended and nonces that no message has, some at a time; false when none is
 * left.
 */
export async function removePastSessions(app: AppDatabase): Promise<boolean> {
  const isMore = await removeOlder(app, 'app.sessions', 'expires_at', databaseNow)
  return (await removeOlder(app, 'app.used_nonces', 'used_at', fromNow(-NONCES_KEPT_MS))) || isMore
}

/** A message opens one session. */
export class NonceUsedError extends failure('NonceUsedError', 'nonce_used', 'stop') {
  constructor() {
    super('This message was used before: ask for another one.')
  }
}
