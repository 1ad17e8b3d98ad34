/** /v1/orgs/{orgId}/webhooks: the same subscriptions, for the members of their organization. */

import { command, endpoint } from '#http/endpoint.ts'
import { ApiError } from '#http/errors.ts'
import { listEndpoint } from '#http/listEndpoint.ts'
import { management } from '#http/request/access.ts'
import * as s from '#http/schema.ts'
import { BOUNDS } from '#rows/bounds.ts'
import { listSubscriptions } from '#rows/webhooks/subscriptions.ts'
import { orgErrors, orgId } from '../orgs/accounts.ts'
import { deliveryId, enabledFor, holderIn, type WebhookServices, webhookErrors, webhookId } from './access.ts'
import { deliveryList, deliveryOf, pageOfDeliveries, presentDetail } from './deliveries.ts'
import { changedWebhook, deliveryDetail, presentChange, presentWebhook, status, webhook } from './shapes.ts'
import { create, creation } from './subscriptions.ts'

const errors = [...orgErrors, 'webhooks_not_enabled', 'webhook_not_found'] as const

export const listOrgWebhooksEndpoint = endpoint({
  path: '/v1/orgs/{orgId}/webhooks',
  summary: 'Subscriptions of an organization, the newest first.',
  params: { orgId },
  chain: 'none',
  access: management,
  errors: [...orgErrors, 'webhooks_not_enabled'],
  response: s.object({ data: s.array(webhook) }),
  read: async (call, services: WebhookServices) => {
    const { app } = await enabledFor(services, call, 'member')
    return listSubscriptions(app, call.path.orgId, { offset: 0, limit: BOUNDS.webhooksOfOrganization })
  },
  present: (found) => ({ data: found.map(presentWebhook) }),
  cache: 'none',
})

export const createOrgWebhookEndpoint = command({
  ...creation,
  path: '/v1/orgs/{orgId}/webhooks',
  params: { orgId },
  access: management,
  errors: [...creation.errors, 'forbidden'],
  run: async (call, services: WebhookServices) =>
    create(await enabledFor(services, call, 'member'), holderIn(call), call.body),
})

export const changeOrgWebhookEndpoint = command({
  path: '/v1/orgs/{orgId}/webhooks/{id}',
  method: 'PATCH',
  summary: 'Activate, pause or disable a subscription. For admins.',
  params: { orgId, id: webhookId },
  access: management,
  errors,
  body: s.object({ status }),
  response: changedWebhook,
  run: async (call, services: WebhookServices) => {
    const { run } = await enabledFor(services, call, 'admin')
    const changed = await run.change(call.path.id, call.path.orgId, { status: call.body.status })
    if (!changed) throw new ApiError('webhook_not_found')
    return changed
  },
  present: presentChange,
})

export const deleteOrgWebhookEndpoint = command({
  path: '/v1/orgs/{orgId}/webhooks/{id}',
  method: 'DELETE',
  summary: 'End a subscription; nothing more is sent within a second. For admins.',
  params: { orgId, id: webhookId },
  access: management,
  errors,
  response: s.object({ id: s.text() }),
  run: async (call, services: WebhookServices) => {
    const { run } = await enabledFor(services, call, 'admin')
    if (!(await run.delete(call.path.id, call.path.orgId))) throw new ApiError('webhook_not_found')
    return { id: call.path.id }
  },
  present: (deleted) => deleted,
})

export const listOrgDeliveriesEndpoint = listEndpoint({
  ...deliveryList,
  path: '/v1/orgs/{orgId}/webhooks/{id}/deliveries',
  params: { orgId, id: webhookId },
  access: management,
  errors: [...webhookErrors, 'organization_not_found', 'forbidden'],
  list: async (call, services: WebhookServices) => {
    const operations = await enabledFor(services, call, 'member')
    return pageOfDeliveries(operations, holderIn(call), call.path.id, call)
  },
})

export const readOrgDeliveryEndpoint = endpoint({
  path: '/v1/orgs/{orgId}/webhooks/{id}/deliveries/{deliveryId}',
  summary: 'One attempt, with the envelope that was sent; kept for seven days.',
  params: { orgId, id: webhookId, deliveryId },
  chain: 'none',
  access: management,
  errors: [...errors, 'delivery_not_found'],
  response: deliveryDetail,
  read: async (call, services: WebhookServices) => {
    const operations = await enabledFor(services, call, 'member')
    return deliveryOf(operations, holderIn(call), call.path)
  },
  present: presentDetail,
  cache: 'none',
})
