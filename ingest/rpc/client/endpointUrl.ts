import { hash as digest } from 'node:crypto'
import { SettingError } from '#errors.ts'

/**
 * The address of an endpoint. Only `name` may be shown: host and a short hash, never credentials, path or
 * query.
 */
export interface EndpointUrl {
  readonly name: string
  readonly origin: string
  /** Path with query; often holds the API key. */
  readonly path: string
  readonly authorization: string | undefined
  /** The same address over WebSocket, for eth_subscribe. */
  readonly webSocketUrl: string
  /** Every part that must not appear in a log, also not inside a node's own error text. */
  readonly secrets: readonly string[]
}

/**
 * Parses one address of RPC_URL. A ws(s) address is taken for the http(s) one of the same server
 * too: calls go over HTTP, where batches are large and connections many, and only the announcements
 * of new heads over WebSocket.
 * @throws SettingError naming RPC_URL; it does not repeat the text, which may hold a key.
 */
export function parseEndpointUrl(text: string): EndpointUrl {
  const url = URL.parse(text.trim())
  if (!url) throw new SettingError('RPC_URL', 'holds a text that is not a URL, such as http://127.0.0.1:8545')
  const secure = url.protocol === 'https:' || url.protocol === 'wss:'
  if (!secure && url.protocol !== 'http:' && url.protocol !== 'ws:')
    throw new SettingError('RPC_URL', `must be an http, https, ws or wss address, not ${url.protocol}`)
  const credentials = `${decode(url.username)}:${decode(url.password)}`
  const path = `${url.pathname}${url.search}`
  return {
    name: endpointName(url),
    origin: `${secure ? 'https' : 'http'}://${url.host}`,
    path,
    authorization: credentials === ':' ? undefined : `Basic ${Buffer.from(credentials).toString('base64')}`,
    webSocketUrl: `${secure ? 'wss' : 'ws'}://${url.host}${path}`,
    secrets: secretsOf(url),
  }
}

/** Percent encoding undone, or the text itself where it is none. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** Host and eight hex digits of the whole address: tells endpoints apart and gives nothing away. */
function endpointName(url: URL): string {
  return `${url.host}#${digest('sha256', url.href).slice(0, 8)}`
}

/** Shorter parts are words such as `v2`; blanking those out would only make errors unreadable. */
const SECRET_CHARACTERS_MIN = 8

function secretsOf(url: URL): readonly string[] {
  const parts = [...url.pathname.split('/'), ...url.searchParams.values(), url.username, url.password]
  return parts.filter((part) => part.length >= SECRET_CHARACTERS_MIN)
}

/** A node's text without addresses and without the parts of our own. */
export function redact(text: string, url: EndpointUrl): string {
  return withoutSecrets(text, url).replace(/\b(https?|wss?):\/\/\S+/gi, '<url>')
}

/** A node's text that is passed on: only the parts of our own address are blanked out. */
export const withoutSecrets = (text: string, { secrets }: EndpointUrl): string =>
  secrets.reduce((left, secret) => left.replaceAll(secret, '***'), text)

/**
 * An http and a ws address of the same server are one endpoint.
 * @throws SettingError naming RPC_URL when a text is no address
 */
export function distinctUrls(texts: readonly string[]): readonly EndpointUrl[] {
  const urls = texts.map(parseEndpointUrl)
  return urls.filter(
    (url, index) =>
      urls.findIndex(({ origin, path }) => origin === url.origin && path === url.path) === index,
  )
}
