/**
 * The headers that do not depend on the route: what web pages of other origins may read, and what
 * browsers must not do.
 */

/** Headers of ours that a page's script may read. */
const exposedHeaders = [
  'svc-request-id',
  'svc-indexed-block',
  'svc-finalized-block',
  'svc-finality',
  'svc-lag-blocks',
  'svc-chain-local',
  'svc-history',
  'svc-reorged-from',
  'svc-source',
  'svc-native-from',
  'RateLimit-Limit',
  'RateLimit-Remaining',
  'RateLimit-Reset',
  'RateLimit-Scope',
  'Retry-After',
  'ETag',
  'Link',
  'WWW-Authenticate',
  'Payment-Receipt',
  'Payment-Session',
  'Payment-Session-Snapshot',
  'PAYMENT-REQUIRED',
  'PAYMENT-RESPONSE',
]

/** Pages of every origin may read the answer. It excludes credentials. */
export const everyOrigin = '*'

/** On every response. A URL can hold a key, so it is no referrer. */
export const fixedHeaders: Readonly<Record<string, string>> = {
  'access-control-expose-headers': exposedHeaders.join(', '),
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
}

/** Which pages may read the answer; one that is named is not the next one's. */
export function originHeaders(allowed: string | undefined): Readonly<Record<string, string>> {
  if (allowed === everyOrigin) return { 'access-control-allow-origin': allowed }
  return allowed === undefined
    ? { vary: 'origin' }
    : { 'access-control-allow-origin': allowed, vary: 'origin' }
}

/** On the answer to OPTIONS. `*` does not cover Authorization (Fetch standard), so it is named. */
export const preflightHeaders = (methods: readonly string[]): Readonly<Record<string, string>> => ({
  allow: methods.join(', '),
  'access-control-allow-methods': methods.join(', '),
  'access-control-allow-headers': 'Authorization, *',
  'access-control-max-age': '86400',
})
