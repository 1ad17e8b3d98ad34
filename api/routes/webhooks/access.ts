/** Access to webhooks, and the owner of each. */

import { EgressRefusedError } from '#egress/errors.ts'
import { ApiError, type ErrorCode, type RequestProblem } from '#http/errors.ts'
import type { AccessRule, Caller } from '#http/request/access.ts'
import { assertReached, type ChainCaller } from '#http/request/chain.ts'
import * as p from '#http/request/parameter.ts'
import type { AppDatabase } from '#rows/database.ts'
import { findSubscription, type Subscription } from '#rows/webhooks/subscriptions.ts'
import { DestinationError } from '#webhooks/destinations.ts'
import { FiltersError } from '#webhooks/filters/operators.ts'
import type { Replays } from '#webhooks/replay/Replays.ts'
import type { Webhooks } from '#webhooks/Webhooks.ts'
import { type AccountServices, assertRole } from '../orgs/accounts.ts'

export interface WebhookServices extends AccountServices {
  /** Null where the operator wants none. */
  readonly webhooks: WebhookOperations | null
}

export interface WebhookOperations {
  readonly app: AppDatabase
  readonly run: Webhooks
  readonly replays: Replays
  readonly chains: readonly number[]
}

/** The scope that payers buy: a subscription for 30 days. */
export const WEBHOOKS_SCOPE = 'webhooks:write'

const ofPayers = { scope: WEBHOOKS_SCOPE, what: 'proof' } as const
export const webhooksRead: AccessRule = {
  ...{ who: 'key', scope: 'webhooks:read', payable: false, buyers: ofPayers },
}
export const webhooksWrite: AccessRule = {
  ...{ who: 'key', scope: WEBHOOKS_SCOPE, payable: false, buyers: ofPayers },
}
/** The same for callers with a key; others pay for it. */
export const webhooksSold: AccessRule = {
  ...{ who: 'key', scope: WEBHOOKS_SCOPE, payable: false },
  buyers: { scope: WEBHOOKS_SCOPE, what: 'price' },
}

/** Longer texts are no ids of ours. */
const ID_CHARACTERS_MAX = 64
export const webhookId = p.described(p.text(ID_CHARACTERS_MAX), 'Subscription, `wh_…`.')
export const deliveryId = p.described(p.text(ID_CHARACTERS_MAX), 'Delivery, `whd_…`.')

export const webhookErrors = [
  'webhooks_not_enabled',
  'webhook_not_found',
  'rate_limit_exceeded',
] as const satisfies readonly ErrorCode[]

/** @throws ApiError webhooks_not_enabled */
export function enabled({ webhooks }: WebhookServices): WebhookOperations {
  if (!webhooks) throw new ApiError('webhooks_not_enabled')
  return webhooks
}

/** For a person of the organization in the path. @throws ApiError */
export async function enabledFor(
  services: WebhookServices,
  call: Parameters<typeof assertRole>[1],
  role: Parameters<typeof assertRole>[2],
): Promise<WebhookOperations> {
  const operations = enabled(services)
  await assertRole(services.accounts, call, role)
  return operations
}

/** To whom webhooks belong, and the chains on which its caller reaches them. */
export interface Holder {
  /** Id of an organization, or address of an account that pays. */
  readonly owner: string
  readonly caller: ChainCaller
  /** Id of what pays for the request; null for what is not sold to it. */
  readonly payment: string | null
}

/**
 * The organization behind a key, or the account that pays; a person names theirs in the path.
 * @throws ApiError
 */
export function holderOf(caller: Caller): Holder {
  const { owner } = caller
  if (owner?.kind === 'project') return { owner: owner.orgId, caller, payment: null }
  if (owner?.kind === 'payer') return { owner: owner.address, caller, payment: owner.payment }
  throw new ApiError('forbidden', 'Name the organization: /v1/orgs/{orgId}/webhooks.')
}

/** The organization in the path, for its people. */
export const holderIn = ({
  path,
  caller,
}: {
  readonly path: { readonly orgId: string }
  readonly caller: Caller
}): Holder => ({ owner: path.orgId, caller, payment: null })

/** @throws ApiError webhook_not_found for one of another owner too, api_key_forbidden */
export async function subscriptionOf(
  { app }: WebhookOperations,
  { owner, caller }: Holder,
  id: string,
): Promise<Subscription> {
  const found = await findSubscription(app, id, owner)
  if (!found) throw new ApiError('webhook_not_found')
  assertReached(found.chainId, caller)
  return found
}

/** Tells a problem of a body with its place in it. */
export async function refusing<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof FiltersError)
      throw refusal('filters_invalid', ['filters', ...error.problem.path], error.problem.message)
    if (error instanceof DestinationError)
      throw refusal('url_invalid', ['destination', error.member], error.message)
    if (error instanceof EgressRefusedError)
      throw refusal('url_invalid', ['destination', 'url'], problemOf(error))
    throw error
  }
}

const problemOf = ({ reason }: EgressRefusedError): string =>
  reason === 'unresolved' ? 'has a host that does not resolve' : 'leads where this service does not go'

function refusal(code: ErrorCode, path: readonly string[], message: string): ApiError {
  const problem: RequestProblem = { path: ['body', ...path], message }
  return new ApiError(code, `Not valid: ${problem.path.join('.')} ${message}.`, { details: [problem] })
}
