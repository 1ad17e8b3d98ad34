/**
 * The destination of events, and their form: an HTTPS URL takes the signed envelope, a chat and a log
 * service take their own. Adding one is a value here.
 */
import { hash } from 'node:crypto'
import { failure } from '#errors.ts'
import { isRecord } from '#primitives.ts'
import type { Target } from '#rows/webhooks/subscriptions.ts'
import { type SignedDelivery, signatureHeaders } from './signature.ts'

/** An event as destinations are given it. */
export interface Outgoing extends SignedDelivery {
  readonly type: string
  /** The newest first. */
  readonly secrets: readonly string[]
}

export interface Request {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

interface Destination {
  /** A host of its own, for destinations that are one service. */
  readonly isHost: (host: string) => boolean
  /** The URL as readers see it. */
  readonly shownUrl: (url: URL) => string
  readonly request: (target: Target, outgoing: Outgoing) => Request
}

/** A secret's stand-in in answers; a value that has it is never stored. */
const REDACTED = '[redacted]'

const json = { 'content-type': 'application/json' }

const destinations: Readonly<Record<Target['type'], Destination>> = {
  url: {
    isHost: () => true,
    shownUrl: (url) => url.href,
    request: ({ url }, { secrets, type, ...signed }) => ({
      url,
      headers: {
        ...json,
        'svc-event-id': signed.id,
        'svc-event-type': type,
        ...signatureHeaders(signed, secrets),
      },
      body: signed.body,
    }),
  },
  slack: {
    isHost: (host) => host === 'hooks.slack.com',
    // The path is the key.
    shownUrl: ({ origin }) => `${origin}/services/${REDACTED}`,
    request: ({ url }, outgoing) => ({ url, headers: json, body: JSON.stringify(slackMessage(outgoing)) }),
  },
  betterstack: {
    isHost: (host) => host.endsWith('.betterstackdata.com'),
    shownUrl: (url) => url.href,
    request: ({ url, token = '' }, outgoing) => ({
      url,
      headers: { ...json, authorization: `Bearer ${token}` },
      body: JSON.stringify(logRecord(outgoing)),
    }),
  },
}

export const requestTo = (target: Target, outgoing: Outgoing): Request =>
  destinations[target.type].request(target, outgoing)

/** As answers, requestUrl and logs have it. */
export const shown = (target: Target): Target => ({
  type: target.type,
  url: destinations[target.type].shownUrl(new URL(target.url)),
  ...(target.token !== undefined && { token: REDACTED }),
})

/** The name that requests at a time are counted by: nothing can be read from it. */
export const endpointOf = ({ url }: Target): string =>
  hash('sha256', `millrace endpoint ${url}`, 'hex').slice(0, 32)

/** Visible ASCII: it becomes a header. */
const tokenPattern = /^[\x21-\x7e]{1,512}$/

/** The form alone; egress checks where it leads. @throws DestinationError */
export function readTarget({ type, url: text, token }: Target): Target {
  const url = URL.canParse(text) ? new URL(text) : null
  if (!url || text.includes(REDACTED) || url.href.includes(encodeURI(REDACTED)))
    throw new DestinationError('url', 'is not a URL that can be called')
  if (url.hash !== '' || !destinations[type].isHost(url.hostname))
    throw new DestinationError('url', `is not a URL of the destination ${type}`)
  if (
    type === 'slack' &&
    (url.protocol !== 'https:' || url.search !== '' || !/^\/services(\/\w+){3}$/.test(url.pathname))
  )
    throw new DestinationError('url', 'is not an incoming webhook of Slack')
  if (type !== 'betterstack') return { type, url: url.href }
  if (token === undefined || !tokenPattern.test(token) || token === REDACTED)
    throw new DestinationError('token', 'is not a token')
  return { type, url: url.href, token }
}

/** A destination cannot be used; `member` is the part that is wrong. Its value is in no message. */
export class DestinationError extends failure('DestinationError', 'url_invalid', 'stop') {
  readonly member: 'url' | 'token'

  constructor(member: 'url' | 'token', problem: string) {
    super(problem)
    this.member = member
  }
}

/** Slack cuts longer texts of a block. */
const SLACK_TEXT_CHARACTERS = 2_900

function slackMessage({ body, type, id }: Outgoing): object {
  const { context = {}, data = {} } = envelopeOf(body)
  const title = typeof context['title'] === 'string' ? context['title'] : type
  const lines = Object.entries(data).flatMap(([name, value]) =>
    isRecord(value) || Array.isArray(value) ? [] : [`*${slackText(name)}:* \`${slackText(String(value))}\``],
  )
  const text = lines.join('\n').slice(0, SLACK_TEXT_CHARACTERS) || slackText(type)
  return {
    text: slackText(title),
    blocks: [
      { type: 'header', text: { type: 'plain_text', text: title.slice(0, 150) } },
      { type: 'section', text: { type: 'mrkdwn', text } },
      { type: 'context', elements: [{ type: 'mrkdwn', text: `${slackText(type)} · ${id}` }] },
    ],
  }
}

/** The three characters that Slack reads as more than text. */
const slackText = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('`', "'")

function logRecord({ body, type, id }: Outgoing): object {
  const { createdAt, chainId, subscriptionId, context = {}, data } = envelopeOf(body)
  const { title, description, metadata } = context
  return {
    dt: createdAt,
    message: typeof title === 'string' ? title : type,
    event: type,
    eventId: id,
    chainId,
    data,
    subscriptionId,
    ...(metadata !== undefined && { metadata }),
    ...(description !== undefined && { description }),
  }
}

interface ReadEnvelope {
  readonly createdAt?: unknown
  readonly chainId?: unknown
  readonly subscriptionId?: unknown
  readonly context?: Readonly<Record<string, unknown>>
  readonly data?: Readonly<Record<string, unknown>>
}

/** The envelope is our own JSON. */
const envelopeOf = (body: string): ReadEnvelope => JSON.parse(body) as ReadEnvelope
