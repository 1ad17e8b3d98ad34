/** The answer to a caller over its quota: the quota, when it is fresh again, and how to get more. */

import { ApiError, type QuotaTold } from '#http/errors.ts'
import type { AccessRule, Caller } from '#http/request/access.ts'
import { isoSeconds } from '#http/schema.ts'
import type { Taken } from './Quotas.ts'
import { retryAfter } from './retryAfter.ts'
import type { QuotaSizes } from './settings.ts'

export interface Refused {
  readonly taken: Taken
  readonly caller: Caller
  readonly rule: AccessRule
  /** The units that the request counts as. */
  readonly units: number
  readonly sizes: QuotaSizes
  /** It could be paid for at another moment. */
  readonly isSold: boolean
}

/** `rate_limit_exceeded`, or `payment_required` where a payment would help and none is possible. */
export function overQuota(refused: Refused, headers: Readonly<Record<string, string>>): ApiError {
  const { taken, rule, units, isSold } = refused
  const { limit, resetSeconds, leftMs } = taken
  const { whose, more, way } = waysOf(refused)
  const resetsAt = isoSeconds(resetSeconds)
  const used = `${whose}, ${limit} units a minute, is used up until ${resetsAt}.`
  const tooLarge = units > limit ? ` This request alone counts as ${units}: ask for less at once.` : ''
  const why = isSold ? ' Nothing can be paid here for the moment.' : ' Payment is not configured here.'
  const unpaid = rule.payable ? why : ''
  const quota: QuotaTold = { scope: rule.scope ?? '', limit, units, resetsAt, more }
  return new ApiError(
    rule.payable ? 'payment_required' : 'rate_limit_exceeded',
    `${used}${tooLarge}${unpaid} ${way}`,
    {
      details: [{ path: ['quota'], message: used, hint: way, quota }],
      headers: { ...headers, 'Retry-After': retryAfter(rule, leftMs) },
    },
  )
}

/** A quota apart, by its name. */
const nameOf = ({ scope }: AccessRule): string => (scope === 'refused' ? 'refused requests' : `\`${scope}\``)

/** The owner of the spent quota, and the ways to a larger one, the nearest first. */
function waysOf({ caller, rule, sizes }: Refused): {
  readonly whose: string
  readonly more: QuotaTold['more']
  readonly way: string
} {
  const hasMore = caller.kind === 'anonymous' && rule.strangersPerMinute !== undefined
  if (hasMore)
    return {
      whose: `The quota of a network address for ${nameOf(rule)}`,
      more: ['sign_in', 'api_key', 'wait'],
      way: `Sign in (the console's page Account), or send an API key (svc-api-key), for ${rule.perMinute} a minute.`,
    }
  if (rule.perMinute !== undefined || rule.ignoresCredentials || rule.who === 'session')
    return { whose: 'The quota of each caller', more: ['wait'], way: 'It is the same for all: wait for it.' }
  if (caller.kind !== 'anonymous')
    return {
      whose: caller.kind === 'key' ? 'The quota of this key or its organization' : 'Your quota',
      more: ['operator', 'wait'],
      way: 'The operator of this service can give more.',
    }
  return {
    whose: 'The free quota of a network address',
    more: ['sign_in', 'api_key', 'wait'],
    way: `Sign in (the console's page Account), or send an API key (svc-api-key), for ${sizes.key} a minute.`,
  }
}
