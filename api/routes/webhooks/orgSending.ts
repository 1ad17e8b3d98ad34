/** /v1/orgs/{orgId}/webhooks: what admins have sent: pings, deliveries once more, and replays. */

import { command, endpoint } from '#http/endpoint.ts'
import { management } from '#http/request/access.ts'
import { orgErrors, orgId } from '../orgs/accounts.ts'
import {
  deliveryId,
  enabledFor,
  holderIn,
  subscriptionOf,
  type WebhookServices,
  webhookId,
} from './access.ts'
import { deliveryOf } from './deliveries.ts'
import {
  endReplay,
  presentProgress,
  replay,
  replayErrors,
  replayOf,
  replayStart,
  startReplay,
} from './replay.ts'
import { presentTried, tried } from './shapes.ts'

const errors = [...orgErrors, 'webhooks_not_enabled', 'webhook_not_found'] as const
const replayPath = '/v1/orgs/{orgId}/webhooks/{id}/replay'
const params = { orgId, id: webhookId }

export const pingOrgWebhookEndpoint = command({
  path: '/v1/orgs/{orgId}/webhooks/{id}/ping',
  method: 'POST',
  summary: 'Send a synthetic event now. For admins.',
  params,
  access: management,
  errors,
  response: tried,
  run: async (call, services: WebhookServices) => {
    const operations = await enabledFor(services, call, 'admin')
    const subscription = await subscriptionOf(operations, holderIn(call), call.path.id)
    return operations.run.ping(subscription, call.signal)
  },
  present: presentTried,
})

export const retryOrgDeliveryEndpoint = command({
  path: '/v1/orgs/{orgId}/webhooks/{id}/deliveries/{deliveryId}/retry',
  method: 'POST',
  summary: 'Send what was sent once more, now. For admins.',
  params: { ...params, deliveryId },
  access: management,
  errors: [...errors, 'delivery_not_found', 'delivery_pending'],
  response: tried,
  run: async (call, services: WebhookServices) => {
    const operations = await enabledFor(services, call, 'admin')
    const holder = holderIn(call)
    const found = await deliveryOf(operations, holder, call.path)
    return operations.run.retry(await subscriptionOf(operations, holder, call.path.id), found, call.signal)
  },
  present: presentTried,
})

export const startOrgReplayEndpoint = command({
  ...replayStart,
  path: replayPath,
  params,
  access: management,
  errors: [...errors, ...replayErrors],
  run: async (call, services: WebhookServices) => {
    const operations = await enabledFor(services, call, 'admin')
    return startReplay(operations, holderIn(call), call.path.id, call.body, call.signal)
  },
})

export const readOrgReplayEndpoint = endpoint({
  path: replayPath,
  summary: 'How far the newest replay has come.',
  params,
  chain: 'none',
  access: management,
  errors: [...errors, 'replay_not_found'],
  response: replay,
  read: async (call, services: WebhookServices) => {
    const operations = await enabledFor(services, call, 'member')
    return replayOf(operations, holderIn(call), call.path.id)
  },
  present: presentProgress,
  cache: 'none',
})

export const endOrgReplayEndpoint = command({
  path: replayPath,
  method: 'DELETE',
  summary: 'End the replay that is under way. For admins.',
  params,
  access: management,
  errors: [...errors, 'replay_not_found'],
  response: replay,
  run: async (call, services: WebhookServices) => {
    const operations = await enabledFor(services, call, 'admin')
    return endReplay(operations, holderIn(call), call.path.id)
  },
  present: presentProgress,
})
