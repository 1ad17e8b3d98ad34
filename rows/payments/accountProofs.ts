/** Proofs of an account, each used once. */
import { type AppDatabase, fromNow, removeOlder } from '../database.ts'

/** Longer than any challenge is valid. */
const KEPT_MS = 24 * 3_600_000

/** False where the challenge has proved something before. */
export async function useProof(app: AppDatabase, challengeId: string): Promise<boolean> {
  await removeOlder(app, 'app.payment_proofs', 'used_at', fromNow(-KEPT_MS))
  const { numInsertedOrUpdatedRows } = await app
    .insertInto('app.payment_proofs')
    .values({ challenge_id: challengeId })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst()
  return numInsertedOrUpdatedRows === 1n
}
