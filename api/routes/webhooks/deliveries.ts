/** Attempts of a subscription: listed, read with what was sent, and repeated by hand. */

import { command, endpoint } from '#http/endpoint.ts'
import { ApiError } from '#http/errors.ts'
import { listEndpoint } from '#http/listEndpoint.ts'
import { type ListPage, webhookPageRules } from '#http/request/pagination.ts'
import * as p from '#http/request/parameter.ts'
import * as s from '#http/schema.ts'
import {
  countDeliveries,
  type DeliveryDetail,
  type DeliveryStatus,
  deliveryStatuses,
  findDelivery,
  listDeliveries,
} from '#rows/webhooks/deliveries.ts'
import {
  deliveryId,
  enabled,
  type Holder,
  holderOf,
  subscriptionOf,
  type WebhookOperations,
  type WebhookServices,
  webhookErrors,
  webhookId,
  webhooksRead,
  webhooksWrite,
} from './access.ts'
import { delivery, deliveryDetail, parseEnvelope, presentDelivery, presentTried, tried } from './shapes.ts'
import { ownedPage } from './subscriptions.ts'

/** The common part of both paths of this list. */
export const deliveryList = {
  summary: 'Attempts to deliver events, the newest first.',
  chain: 'none',
  filters: { status: p.described(p.oneOf(...deliveryStatuses), 'Attempts of this status alone.') },
  include: ['totalCount'],
  pages: webhookPageRules,
  cache: 'none',
  owned: true,
  item: delivery,
  present: presentDelivery,
} as const

interface AskedDeliveries {
  readonly page: ListPage
  readonly filters: { readonly status?: DeliveryStatus | undefined }
}

export async function pageOfDeliveries(
  operations: WebhookOperations,
  holder: Holder,
  id: string,
  { page, filters: { status } }: AskedDeliveries,
) {
  const { app } = operations
  await subscriptionOf(operations, holder, id)
  return ownedPage(
    page,
    (asked) => listDeliveries(app, id, asked, status),
    () => countDeliveries(app, id, status),
  )
}

/** @throws ApiError webhook_not_found, delivery_not_found */
export async function deliveryOf(
  operations: WebhookOperations,
  holder: Holder,
  path: { readonly id: string; readonly deliveryId: string },
): Promise<DeliveryDetail> {
  await subscriptionOf(operations, holder, path.id)
  const found = await findDelivery(operations.app, path.id, path.deliveryId)
  if (!found) throw new ApiError('delivery_not_found')
  return found
}

export const presentDetail = (found: DeliveryDetail) => ({
  ...presentDelivery(found),
  envelope: parseEnvelope(found.envelope),
})

export const listDeliveriesEndpoint = listEndpoint({
  ...deliveryList,
  path: '/v1/webhooks/{id}/deliveries',
  params: { id: webhookId },
  access: webhooksRead,
  errors: webhookErrors,
  list: (call, services: WebhookServices) =>
    pageOfDeliveries(enabled(services), holderOf(call.caller), call.path.id, call),
})

export const readDeliveryEndpoint = endpoint({
  path: '/v1/webhooks/{id}/deliveries/{deliveryId}',
  summary: 'One attempt, with the envelope that was sent; kept for seven days.',
  params: { id: webhookId, deliveryId },
  chain: 'none',
  access: webhooksRead,
  errors: [...webhookErrors, 'delivery_not_found'],
  response: deliveryDetail,
  read: ({ path, caller }, services: WebhookServices) =>
    deliveryOf(enabled(services), holderOf(caller), path),
  present: presentDetail,
  cache: 'none',
})

export const retryDeliveryEndpoint = command({
  path: '/v1/webhooks/{id}/deliveries/{deliveryId}/retry',
  method: 'POST',
  summary: 'Send what was sent once more, now.',
  params: { id: webhookId, deliveryId },
  access: webhooksWrite,
  errors: [...webhookErrors, 'delivery_not_found', 'delivery_pending'],
  // It may be left out; discovery wants a POST that asks for a payment to declare one.
  body: s.object({}),
  response: tried,
  run: async ({ path, caller, signal }, services: WebhookServices) => {
    const operations = enabled(services)
    const found = await deliveryOf(operations, holderOf(caller), path)
    const subscription = await subscriptionOf(operations, holderOf(caller), path.id)
    return operations.run.retry(subscription, found, signal)
  },
  present: presentTried,
})
