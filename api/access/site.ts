/** The site that people reach: the domain they sign in to, and the origin of its own pages. */
import type { IncomingHttpHeaders } from 'node:http'
import { everyOrigin } from '#http/answer/headers.ts'
import { ApiError } from '#http/errors.ts'
import { isLoopbackHost } from './door.ts'
import type { AccessSettings } from './settings.ts'

/**
 * PUBLIC_URL, or the address that a person at the machine itself uses; null for any other, since
 * anybody can write a Host.
 */
export function siteOf({ publicUrl }: AccessSettings, { host }: IncomingHttpHeaders): URL | null {
  if (publicUrl) return publicUrl
  return host !== undefined && isLoopbackHost(host) ? new URL(`http://${host}`) : null
}

/** Whether a page of ours sent the request, as the browser says. */
export const isOwnOrigin = ({ publicUrl }: AccessSettings, { origin, host }: IncomingHttpHeaders): boolean =>
  origin !== undefined && origin === (publicUrl ? publicUrl.origin : `http://${host}`)

/** The origin whose pages may read the answer to a request; `*` for all, undefined for none. */
export function allowedOrigin(settings: AccessSettings, headers: IncomingHttpHeaders): string | undefined {
  const { mode, isOpenToAll, corsOrigins } = settings
  if (corsOrigins === null && (mode === 'guarded' || isOpenToAll)) return everyOrigin
  const { origin = '' } = headers
  return isOwnOrigin(settings, headers) || corsOrigins?.includes(origin) ? origin : undefined
}

export const foreignPage = (): ApiError =>
  new ApiError('forbidden', 'With a session cookie, changes are taken from the pages of this service only.')

/** The origin that payers are told, however they reach the service. */
export const statedOrigin = ({ publicUrl }: Pick<AccessSettings, 'publicUrl'>): string =>
  publicUrl?.origin ?? 'http://localhost'
