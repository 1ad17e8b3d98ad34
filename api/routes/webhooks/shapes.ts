/** Shapes of webhooks: subscriptions, deliveries, and what is asked of them. */

import * as s from '#http/schema.ts'
import { isRecord } from '#primitives.ts'
import { type Delivery, deliveryStatuses } from '#rows/webhooks/deliveries.ts'
import {
  type Context,
  finalities,
  orderings,
  type Subscription,
  statuses,
} from '#rows/webhooks/subscriptions.ts'
import { parseExact } from '#transform/decode/exactJson.ts'
import { eventTypeNames } from '#webhooks/events/index.ts'
import type { Missed } from '#webhooks/turn.ts'
import type { Tried } from '#webhooks/Webhooks.ts'
import { iso } from '../orgs/shapes.ts'

/** Postgres keeps no text with a zero byte. */
const storable = '^[^\\u0000]*$'
const URL_CHARACTERS_MAX = 2_048

const url = s.text({ maxLength: URL_CHARACTERS_MAX, pattern: storable })
const token = s.text({ minLength: 1, maxLength: 512, pattern: storable })

export const destination = s.union([
  s.object({ type: s.literal('url'), url }),
  s.object({ type: s.literal('slack'), url }),
  s.object({ type: s.literal('betterstack'), url, token }),
])

export const eventType = s.oneOf(eventTypeNames)
export const status = s.oneOf(statuses)
export const finality = s.oneOf(finalities, {
  description:
    '`latest`: as soon as a block is held, and retracted if it is replaced. `finalized`: once it cannot be.',
})
export const ordering = s.oneOf(orderings, {
  description: '`strict`: one delivery at a time, each until it is taken or given up.',
})

/** Entries, and characters, of labels that every event carries. */
const LABELS_MAX = 20
const LABEL_NAME = '^[^\\u0000]{1,64}$'

const labels = s.shown<Record<string, string>>({
  type: 'object',
  additionalProperties: s.text({ maxLength: 500, pattern: storable }),
  propertyNames: { type: 'string', pattern: LABEL_NAME },
  maxProperties: LABELS_MAX,
})

export const context = s.object({
  title: s.optional(s.text({ maxLength: 120, pattern: storable })),
  description: s.optional(s.text({ maxLength: 500, pattern: storable })),
  metadata: s.optional(labels),
})

/** By event type; what is not understood is refused with `filters_invalid`. */
export const filters = s.foreign('Filters of the event type.')

const members = {
  id: s.text(),
  chainId: s.count,
  eventType,
  destination: s.foreign('Where events go; tokens and the path of a chat are redacted.'),
  filters,
  status,
  disabledReason: s.optional(
    s.text({ description: '`requested`, `failing`, `gone`, `backlog` or `expired`.' }),
  ),
  failureCount: s.integer({ minimum: 0, description: 'Failures in a row, up to 100.' }),
  context: s.optional(context),
  finality,
  ordering,
  activeFromBlock: s.integer({
    minimum: 0,
    description: 'First block whose events it gets by its present filters.',
  }),
  lastDeliveryAt: s.optional(s.timestamp),
  expiresAt: s.optional(s.timestamp),
  createdAt: s.timestamp,
  updatedAt: s.timestamp,
}

export const webhook = s.named('Webhook', members)
export const newWebhook = s.named('NewWebhook', {
  ...members,
  secret: s.text({ pattern: '^whsec_', description: 'Signs deliveries. Shown this once.' }),
})
export const changedWebhook = s.named('ChangedWebhook', {
  ...members,
  missedBlocks: s.optional(
    s.object(
      { from: s.count, to: s.count },
      { description: 'Blocks that passed while it was disabled; a replay sends their events.' },
    ),
  ),
})

export const tried = s.named('PingResult', {
  delivered: s.boolean(),
  eventId: s.text(),
  responseStatus: s.optional(s.integer()),
  responseMs: s.optional(s.count),
  error: s.optional(s.text()),
})

const deliveryMembers = {
  id: s.text(),
  subscriptionId: s.text(),
  eventId: s.text(),
  attempt: s.integer({ minimum: 1 }),
  status: s.oneOf(deliveryStatuses),
  createdAt: s.timestamp,
  requestUrl: s.text(),
  responseMs: s.optional(s.count),
  responseStatus: s.optional(s.integer()),
  error: s.optional(s.text()),
}
export const delivery = s.named('WebhookDelivery', deliveryMembers)
export const deliveryDetail = s.named('WebhookDeliveryDetail', {
  ...deliveryMembers,
  envelope: s.foreign('The JSON that was signed and sent.'),
})

/** A member of an object where there is a value, nothing where there is none. */
const some = <Name extends string, Value>(key: Name, value: Value | null | undefined) =>
  (value === null || value === undefined ? {} : { [key]: value }) as { readonly [K in Name]?: Value }

const plainContext = ({ title, description, metadata }: Context) => ({
  ...some('title', title),
  ...some('description', description),
  ...some('metadata', metadata && { ...metadata }),
})

export const presentWebhook = (one: Subscription) => ({
  id: one.id,
  chainId: one.chainId,
  eventType: eventTypeNames.find((name) => name === one.eventType) ?? 'block:created',
  destination: one.destination,
  filters: one.filters,
  status: one.status,
  ...some('disabledReason', one.disabledReason),
  failureCount: one.failureCount,
  ...some('context', one.context && plainContext(one.context)),
  finality: one.finality,
  ordering: one.ordering,
  activeFromBlock: one.activeFrom,
  ...some('lastDeliveryAt', one.lastDeliveryAt && iso(one.lastDeliveryAt)),
  ...some('expiresAt', one.expiresAt && iso(one.expiresAt)),
  createdAt: iso(one.createdAt),
  updatedAt: iso(one.updatedAt),
})

export const presentChange = (one: {
  readonly subscription: Subscription
  readonly missed: Missed | null
}) => ({
  ...presentWebhook(one.subscription),
  ...some('missedBlocks', one.missed && { ...one.missed }),
})

export const presentTried = ({ succeeded, eventId, responseStatus, responseMs, error }: Tried) => ({
  delivered: succeeded,
  eventId,
  ...some('responseStatus', responseStatus),
  ...some('responseMs', responseMs),
  ...some('error', error),
})

export const presentDelivery = (one: Delivery) => ({
  id: one.id,
  subscriptionId: one.subscriptionId,
  eventId: one.eventId,
  attempt: one.attempt,
  status: deliveryStatuses.find((name) => name === one.status) ?? 'pending',
  createdAt: iso(one.createdAt),
  requestUrl: one.requestUrl,
  ...some('responseMs', one.responseMs),
  ...some('responseStatus', one.responseStatus),
  ...some('error', one.error),
})

/** The envelope is our own JSON. */
export function parseEnvelope(text: string): object {
  const envelope: unknown = parseExact(text)
  return isRecord(envelope) ? envelope : {}
}
