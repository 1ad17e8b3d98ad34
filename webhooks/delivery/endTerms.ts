/** Disables subscriptions that payments bought, once their time is over. Their owner can renew them. */
import { endedTerms } from '#rows/webhooks/terms.ts'
import { type Ending, endSubscription } from './endSubscription.ts'

/** Returned are the ids of those it disabled. */
export async function endTerms(of: Ending): Promise<readonly string[]> {
  const ended: string[] = []
  for (const found of await endedTerms(of.app)) {
    const isOver: Parameters<typeof endSubscription>[2] = async (transaction, { id }) =>
      (await endedTerms(transaction, id)).length > 0
    if (await endSubscription(of, { ...found, reason: 'expired' }, isOver)) ended.push(found.webhookId)
  }
  return ended
}
