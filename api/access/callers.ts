/** The sides that ask, as values: what a credential, or none, makes of a request. */

import { ApiError } from '#http/errors.ts'
import type { Caller } from '#http/request/access.ts'
import type { ApiKey } from '#rows/access/keys.ts'
import { addressGroup, addressList } from './clientAddress.ts'
import type { Quota } from './Quotas.ts'
import { everyScope, scopeNames } from './scopes.ts'
import type { QuotaSizes } from './settings.ts'

/** A caller, and the quotas that a request of it counts against. */
export interface CountedCaller extends Caller {
  /** Empty where nothing is counted. */
  readonly quotasOf: (scope: string, remoteAddress: string, sizes: QuotaSizes) => readonly Quota[]
}

const everything: ReadonlySet<string> = new Set([everyScope])
const ofPeople: ReadonlySet<string> = new Set(scopeNames)

/** Without a credential: a network address, which shares a quota with its neighbours. */
export function stranger(remoteAddress: string, isOperator: boolean): CountedCaller {
  const id = `ip:${addressGroup(remoteAddress)}`
  return {
    id,
    kind: 'anonymous',
    environment: 'production',
    owner: null,
    userId: null,
    scopes: new Set(),
    chains: null,
    isOperator,
    quotasOf: (scope, _address, { address }) => [{ subject: `${id}:${scope}`, limit: address }],
  }
}

/**
 * The person at the machine of a service that is open to it: uncounted, and at home in the default
 * organization.
 */
export const operator = (ids: {
  readonly orgId: string
  readonly projectId: string
  readonly userId: string
}): CountedCaller => ({
  id: 'operator',
  kind: 'operator',
  environment: 'production',
  owner: { kind: 'project', orgId: ids.orgId, projectId: ids.projectId },
  userId: ids.userId,
  scopes: everything,
  chains: null,
  isOperator: true,
  quotasOf: () => [],
})

/** A signed-in person. */
export const person = (userId: string): CountedCaller => ({
  id: userId,
  kind: 'session',
  environment: 'production',
  owner: null,
  userId,
  scopes: ofPeople,
  chains: null,
  isOperator: false,
  quotasOf: (scope, _address, { key, person: limit }) => [
    { subject: `user:${userId}:${scope}`, limit: scope === 'management' ? limit : key },
  ],
})

/** A key, made once for as long as its verdict lasts. */
export class KeyCaller implements CountedCaller {
  readonly id: string
  readonly kind = 'key'
  readonly environment: Caller['environment']
  readonly owner: Caller['owner']
  readonly userId = null
  readonly scopes: ReadonlySet<string>
  readonly chains: ReadonlySet<number> | null
  readonly isOperator: boolean
  readonly #key: ApiKey
  readonly #mayComeFrom: ((address: string) => boolean) | null

  constructor(key: ApiKey) {
    this.id = key.id
    this.environment = key.environment
    this.owner = { kind: 'project', orgId: key.orgId, projectId: key.projectId }
    this.scopes = new Set(key.scopes)
    this.chains = key.chains && new Set(key.chains.map(Number))
    this.isOperator = this.scopes.has(everyScope)
    this.#key = key
    this.#mayComeFrom = key.allowedIps && addressList(key.allowedIps)
  }

  /** @throws ApiError where the key may not be used from there, or its time is over */
  assertUsable(remoteAddress: string, origin: string | undefined, nowMs: number): void {
    const { expiresAt, origins } = this.#key
    if (expiresAt && expiresAt.getTime() <= nowMs) throw new ApiError('api_key_invalid')
    if (this.#mayComeFrom && !this.#mayComeFrom(remoteAddress)) throw new ApiError('api_key_ip_forbidden')
    if (origins && !(origin !== undefined && origins.includes(origin)))
      throw new ApiError('api_key_forbidden', 'The API key may not be used from this web origin.')
  }

  quotasOf(scope: string, remoteAddress: string, sizes: QuotaSizes): readonly Quota[] {
    const { id, orgId, quota, addressQuota } = this.#key
    const own = { subject: `key:${id}:${scope}`, limit: quota ?? sizes.key }
    const shared = { subject: `org:${orgId}`, limit: sizes.organization }
    if (addressQuota === null) return [own, shared]
    const group = addressGroup(remoteAddress)
    return [{ subject: `key:${id}:${scope}:${group}`, limit: addressQuota }, own, shared]
  }
}
