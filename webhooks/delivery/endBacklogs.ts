/**
 * Disables paused subscriptions that keep more than they may. Nothing is lost unsaid: their owner
 * is told from which block on.
 */
import { overfullBacklogs } from '#rows/webhooks/backlogs.ts'
import type { Disabled } from '#rows/webhooks/outcomes.ts'
import { type Ending, endSubscription } from './endSubscription.ts'

/** Returned are those it disabled. */
export async function endBacklogs(of: Ending): Promise<readonly Disabled[]> {
  const ended: Disabled[] = []
  for (const found of await overfullBacklogs(of.app)) {
    const disabled: Disabled = { ...found, reason: 'backlog' }
    if (await endSubscription(of, disabled, (_, { status }) => status === 'paused')) ended.push(disabled)
  }
  return ended
}
