/**
 * The door of a service that is open to its own machine. A bind address does not say who can reach
 * it: a proxy on the same machine, a tunnel, a web page whose name was pointed at 127.0.0.1, or any
 * page the operator opens all come over loopback. So what came through a proxy, names a host that
 * is not loopback, or was asked for by a page of an origin that nobody admitted, is refused.
 */
import type { IncomingHttpHeaders } from 'node:http'
import { ApiError } from '#http/errors.ts'

/**
 * Headers of a proxy: a request that one passed on carries one of these, or a name that begins with
 * `x-forwarded-`.
 */
const proxyHeaders = new Set(['forwarded', 'via'])

/**
 * Undefined for a request that came straight from this machine.
 * @param origins of pages that the operator admits beside our own
 */
export function refusalAtDoor(
  headers: IncomingHttpHeaders,
  origins: readonly string[] = [],
): ApiError | undefined {
  if (cameThroughProxy(headers)) return refusal('the request came through a proxy')
  if (headers.host !== undefined && !isLoopbackHost(headers.host))
    return refusal('the request names a host that is not this machine')
  if (isAskedByForeignPage(headers, origins))
    return new ApiError(
      'forbidden',
      'A page of another origin asked for this. Its operator names that origin in CORS_ORIGINS to admit it.',
    )
  return undefined
}

/** A link to us that somebody follows is the person's own request, whatever page it stands on. */
function isAskedByForeignPage(headers: IncomingHttpHeaders, origins: readonly string[]): boolean {
  const { origin } = headers
  if (!isFromForeignPage(headers)) return false
  if (origin !== undefined) return !origins.includes(origin)
  return headers['sec-fetch-mode'] !== 'navigate'
}

export const cameThroughProxy = (headers: IncomingHttpHeaders): boolean =>
  Object.keys(headers).some((name) => proxyHeaders.has(name) || name.startsWith('x-forwarded-'))

/** `localhost`, names below it, 127.0.0.0/8 and ::1, with or without a port. */
export const isLoopbackHost = (host: string): boolean =>
  /^(?:(?:[a-z0-9-]+\.)*localhost\.?|127(?:\.\d{1,3}){3}|\[::1\])(?::\d*)?$/i.test(host)

const refusal = (problem: string): ApiError =>
  new ApiError(
    'forbidden',
    `This service is open to its own machine only, and ${problem}. Its operator sets PUBLIC_URL (and TRUSTED_PROXIES) to guard it with keys, or ACCESS=open to open it to everybody.`,
  )

/**
 * Whether a web page of another site made the browser send this. Such a page may read what is
 * public, and is never taken for the person at the machine.
 */
export function isFromForeignPage({ origin, host, ...headers }: IncomingHttpHeaders): boolean {
  const site = headers['sec-fetch-site']
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return true
  return origin !== undefined && origin !== `http://${host}` && origin !== `https://${host}`
}
