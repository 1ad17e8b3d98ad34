/**
 * Disables paused subscriptions that keep more than they may. Nothing is lost unsaid: their owner
 * is told from which block on.
 */
import type { AppDatabase } from '#rows/database.ts'
import { overfullBacklogs } from '#rows/webhooks/backlogs.ts'
import type { Disabled } from '#rows/webhooks/outcomes.ts'
import { withdrawQueued } from '#rows/webhooks/retention.ts'
import { changeSubscription, findSubscription } from '#rows/webhooks/subscriptions.ts'
import type { Postgres } from '#store/postgres.ts'
import { lockPositionOf, tellInTransaction } from './tellDisabled.ts'

/** Returned are those it disabled. */
export async function endBacklogs(of: {
  readonly app: AppDatabase
  readonly postgres: Pick<Postgres, 'pool'>
}): Promise<readonly Disabled[]> {
  const ended: Disabled[] = []
  for (const found of await overfullBacklogs(of.app)) {
    const disabled: Disabled = { ...found, reason: 'backlog' }
    if (await endBacklog(of, disabled)) ended.push(disabled)
  }
  return ended
}

/** False when its owner or another process was first. */
function endBacklog(
  { app, postgres }: Parameters<typeof endBacklogs>[0],
  disabled: Disabled,
): Promise<boolean> {
  const { webhookId, owner } = disabled
  return app.transaction().execute(async (transaction) => {
    await lockPositionOf(transaction, postgres, disabled)
    const held = await findSubscription(transaction, webhookId, owner, true)
    if (held?.status !== 'paused') return false
    const first = await withdrawQueued(transaction, webhookId)
    await changeSubscription(transaction, webhookId, {
      ...{ status: 'disabled', disabledReason: disabled.reason, disabledFrom: first },
    })
    await tellInTransaction(transaction, postgres, disabled)
    return true
  })
}
