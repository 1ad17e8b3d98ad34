/** What follows when a subscription was disabled: where it stopped, and who wants to know. */
import { randomBytes } from 'node:crypto'
import type { AppDatabase } from '#store/app/database.ts'
import type { Postgres } from '#store/postgres.ts'
import { schemaOf } from '#store/sql.ts'
import { insertMessages } from '#store/webhooks/messages.ts'
import type { Disabled } from '#store/webhooks/outcomes.ts'
import { headPlace } from '#store/webhooks/pieces.ts'
import { lockPosition, subscriptionsChanged } from '#store/webhooks/positions.ts'
import { markDisabledFrom, readEventType, subscribersTo } from '#store/webhooks/subscriptions.ts'
import { findEventType } from '../events/index.ts'
import { webhookDisabled } from '../events/notices.ts'

export async function tellDisabled(
  { app, postgres }: { readonly app: AppDatabase; readonly postgres: Pick<Postgres, 'pool'> },
  disabled: readonly Disabled[],
): Promise<void> {
  for (const { webhookId, owner, chainId, reason } of disabled)
    await app.transaction().execute(async (transaction) => {
      const eventType = await readEventType(transaction, webhookId)
      const of = { chainId, stream: findEventType(eventType)?.stream ?? 'blocks' }
      const { number } = await lockPosition(transaction, of, () =>
        headPlace(postgres.pool, schemaOf(chainId)),
      )
      await markDisabledFrom(transaction, webhookId, number + 1)
      await subscriptionsChanged(transaction, of)
      const receivers = await subscribersTo(transaction, owner, webhookDisabled.type)
      const eventId = `evt_${randomBytes(32).toString('hex')}`
      const data = JSON.stringify({ subscriptionId: webhookId, eventType, reason, fromBlock: number + 1 })
      await insertMessages(
        transaction,
        receivers
          .filter((id) => id !== webhookId)
          .map((id) => ({
            ...{ webhookId: id, eventId, type: webhookDisabled.type, data },
            ...{ block: null, index: 0, waitsForFinality: false },
          })),
      )
    })
}
