/**
 * The credential of a request: four places in the order of the specification, the first one present
 * decides.
 */

import type { IncomingHttpHeaders } from 'node:http'
import { ApiError } from '#http/errors.ts'
import type { AccessRequest } from '#http/request/access.ts'
import { tokenKindOf } from './token.ts'

export type Credential =
  | { readonly kind: 'none' }
  | { readonly kind: 'key'; readonly token: string; readonly environment: 'production' | 'sandbox' }
  /** `place` tells a cookie, which a browser sends by itself, from a token that a program sends. */
  | { readonly kind: 'session'; readonly token: string; readonly place: 'bearer' | 'cookie' }

/** Name of the cookie that holds a session. */
export const sessionCookie = 'accounts_auth'

const none: Credential = { kind: 'none' }

/**
 * @throws ApiError api_key_malformed for a text that is no token, whatever else the request carries
 */
export function credentialOf({ headers, queryKey }: AccessRequest): Credential {
  const header = headers['svc-api-key']
  if (header !== undefined) return keyIn(header)
  const bearer = bearerIn(headers.authorization)
  if (bearer !== undefined) {
    return tokenKindOf(bearer) === 'session'
      ? { kind: 'session', token: bearer, place: 'bearer' }
      : keyIn(bearer)
  }
  if (queryKey !== undefined) return keyIn(queryKey)
  // A browser sends what another program on the host left there: that is no mistake of its person.
  const session = sessionIn({ cookie: headers.cookie })
  return session ? { kind: 'session', ...session } : none
}

/**
 * The session of a request, whatever key stands beside it; null for none. A bearer token goes
 * before the cookie.
 */
export function sessionIn({
  authorization,
  cookie: cookies,
}: Pick<IncomingHttpHeaders, 'authorization' | 'cookie'>): {
  readonly token: string
  readonly place: 'bearer' | 'cookie'
} | null {
  const bearer = bearerIn(authorization)
  if (bearer !== undefined && tokenKindOf(bearer) === 'session') return { token: bearer, place: 'bearer' }
  const cookie = cookieIn(cookies)
  if (cookie !== undefined && tokenKindOf(cookie) === 'session') return { token: cookie, place: 'cookie' }
  return null
}

function keyIn(text: string | readonly string[]): Credential {
  const kind = typeof text === 'string' ? tokenKindOf(text) : null
  if (typeof text !== 'string' || kind === null || kind === 'session') throw new ApiError('api_key_malformed')
  return { kind: 'key', token: text, environment: kind === 'test' ? 'sandbox' : 'production' }
}

/** Other schemes are not for us: a proxy's own login, or a payment. */
function bearerIn(authorization: string | undefined): string | undefined {
  const [, token] = /^bearer +(.*)$/i.exec(authorization ?? '') ?? []
  return token
}

function cookieIn(cookies: string | undefined): string | undefined {
  for (const cookie of cookies?.split(';') ?? []) {
    const [name = '', value] = cookie.split('=')
    if (name.trim() === sessionCookie) return value?.trim()
  }
  return undefined
}
