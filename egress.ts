/**
 * Calls what others on the internet name: a URL a stranger chose must not reach the machine's own
 * network. Every address a name resolves to is checked, and the connection goes to a checked
 * address, so that a second answer of the name server changes nothing. Redirects are not followed.
 * Each purpose has a budget of its own, so that strangers who answer slowly to one purpose hold up
 * no other.
 */
import { lookup } from 'node:dns/promises'
import { BlockList, isIP, type LookupFunction } from 'node:net'
import type { Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import PQueue from 'p-queue'
import { Agent, request } from 'undici'
import { failure, MillraceError } from '#errors.ts'

/**
 * Limits of one purpose: requests at a time, requests that wait for their turn, and the time of
 * one.
 */
export interface EgressBudget {
  readonly activeMax: number
  readonly waitingMax: number
  readonly timeoutMs: number
}

/** What requests are made for. A new purpose is one line. */
export const egressBudgets = {
  /** A client waits for the picture. */
  logo: { activeMax: 16, waitingMax: 64, timeoutMs: 5_000 },
  /** Lists and documents of services, fetched in turn. */
  catalog: { activeMax: 4, waitingMax: 64, timeoutMs: 30_000 },
  /** Unpaid calls that look whether a service is alive; nobody waits for them. */
  probe: { activeMax: 8, waitingMax: 1_000, timeoutMs: 10_000 },
  /** Unpaid calls for a price: 100 of one plan, and those of a few plans beside it. */
  quote: { activeMax: 128, waitingMax: 1_000, timeoutMs: 10_000 },
} as const satisfies Record<string, EgressBudget>

export type EgressPurpose = keyof typeof egressBudgets

export interface EgressOptions {
  /** What may be connected to; default: public addresses. */
  readonly isAllowed?: (address: string) => boolean
  /** Default: https only. */
  readonly protocols?: readonly string[]
  /**
   * Origins of this machine that may be called all the same, plainly: the program's own sellers.
   * Default: none.
   */
  readonly isLocalOrigin?: (origin: string) => boolean
}

export type EgressMethod = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

export interface EgressRequest {
  readonly url: string
  /** Default GET. */
  readonly method?: EgressMethod
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
  readonly purpose: EgressPurpose
  /** A longer answer is refused; counted after decompression. */
  readonly bytesMax: number
  readonly signal: AbortSignal
}

export interface EgressAnswer {
  readonly status: number
  /** Names in lowercase; a repeated header has several texts. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  /** Lowercase, without parameters; empty when not told. */
  readonly contentType: string
  /** Decompressed. */
  readonly body: Buffer
}

/** Longer URLs are no addresses. */
const URL_CHARACTERS_MAX = 4_096
/** Twice what Node takes: a payment challenge alone may have 8 KB. */
const HEADER_BYTES_MAX = 32 * 1_024

/** Headers that decide where a request goes or how it is framed: ours alone. */
const framingHeaders = new Set([
  'accept-encoding',
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/** The one way out to addresses that clients, catalogs or chains name. */
export class Egress {
  readonly #isAllowed: (address: string) => boolean
  readonly #protocols: readonly string[]
  readonly #isLocalOrigin: (origin: string) => boolean
  readonly #queues = new Map<EgressPurpose, PQueue>()

  constructor({
    isAllowed = isPublicAddress,
    protocols = ['https:'],
    isLocalOrigin = () => false,
  }: EgressOptions = {}) {
    this.#isAllowed = isAllowed
    this.#protocols = protocols
    this.#isLocalOrigin = isLocalOrigin
  }

  /**
   * One request, once: nothing is repeated, for nobody knows what a request did whose answer was
   * lost.
   * @throws EgressRefusedError for what is not sent or not taken, EgressFailedError when there is
   * no answer in time or too many requests of the purpose wait already
   */
  async fetch(asked: EgressRequest): Promise<EgressAnswer> {
    const target = this.#targetOf(asked.url)
    assertHeaders(asked.headers ?? {})
    const { waitingMax, timeoutMs } = egressBudgets[asked.purpose]
    const queue = this.#queueOf(asked.purpose)
    if (queue.size >= waitingMax) throw new EgressFailedError('busy', null)
    return queue.add(() => this.#send(target, asked, timeoutMs), { signal: asked.signal })
  }

  async #send(target: URL, asked: EgressRequest, timeoutMs: number): Promise<EgressAnswer> {
    const { method = 'GET', headers = {}, body, bytesMax, signal } = asked
    const time = AbortSignal.timeout(timeoutMs)
    // Strangers' servers share nothing, and none is asked often: a connection lives as long as its
    // request.
    const agent = new Agent({
      connect: { lookup: checkedLookup(this.#isAllowed), timeout: timeoutMs },
      maxHeaderSize: HEADER_BYTES_MAX,
    })
    try {
      const answer = await request(target, {
        dispatcher: agent,
        method,
        ...(body !== undefined && { body }),
        signal: AbortSignal.any([signal, time]),
        headers: { ...headers, 'accept-encoding': 'gzip, br' },
      })
      const { statusCode: status, headers: told } = answer
      const decoder = method === 'HEAD' ? null : decoderOf(told['content-encoding'])
      const bytes = await readBounded(decoder ? decoded(answer.body, decoder) : answer.body, bytesMax)
      return { status, headers: told, contentType: contentTypeOf(told['content-type']), body: bytes }
    } catch (cause) {
      signal.throwIfAborted()
      if (cause instanceof MillraceError) throw cause
      throw refusalIn(cause) ?? new EgressFailedError(time.aborted ? 'timeout' : 'connection', cause)
    } finally {
      await agent.destroy()
    }
  }

  /** A host that is an address itself is looked up by nobody, so it is checked here. */
  #targetOf(text: string): URL {
    const url = text.length <= URL_CHARACTERS_MAX && URL.canParse(text) ? new URL(text) : null
    if (url?.username !== '' || url.password !== '') throw new EgressRefusedError('url')
    const host = url.hostname.replace(/^\[|\]$/g, '')
    // A name could lead elsewhere by the time it is looked up; an address cannot.
    if (isIP(host) !== 0 && this.#isLocalOrigin(url.origin)) return url
    if (!this.#protocols.includes(url.protocol)) throw new EgressRefusedError('url')
    if (isIP(host) !== 0 && !this.#isAllowed(host)) throw new EgressRefusedError('address')
    return url
  }

  #queueOf(purpose: EgressPurpose): PQueue {
    const known = this.#queues.get(purpose)
    if (known) return known
    const queue = new PQueue({ concurrency: egressBudgets[purpose].activeMax })
    this.#queues.set(purpose, queue)
    return queue
  }
}

function assertHeaders(headers: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(headers)) {
    const wellFormed = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name) && /^[\t\x20-\x7e]*$/.test(value)
    if (!wellFormed || framingHeaders.has(name.toLowerCase())) throw new EgressRefusedError('header')
  }
}

/**
 * Null for a body that is sent as it is. @throws EgressRefusedError for encodings that are not
 * read, and for several
 */
function decoderOf(header: string | readonly string[] | undefined): Transform | null {
  const encoding = String(header ?? 'identity')
    .trim()
    .toLowerCase()
  switch (encoding) {
    case '':
    case 'identity':
      return null
    case 'gzip':
    case 'x-gzip':
      return createGunzip()
    case 'deflate':
      return createInflate()
    case 'br':
      return createBrotliDecompress()
    default:
      throw new EgressRefusedError('encoding')
  }
}

/** What a decoder makes of a body; ends both when its reader stops. */
async function* decoded(body: AsyncIterable<Uint8Array>, decoder: Transform): AsyncGenerator<Uint8Array> {
  const feeding = feed(body, decoder)
  try {
    for await (const piece of decoder) yield piece
    await feeding
  } finally {
    decoder.destroy()
    await feeding.catch(() => {})
  }
}

async function feed(body: AsyncIterable<Uint8Array>, decoder: Transform): Promise<void> {
  try {
    for await (const piece of body) {
      if (decoder.destroyed) return
      // A decoder that is destroyed while it is full never drains.
      if (!decoder.write(piece)) await drained(decoder)
    }
    decoder.end()
  } catch (error) {
    decoder.destroy(error instanceof Error ? error : new EgressFailedError('connection', error))
  }
}

const drained = (decoder: Transform): Promise<void> =>
  new Promise((resolve) => {
    decoder.once('drain', resolve)
    decoder.once('close', resolve)
  })

async function readBounded(body: AsyncIterable<Uint8Array>, bytesMax: number): Promise<Buffer> {
  const pieces: Uint8Array[] = []
  let bytes = 0
  for await (const piece of body) {
    bytes += piece.byteLength
    if (bytes > bytesMax) throw new EgressRefusedError('tooLong')
    pieces.push(piece)
  }
  return Buffer.concat(pieces)
}
const contentTypeOf = (header: string | readonly string[] | undefined): string => {
  const [first = ''] = typeof header === 'string' ? [header] : (header ?? [])
  return (first.split(';')[0] ?? '').trim().toLowerCase()
}

/** Gives a connection only addresses that were checked. */
function checkedLookup(isAllowed: (address: string) => boolean): LookupFunction {
  return (host, options, done) => {
    lookup(host, { all: true }).then(
      (found) => {
        const refused = found.length === 0 || !found.every(({ address }) => isAllowed(address))
        const [first] = found
        if (refused || !first) return done(new EgressRefusedError('address'), '', 4)
        if (options.all) return done(null, found)
        done(null, first.address, first.family)
      },
      (error: NodeJS.ErrnoException) => done(error, '', 4),
    )
  }
}

/**
 * Not reachable from the internet, or not one machine: IANA special-purpose registries (RFC 6890
 * and its updates).
 */
const special = new BlockList()
for (const [network, bits] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
] as const)
  special.addSubnet(network, bits, 'ipv4')

/**
 * Of IPv6 only global unicast is public, and of it not what carries or stands for other networks.
 */
const globalUnicast = new BlockList()
globalUnicast.addSubnet('2000::', 3, 'ipv6')
for (const [network, bits] of [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
] as const)
  special.addSubnet(network, bits, 'ipv6')

export function isPublicAddress(address: string): boolean {
  if (isIP(address) === 4) return !special.check(address, 'ipv4')
  return isIP(address) === 6 && globalUnicast.check(address, 'ipv6') && !special.check(address, 'ipv6')
}

/** A refusal inside a connection comes wrapped. */
function refusalIn(cause: unknown, depth = 4): EgressRefusedError | null {
  if (cause instanceof EgressRefusedError) return cause
  const inner = cause instanceof Error ? cause.cause : undefined
  return depth === 0 || inner === undefined ? null : refusalIn(inner, depth - 1)
}

/**
 * `url`: protocol, credentials or length; `address`: not a public one; the others are of the
 * request or its answer.
 */
export type EgressRefusal = 'url' | 'address' | 'header' | 'encoding' | 'tooLong'

/** We do not go there, or do not take what came back. */
export class EgressRefusedError extends failure('EgressRefusedError', 'url_invalid', 'stop') {
  readonly reason: EgressRefusal

  constructor(reason: EgressRefusal) {
    super('The URL leads where this service does not go.')
    this.reason = reason
  }
}

/** No answer: whether the request was taken is unknown, except for `busy`, which was not sent. */
export class EgressFailedError extends failure('EgressFailedError', 'egress_failed', 'retry') {
  readonly reason: 'busy' | 'timeout' | 'connection'

  constructor(reason: EgressFailedError['reason'], cause: unknown) {
    super('What the URL names did not answer', { cause })
    this.reason = reason
  }
}
