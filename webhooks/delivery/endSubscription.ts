/** Disables a subscription that its owner did not: what waits is taken back, and its owner is told. */
import type { AppDatabase } from '#rows/database.ts'
import type { Disabled } from '#rows/webhooks/outcomes.ts'
import { withdrawQueued } from '#rows/webhooks/Retention.ts'
import { changeSubscription, findSubscription, type Subscription } from '#rows/webhooks/subscriptions.ts'
import type { Postgres } from '#store/postgres.ts'
import { lockPositionOf, tellInTransaction } from './tellDisabled.ts'

export interface Ending {
  readonly app: AppDatabase
  readonly postgres: Pick<Postgres, 'pool'>
}

/** False where it is no longer to be, or another process was first. */
export function endSubscription(
  { app, postgres }: Ending,
  disabled: Disabled,
  isOver: (transaction: AppDatabase, held: Subscription) => boolean | Promise<boolean>,
): Promise<boolean> {
  const { webhookId, owner, reason } = disabled
  return app.transaction().execute(async (transaction) => {
    await lockPositionOf(transaction, postgres, disabled)
    const held = await findSubscription(transaction, webhookId, owner, true)
    if (!held || !(await isOver(transaction, held))) return false
    const first = await withdrawQueued(transaction, webhookId)
    await changeSubscription(transaction, webhookId, {
      ...{ status: 'disabled', disabledReason: reason, disabledFrom: first },
    })
    await tellInTransaction(transaction, postgres, disabled)
    return true
  })
}
