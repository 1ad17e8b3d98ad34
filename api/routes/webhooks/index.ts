/** Every operation on webhooks. */
import type { Endpoint } from '#http/endpoint.ts'
import type { WebhookServices } from './access.ts'
import { listDeliveriesEndpoint, readDeliveryEndpoint, retryDeliveryEndpoint } from './deliveries.ts'
import {
  endOrgReplayEndpoint,
  pingOrgWebhookEndpoint,
  readOrgReplayEndpoint,
  retryOrgDeliveryEndpoint,
  startOrgReplayEndpoint,
} from './orgSending.ts'
import {
  changeOrgWebhookEndpoint,
  createOrgWebhookEndpoint,
  deleteOrgWebhookEndpoint,
  listOrgDeliveriesEndpoint,
  listOrgWebhooksEndpoint,
  readOrgDeliveryEndpoint,
} from './orgWebhooks.ts'
import { endReplayEndpoint, readReplayEndpoint, startReplayEndpoint } from './replay.ts'
import {
  changeWebhookEndpoint,
  createWebhookEndpoint,
  deleteWebhookEndpoint,
  listEventTypesEndpoint,
  listWebhooksEndpoint,
  pingWebhookEndpoint,
  readWebhookEndpoint,
  renewWebhookEndpoint,
  rotateSecretEndpoint,
} from './subscriptions.ts'

export const webhookEndpoints: readonly Endpoint<WebhookServices>[] = [
  listEventTypesEndpoint,
  listWebhooksEndpoint,
  createWebhookEndpoint,
  readWebhookEndpoint,
  changeWebhookEndpoint,
  deleteWebhookEndpoint,
  pingWebhookEndpoint,
  rotateSecretEndpoint,
  renewWebhookEndpoint,
  listDeliveriesEndpoint,
  readDeliveryEndpoint,
  retryDeliveryEndpoint,
  startReplayEndpoint,
  readReplayEndpoint,
  endReplayEndpoint,
  listOrgWebhooksEndpoint,
  createOrgWebhookEndpoint,
  changeOrgWebhookEndpoint,
  deleteOrgWebhookEndpoint,
  listOrgDeliveriesEndpoint,
  readOrgDeliveryEndpoint,
  pingOrgWebhookEndpoint,
  retryOrgDeliveryEndpoint,
  startOrgReplayEndpoint,
  readOrgReplayEndpoint,
  endOrgReplayEndpoint,
]
