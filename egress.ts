/**
 * Fetches what others on the internet name: a URL a stranger chose must not reach the machine's own network. Every address
 * a name resolves to is checked, and the connection goes to a checked address, so that a second answer of the name server
 * changes nothing. Redirects are not followed.
 */
import { lookup } from 'node:dns/promises'
import { BlockList, isIP, type LookupFunction } from 'node:net'
import { Agent, request } from 'undici'
import { MillraceError } from '#errors.ts'

export interface EgressOptions {
  /** What may be connected to; default: public addresses. */
  readonly isAllowed?: (address: string) => boolean
  /** Default: https only. */
  readonly protocols?: readonly string[]
}

export interface EgressRequest {
  readonly url: string
  /** A longer answer is refused. */
  readonly bytesMax: number
  readonly signal: AbortSignal
}

export interface EgressAnswer {
  readonly status: number
  /** Lowercase, without parameters; empty when not told. */
  readonly contentType: string
  readonly body: Buffer
}

/** Long enough for a slow server, short enough to answer our own client within its patience. */
const TIMEOUT_MS = 5_000
/** Requests to strangers at a time: those who name slow servers hold up few others. */
const REQUESTS_MAX = 16
/** Longer URLs are no addresses of small files. */
const URL_CHARACTERS_MAX = 2_048

/** The one way out to addresses that clients or chains name. */
export class Egress {
  readonly #isAllowed: (address: string) => boolean
  readonly #protocols: readonly string[]
  #active = 0

  constructor({ isAllowed = isPublicAddress, protocols = ['https:'] }: EgressOptions = {}) {
    this.#isAllowed = isAllowed
    this.#protocols = protocols
  }

  /**
   * @throws EgressRefusedError for a URL we do not go to, EgressFailedError when it does not answer, or too many others are
   * being fetched
   */
  async fetch({ url, bytesMax, signal }: EgressRequest): Promise<EgressAnswer> {
    const target = this.#targetOf(url)
    if (this.#active >= REQUESTS_MAX) throw new EgressFailedError(null)
    this.#active += 1
    // Strangers' servers share nothing, and none is asked often: a connection lives as long as its request.
    const agent = new Agent({ connect: { lookup: checkedLookup(this.#isAllowed), timeout: TIMEOUT_MS } })
    try {
      const answer = await request(target, {
        dispatcher: agent,
        signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
        headers: { 'accept-encoding': 'identity' },
      })
      const body = await readBounded(answer.body, bytesMax)
      return { status: answer.statusCode, contentType: contentTypeOf(answer.headers['content-type']), body }
    } catch (cause) {
      signal.throwIfAborted()
      if (cause instanceof MillraceError) throw cause
      throw refusalIn(cause) ?? new EgressFailedError(cause)
    } finally {
      this.#active -= 1
      await agent.destroy()
    }
  }

  /** A host that is an address itself is looked up by nobody, so it is checked here. */
  #targetOf(text: string): URL {
    const url = text.length <= URL_CHARACTERS_MAX && URL.canParse(text) ? new URL(text) : null
    if (!url || !this.#protocols.includes(url.protocol) || url.username !== '' || url.password !== '')
      throw new EgressRefusedError()
    const host = url.hostname.replace(/^\[|\]$/g, '')
    if (isIP(host) !== 0 && !this.#isAllowed(host)) throw new EgressRefusedError()
    return url
  }
}

async function readBounded(body: AsyncIterable<Uint8Array>, bytesMax: number): Promise<Buffer> {
  const pieces: Uint8Array[] = []
  let bytes = 0
  for await (const piece of body) {
    bytes += piece.byteLength
    if (bytes > bytesMax) throw new EgressRefusedError()
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
        if (refused || !first) return done(new EgressRefusedError(), '', 4)
        if (options.all) return done(null, found)
        done(null, first.address, first.family)
      },
      (error: NodeJS.ErrnoException) => done(error, '', 4),
    )
  }
}

/** Not reachable from the internet, or not one machine: IANA special-purpose registries (RFC 6890 and its updates). */
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

/** Of IPv6 only global unicast is public, and of it not what carries or stands for other networks. */
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

/** We do not go there: another protocol, credentials, an address that is not public, an answer too long. */
export class EgressRefusedError extends MillraceError {
  override readonly name = 'EgressRefusedError'
  readonly code = 'url_invalid'
  readonly remedy = 'stop'

  constructor() {
    super('The URL leads where this service does not go.')
  }
}

/** The other side did not answer. */
export class EgressFailedError extends MillraceError {
  override readonly name = 'EgressFailedError'
  readonly code = 'egress_failed'
  readonly remedy = 'retry'

  constructor(cause: unknown) {
    super('What the URL names did not answer', { cause })
  }
}
