/** Consequences of a disabled subscription: where it stopped, and who wants to know. */
import { randomBytes } from 'node:crypto'
import type { AppDatabase } from '#rows/database.ts'
import { insertMessages } from '#rows/webhooks/messages.ts'
import type { Disabled } from '#rows/webhooks/outcomes.ts'
import { lockPosition, subscriptionsChanged } from '#rows/webhooks/positions.ts'
import { markDisabledFrom, readEventType, subscribersTo } from '#rows/webhooks/subscriptions.ts'
import type { Postgres } from '#store/postgres.ts'
import { headPlace, type StreamOf } from '#store/read/pieces.ts'
import { schemaOf } from '#store/sql.ts'
import { findEventType } from '../events/index.ts'
import { webhookDisabled } from '../events/notices.ts'

export async function tellDisabled(
  { app, postgres }: { readonly app: AppDatabase; readonly postgres: Pick<Postgres, 'pool'> },
  disabled: readonly Disabled[],
): Promise<void> {
  for (const one of disabled)
    await app.transaction().execute((transaction) => tellInTransaction(transaction, postgres, one))
}

export async function tellInTransaction(
  transaction: AppDatabase,
  postgres: Pick<Postgres, 'pool'>,
  disabled: Disabled,
): Promise<void> {
  const { webhookId, owner, reason } = disabled
  const { of, number, eventType } = await lockPositionOf(transaction, postgres, disabled)
  const fromBlock = await markDisabledFrom(transaction, webhookId, number + 1)
  await subscriptionsChanged(transaction, of)
  const receivers = await subscribersTo(transaction, owner, webhookDisabled.type)
  const eventId = `evt_${randomBytes(32).toString('hex')}`
  const data = JSON.stringify({ subscriptionId: webhookId, eventType, reason, fromBlock })
  await insertMessages(
    transaction,
    receivers
      .filter((id) => id !== webhookId)
      .map((id) => ({
        ...{ webhookId: id, eventId, type: webhookDisabled.type, data },
        ...{ block: null, index: 0, waitsForFinality: false },
      })),
  )
}

/** The position of a subscription's events, locked until the transaction ends. */
export async function lockPositionOf(
  transaction: AppDatabase,
  { pool }: Pick<Postgres, 'pool'>,
  { webhookId, chainId }: Pick<Disabled, 'webhookId' | 'chainId'>,
): Promise<{ readonly of: StreamOf; readonly number: number; readonly eventType: string }> {
  const eventType = await readEventType(transaction, webhookId)
  const of = { chainId, stream: findEventType(eventType)?.stream ?? 'blocks' }
  const { number } = await lockPosition(transaction, of, () => headPlace(pool, schemaOf(chainId)))
  return { of, number, eventType }
}
