/** /v1/webhooks: subscriptions of the organization that a key belongs to. */

import { command, endpoint } from '#http/endpoint.ts'
import { ApiError } from '#http/errors.ts'
import { listEndpoint } from '#http/listEndpoint.ts'
import { openToAll } from '#http/request/access.ts'
import { chainParameter, reachOf, selectChain } from '#http/request/chain.ts'
import { type ListPage, type ListResult, webhookPageRules } from '#http/request/pagination.ts'
import * as s from '#http/schema.ts'
import { countSubscriptions, listSubscriptions, type Target } from '#rows/webhooks/subscriptions.ts'
import { buyerOf } from '#rows/webhooks/terms.ts'
import { eventTypes } from '#webhooks/events/index.ts'
import type { SubscriptionRequest } from '#webhooks/Webhooks.ts'
import {
  enabled,
  type Holder,
  holderOf,
  refusing,
  subscriptionOf,
  type WebhookOperations,
  type WebhookServices,
  webhookErrors,
  webhookId,
  webhooksRead,
  webhooksSold,
  webhooksWrite,
} from './access.ts'
import { anyFilters, newSubscription } from './filterSchemas.ts'
import {
  changedWebhook,
  context,
  destination,
  eventType,
  filters,
  finality,
  newWebhook,
  ordering,
  presentChange,
  presentTried,
  presentWebhook,
  status,
  tried,
  webhook,
} from './shapes.ts'

const bodyErrors = ['url_invalid', 'filters_invalid'] as const

export const listEventTypesEndpoint = endpoint({
  path: '/v1/webhooks/event-types',
  summary: 'Events that can be subscribed to.',
  chain: 'none',
  access: openToAll,
  errors: ['webhooks_not_enabled'],
  response: s.object({
    data: s.array(
      s.object({
        type: s.text(),
        description: s.text(),
        extension: s.optional(s.boolean({ description: 'True for what the contract does not have.' })),
      }),
    ),
  }),
  read: (_call, services: WebhookServices) => {
    enabled(services)
    return eventTypes.map(({ type, description, isExtension }) => ({
      ...{ type, description },
      ...(isExtension && { extension: true }),
    }))
  },
  present: (data) => ({ data }),
  cache: 'none',
})

/** The members beside the event type and its filters. */
const newMembers = {
  destination,
  chainId: s.optional(s.union([s.oneOf(['mainnet', 'testnet']), s.integer({ minimum: 1 })])),
  context: s.optional(context),
  finality: s.optional(finality),
  ordering: s.optional(ordering),
}

const newBody = s.object({ eventType, filters: s.optional(filters), ...newMembers })

/** The common part of the operations that subscribe. */
export const creation = {
  method: 'POST',
  summary: 'Subscribe to events. The secret that signs deliveries is in this answer and nowhere else.',
  errors: [
    'webhooks_not_enabled',
    'chain_id_unsupported',
    'organization_not_found',
    'limit_exceeded',
    'rate_limit_exceeded',
    'coverage_incomplete',
    ...bodyErrors,
  ],
  body: newBody,
  bodyTold: newSubscription(newMembers),
  response: newWebhook,
  present: ({ subscription, secret }: Awaited<ReturnType<typeof create>>) => ({
    ...presentWebhook(subscription),
    secret,
  }),
} as const

/** @throws ApiError */
export const create = (operations: WebhookOperations, holder: Holder, body: s.Static<typeof newBody>) =>
  refusing(() => operations.run.create(askedOf(operations, holder, body)))

/** @throws ApiError */
function askedOf(
  { chains }: WebhookOperations,
  { owner, payment, caller }: Holder,
  body: s.Static<typeof newBody>,
): SubscriptionRequest {
  const asked = body.chainId === undefined ? undefined : chainNamed(body.chainId)
  return {
    ...{ owner, payment },
    chainId: selectChain(asked, chains, caller, ['body', 'chainId']),
    eventType: body.eventType,
    target: targetOf(body.destination),
    filters: body.filters,
    context: body.context ?? null,
    finality: body.finality ?? 'latest',
    ordering: body.ordering ?? 'none',
  }
}

export const createWebhookEndpoint = command({
  ...creation,
  path: '/v1/webhooks',
  description:
    'Without a key it is paid for (402): the subscription belongs to the account that pays, for 30 days.',
  access: webhooksSold,
  assertAnswerable: async ({ body, caller }, services: WebhookServices) => {
    const operations = enabled(services)
    const unknown = { owner: '', payment: null, caller }
    await refusing(() => operations.run.check(askedOf(operations, unknown, body)))
  },
  run: async ({ body, caller }, services: WebhookServices) =>
    create(enabled(services), holderOf(caller), body),
})

export const renewWebhookEndpoint = command({
  path: '/v1/webhooks/{id}/renew',
  method: 'POST',
  summary:
    'Thirty days more of a subscription that was paid for, whoever pays. Those of an organization have no end.',
  params: { id: webhookId },
  access: webhooksSold,
  errors: [...webhookErrors, 'payment_required'],
  // It may be left out; discovery wants a POST that asks for a payment to declare one.
  body: s.object({}),
  response: s.object({ id: s.text(), expiresAt: s.optional(s.timestamp) }),
  assertAnswerable: async ({ path: { id } }, services: WebhookServices) => {
    if ((await buyerOf(enabled(services).app, id)) === null) throw new ApiError('webhook_not_found')
  },
  run: async ({ path: { id }, caller }, services: WebhookServices) => {
    const operations = enabled(services)
    const holder = holderOf(caller)
    const { payment } = holder
    const renewed =
      payment === null
        ? await subscriptionOf(operations, holder, id)
        : await operations.run.renew(id, payment)
    if (!renewed) throw new ApiError('webhook_not_found')
    return renewed
  },
  present: ({ id, expiresAt }) => ({
    id,
    ...(expiresAt && { expiresAt: s.isoSeconds(expiresAt.getTime() / 1_000) }),
  }),
})

export const listWebhooksEndpoint = listEndpoint({
  path: '/v1/webhooks',
  summary: 'Subscriptions, the newest first.',
  chain: 'none',
  access: webhooksRead,
  errors: ['webhooks_not_enabled', 'rate_limit_exceeded'],
  include: ['totalCount'],
  pages: webhookPageRules,
  cache: 'none',
  owned: true,
  item: webhook,
  list: ({ page, caller }, services: WebhookServices) => {
    const { app } = enabled(services)
    const { owner } = holderOf(caller)
    const reach = reachOf(caller)
    return ownedPage(
      page,
      (asked) => listSubscriptions(app, owner, asked, reach),
      () => countSubscriptions(app, owner, reach),
    )
  },
  present: presentWebhook,
})

export const readWebhookEndpoint = endpoint({
  path: '/v1/webhooks/{id}',
  summary: 'One subscription.',
  params: { id: webhookId },
  chain: 'none',
  access: webhooksRead,
  errors: webhookErrors,
  response: webhook,
  read: ({ path, caller }, services: WebhookServices) =>
    subscriptionOf(enabled(services), holderOf(caller), path.id),
  present: presentWebhook,
  cache: 'none',
})

const changeableMembers = {
  context: s.optional(s.nullable(context)),
  destination: s.optional(destination),
  status: s.optional(status),
}

export const changeWebhookEndpoint = command({
  path: '/v1/webhooks/{id}',
  method: 'PATCH',
  summary: 'Change a subscription. Filters are replaced as a whole; `context: null` removes the context.',
  params: { id: webhookId },
  access: webhooksWrite,
  errors: [...webhookErrors, ...bodyErrors],
  body: s.object({ ...changeableMembers, filters: s.optional(filters) }),
  bodyTold: s.object({ ...changeableMembers, filters: s.optional(anyFilters) }),
  response: changedWebhook,
  run: async ({ path, caller, body }, services: WebhookServices) => {
    const operations = enabled(services)
    const holder = holderOf(caller)
    await subscriptionOf(operations, holder, path.id)
    const { context: given, destination: to, filters: wanted, status: turned } = body
    const changed = await refusing(() =>
      operations.run.change(path.id, holder.owner, {
        ...(given !== undefined && { context: given }),
        ...(to && { target: targetOf(to) }),
        ...(wanted && { filters: wanted }),
        ...(turned && { status: turned }),
      }),
    )
    if (!changed) throw new ApiError('webhook_not_found')
    return changed
  },
  present: presentChange,
})

export const deleteWebhookEndpoint = command({
  path: '/v1/webhooks/{id}',
  method: 'DELETE',
  summary: 'End a subscription; nothing more is sent within a second.',
  params: { id: webhookId },
  access: webhooksWrite,
  errors: webhookErrors,
  response: s.object({ id: s.text() }),
  run: async ({ path, caller }, services: WebhookServices) => {
    const operations = enabled(services)
    const holder = holderOf(caller)
    await subscriptionOf(operations, holder, path.id)
    if (!(await operations.run.delete(path.id, holder.owner))) throw new ApiError('webhook_not_found')
    return { id: path.id }
  },
  present: (deleted) => deleted,
})

export const pingWebhookEndpoint = command({
  path: '/v1/webhooks/{id}/ping',
  method: 'POST',
  summary: 'Send a synthetic event now, whatever the status, and say what became of it.',
  params: { id: webhookId },
  access: webhooksWrite,
  errors: webhookErrors,
  // It may be left out; discovery wants a POST that asks for a payment to declare one.
  body: s.object({}),
  response: tried,
  run: async ({ path, caller, signal }, services: WebhookServices) => {
    const operations = enabled(services)
    return operations.run.ping(await subscriptionOf(operations, holderOf(caller), path.id), signal)
  },
  present: presentTried,
})

export const rotateSecretEndpoint = command({
  path: '/v1/webhooks/{id}/rotate-secret',
  method: 'POST',
  summary: 'Exchange the secret. For 24 hours both sign; `force` ends an exchange that is under way.',
  params: { id: webhookId },
  access: webhooksWrite,
  errors: [...webhookErrors, 'rotation_under_way'],
  body: s.object({ force: s.optional(s.boolean()) }),
  response: newWebhook,
  run: async ({ path, caller, body }, services: WebhookServices) => {
    const operations = enabled(services)
    await subscriptionOf(operations, holderOf(caller), path.id)
    const secret = await operations.run.rotate(path.id, body.force ?? false)
    return { subscription: await subscriptionOf(operations, holderOf(caller), path.id), secret }
  },
  present: ({ subscription, secret }) => ({ ...presentWebhook(subscription), secret }),
})

/** The newest first; a place in the list is the id of the row before it. */
export async function ownedPage<Row extends { readonly id: string }>(
  { position, offset, limit, wantTotal }: ListPage,
  list: (asked: {
    readonly before?: string
    readonly offset: number
    readonly limit: number
  }) => Promise<Row[]>,
  count: () => Promise<number>,
): Promise<ListResult<Row>> {
  const [before] = position ?? []
  const rows = await list({ ...(typeof before === 'string' && { before }), offset, limit: limit + 1 })
  const shown = rows.slice(0, limit)
  const last = shown.at(-1)
  return {
    rows: shown,
    next: rows.length > limit && last ? [last.id] : null,
    ...(wantTotal && { totalCount: await count() }),
  }
}

/** A member that is not given is no member. */
const targetOf = (given: Target): Target => ({
  type: given.type,
  url: given.url,
  ...(given.token !== undefined && { token: given.token }),
})

const chainNamed = (named: 'mainnet' | 'testnet' | number): number =>
  typeof named === 'number' ? named : chainParameter.parse(named)
