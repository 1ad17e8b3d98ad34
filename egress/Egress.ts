/**
 * Calls what others on the internet name: a URL a stranger chose must not reach the machine's own
 * network. Every address a name resolves to is checked, and the connection goes to a checked
 * address, so that a second answer of the name server changes nothing. Redirects are not followed.
 * Each purpose has a budget of its own, so that strangers who answer slowly to one purpose hold up
 * no other.
 */
import { lookup } from 'node:dns/promises'
import { isIP, type LookupFunction } from 'node:net'
import PQueue from 'p-queue'
import { Agent, buildConnector, request } from 'undici'
import { MillraceError } from '#errors.ts'
import { decoded, decoderOf, readBounded } from './body.ts'
import { EgressFailedError, EgressRefusedError } from './errors.ts'
import { isPublicAddress } from './publicAddress.ts'

/**
 * Limits of one purpose: requests at a time, requests that wait for their turn, and the time of
 * one.
 */
export interface EgressBudget {
  readonly activeMax: number
  readonly waitingMax: number
  readonly timeoutMs: number
  /** Time to be connected in, of `timeoutMs`; as long as that where it is not given. */
  readonly connectMs?: number
  /** The operator alone names its addresses: they may be of this network, plain, at any port. */
  readonly isOperators?: true
}

/** The purposes of requests. A new purpose is one line. */
export const egressBudgets = {
  /** A client waits for the picture. */
  logo: { activeMax: 16, waitingMax: 64, timeoutMs: 5_000 },
  /** Lists and documents of services, fetched in turn. */
  catalog: { activeMax: 4, waitingMax: 64, timeoutMs: 30_000 },
  /** Unpaid calls that look whether a service is alive; nobody waits for them. */
  probe: { activeMax: 8, waitingMax: 1_000, timeoutMs: 10_000 },
  /** The same while a search waits for it. */
  liveProbe: { activeMax: 32, waitingMax: 200, timeoutMs: 5_000 },
  /** Unpaid calls for a price: 100 of one plan, and those of a few plans beside it. */
  quote: { activeMax: 128, waitingMax: 1_000, timeoutMs: 10_000 },
  /** Calls of sellers for jobs, paid or free: some work for a minute before they answer. */
  purchase: { activeMax: 128, waitingMax: 1_000, timeoutMs: 120_000, connectMs: 10_000 },
  /** Calls that ask a seller whether what was begun is done. */
  poll: { activeMax: 64, waitingMax: 1_000, timeoutMs: 15_000 },
  /** Events of subscriptions; their sender has shares per endpoint and owner of its own. */
  webhook: { activeMax: 256, waitingMax: 256, timeoutMs: 15_000, connectMs: 5_000 },
  /** Payments of callers, checked and sent by a service that the operator chose. */
  facilitator: { activeMax: 64, waitingMax: 256, timeoutMs: 30_000, connectMs: 5_000, isOperators: true },
  /** Alarms, one after the other; fifteen seconds are what receivers are commonly given (Svix). */
  alarm: { activeMax: 1, waitingMax: 1, timeoutMs: 15_000, isOperators: true },
} as const satisfies Record<string, EgressBudget>

export type EgressPurpose = keyof typeof egressBudgets

export interface EgressOptions {
  /** Whether an address may be connected to; default: public addresses. */
  readonly isAllowed?: (address: string) => boolean
  /** Default: https only. */
  readonly protocols?: readonly string[]
  /**
   * Origins of this machine that may be called all the same, plainly, and what for: the program's
   * own sellers. Default: none.
   */
  readonly isLocalOrigin?: (origin: string, purpose: EgressPurpose) => boolean
  /** Ports that may be connected to; null for any. Default: 443 and 8443. */
  readonly ports?: readonly number[] | null
  /** Every address of a name. Default: the machine's resolver. */
  readonly resolve?: (host: string) => Promise<readonly ResolvedAddress[]>
}

export interface ResolvedAddress {
  readonly address: string
  readonly family: number
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
  /** A longer answer is cut at `bytesMax` instead. */
  readonly cuts?: true
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

/** The one way out to addresses that clients, catalogs, chains or operators name. */
export class Egress {
  readonly #isAllowed: (address: string) => boolean
  readonly #protocols: readonly string[]
  readonly #isLocalOrigin: NonNullable<EgressOptions['isLocalOrigin']>
  readonly #ports: readonly number[] | null
  readonly #resolve: NonNullable<EgressOptions['resolve']>
  readonly #queues = new Map<EgressPurpose, PQueue>()

  constructor({
    isAllowed = isPublicAddress,
    protocols = ['https:'],
    isLocalOrigin = () => false,
    ports = [443, 8443],
    resolve = (host) => lookup(host, { all: true }),
  }: EgressOptions = {}) {
    this.#isAllowed = isAllowed
    this.#protocols = protocols
    this.#isLocalOrigin = isLocalOrigin
    this.#ports = ports
    this.#resolve = resolve
  }

  /**
   * Whether a request would be sent there now: the form of the URL, and every address of its name.
   * @throws EgressRefusedError, also for a name that has no address now
   */
  async check(url: string, purpose: EgressPurpose): Promise<void> {
    const { hostname } = this.#targetOf(url, purpose)
    const host = bareHost(hostname)
    if (isIP(host) !== 0) return
    await this.#addressesOf(host, purpose).catch((cause: unknown) => {
      throw cause instanceof EgressRefusedError ? cause : new EgressRefusedError('unresolved')
    })
  }

  /**
   * One request, once: nothing is repeated, for nobody knows what a request did whose answer was
   * lost.
   * @throws EgressRefusedError for what is not sent or not taken, EgressFailedError when there is
   * no answer in time or too many requests of the purpose wait already
   */
  async fetch(asked: EgressRequest): Promise<EgressAnswer> {
    const target = this.#targetOf(asked.url, asked.purpose)
    assertHeaders(asked.headers ?? {})
    const budget: EgressBudget = egressBudgets[asked.purpose]
    const queue = this.#queueOf(asked.purpose)
    if (queue.size >= budget.waitingMax) throw new EgressFailedError('busy', null)
    return queue.add(() => this.#send(target, asked, budget), { signal: asked.signal })
  }

  async #send(target: URL, asked: EgressRequest, budget: EgressBudget): Promise<EgressAnswer> {
    const { timeoutMs, connectMs = timeoutMs } = budget
    const { method = 'GET', headers = {}, body, bytesMax, cuts = false, signal } = asked
    const isTrusted = this.#isLocalOrigin(target.origin, asked.purpose)
    const time = AbortSignal.timeout(timeoutMs)
    // Strangers' servers share nothing, and none is asked often: a connection lives as long as its
    // request.
    const agent = new Agent({
      connect: checkedConnector(
        { lookup: this.#lookupFor(asked.purpose), timeout: connectMs },
        (address) => isTrusted || this.#mayReach(address, asked.purpose),
      ),
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
      const bytes = await readBounded(decoder ? decoded(answer.body, decoder) : answer.body, bytesMax, cuts)
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
  #targetOf(text: string, purpose: EgressPurpose): URL {
    const url = text.length <= URL_CHARACTERS_MAX && URL.canParse(text) ? new URL(text) : null
    if (url?.username !== '' || url.password !== '') throw new EgressRefusedError('url')
    const host = bareHost(url.hostname)
    if (isOperators(purpose) && /^https?:$/.test(url.protocol)) return url
    // A name could lead elsewhere by the time it is looked up; an address cannot.
    if (isIP(host) !== 0 && this.#isLocalOrigin(url.origin, purpose)) return url
    const port = Number(url.port || (url.protocol === 'https:' ? 443 : 80))
    const isPort = this.#ports?.includes(port) ?? true
    if (!this.#protocols.includes(url.protocol) || !isPort) throw new EgressRefusedError('url')
    if (isIP(host) !== 0 && !this.#isAllowed(host)) throw new EgressRefusedError('address')
    return url
  }

  /** Gives a connection only addresses that were checked. */
  #lookupFor(purpose: EgressPurpose): LookupFunction {
    return (host, options, done) => {
      this.#addressesOf(host, purpose).then(
        (found) => {
          const [first] = found
          if (options.all) return done(null, [...found])
          done(null, first?.address ?? '', first?.family ?? 4)
        },
        (error: NodeJS.ErrnoException) => done(error, '', 4),
      )
    }
  }

  /** @throws EgressRefusedError unless there are addresses and all of them are allowed */
  async #addressesOf(host: string, purpose: EgressPurpose): Promise<readonly ResolvedAddress[]> {
    const found = await this.#resolve(host)
    if (found.length === 0) throw new EgressRefusedError('unresolved')
    if (!found.every(({ address }) => this.#mayReach(address, purpose)))
      throw new EgressRefusedError('address')
    return found
  }

  #mayReach(address: string, purpose: EgressPurpose): boolean {
    return isOperators(purpose) || this.#isAllowed(address)
  }

  #queueOf(purpose: EgressPurpose): PQueue {
    const known = this.#queues.get(purpose)
    if (known) return known
    const queue = new PQueue({ concurrency: egressBudgets[purpose].activeMax })
    this.#queues.set(purpose, queue)
    return queue
  }
}

function isOperators(purpose: EgressPurpose): boolean {
  const budget: EgressBudget = egressBudgets[purpose]
  return budget.isOperators ?? false
}

function assertHeaders(headers: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(headers)) {
    const wellFormed = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name) && /^[\t\x20-\x7e]*$/.test(value)
    if (!wellFormed || framingHeaders.has(name.toLowerCase())) throw new EgressRefusedError('header')
  }
}

/** An address of IPv6 stands in brackets in a URL. */
const bareHost = (hostname: string): string => hostname.replace(/^\[|\]$/g, '')

/** The address that a connection has reached is compared too, whatever was looked up before. */
function checkedConnector(
  options: { readonly lookup: LookupFunction; readonly timeout: number },
  isAllowed: (address: string) => boolean,
): buildConnector.connector {
  const connect = buildConnector(options)
  return (asked, done) =>
    connect(asked, (error, socket) => {
      if (error) return done(error, null)
      if (isAllowed(plainAddress(socket.remoteAddress ?? ''))) return done(null, socket)
      socket.destroy()
      done(new EgressRefusedError('address'), null)
    })
}

/** An address of IPv4 that a socket of IPv6 reached. */
const plainAddress = (address: string): string => address.replace(/^::ffff:(?=[\d.]+$)/, '')

const contentTypeOf = (header: string | readonly string[] | undefined): string => {
  const [first = ''] = typeof header === 'string' ? [header] : (header ?? [])
  return (first.split(';')[0] ?? '').trim().toLowerCase()
}

/** A refusal inside a connection comes wrapped. */
function refusalIn(cause: unknown, depth = 4): EgressRefusedError | null {
  if (cause instanceof EgressRefusedError) return cause
  const inner = cause instanceof Error ? cause.cause : undefined
  return depth === 0 || inner === undefined ? null : refusalIn(inner, depth - 1)
}
