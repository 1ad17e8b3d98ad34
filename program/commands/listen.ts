/**
 * `millrace listen`: receives webhooks on this machine, verifies and prints them. Without a secret it
 * subscribes itself to a running program, and ends the subscription with itself.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { failure, messageOf, SettingError } from '#errors.ts'
import { isRecord } from '#primitives.ts'
import type { Clock } from '#runtime/runtime.ts'
import { verifySignature } from '#webhooks/signature.ts'
import type { Config } from '../config.ts'

/** Events go to standard output alone, one a line, so that they can be piped. */
export interface ListenStreams {
  readonly events: { write(text: string): unknown }
  readonly notes: { write(text: string): unknown }
}

/** An envelope has at most 256 KiB of data; longer bodies are not ours. */
const BODY_BYTES_MAX = 1024 * 1024
const TIMEOUT_MS = 10_000
const HOST = '127.0.0.1'

/** Ends when `stop` aborts. @throws SettingError, SubscribeFailedError */
export async function listen(
  { host, port }: Pick<Config, 'host' | 'port'>,
  asked: Readonly<Record<string, unknown>>,
  streams: ListenStreams,
  clock: Clock,
  stop: AbortSignal,
): Promise<void> {
  const text = (name: string): string | null => (typeof asked[name] === 'string' ? asked[name] : null)
  const given = text('secret')
  const body = given === null ? subscriptionOf(text('event'), text('filters'), text('chain')) : null
  const secret = Promise.withResolvers<string>()
  const server = await openServer(portOf(text('port')), async (request, response) => {
    const { status, line, note } = await judge(request, await secret.promise, clock)
    response.writeHead(status).end()
    if (line !== null) streams.events.write(`${line}\n`)
    if (note !== null) streams.notes.write(`${note}\n`)
  })
  try {
    const url = `http://${HOST}:${server.port}/`
    if (body === null) secret.resolve(given ?? '')
    streams.notes.write(`Listening at ${url}\n`)
    if (body === null) return await ended(stop)
    const api = new Api(`http://${host.includes(':') ? `[${host}]` : host}:${port}`, text('key'))
    const made = await api.subscribe({ ...body, destination: { type: 'url', url } })
    secret.resolve(made.secret)
    streams.notes.write(`Subscribed as ${made.id}; the subscription ends with this command.\n`)
    await ended(stop)
    await api.unsubscribe(made.id)
  } finally {
    server.close()
  }
}

/** The subscription that is asked of the program. @throws SettingError */
function subscriptionOf(event: string | null, filters: string | null, chain: string | null): object {
  if (event === null) throw new SettingError('event', 'is needed: a type such as token:transfer, or --secret')
  if (chain !== null && !/^\d{1,15}$/.test(chain)) throw new SettingError('--chain', 'is not a chain id')
  return {
    eventType: event,
    ...(filters !== null && { filters: filtersOf(filters) }),
    ...(chain !== null && { chainId: Number(chain) }),
  }
}

/** @throws SettingError */
function filtersOf(text: string): object {
  try {
    const filters: unknown = JSON.parse(text)
    if (isRecord(filters)) return filters
  } catch {}
  throw new SettingError('--filters', 'is not a JSON object')
}

/** @throws SettingError */
function portOf(text: string | null): number {
  const port = Number(text ?? 0)
  if (!Number.isInteger(port) || port < 0 || port > 65_535) throw new SettingError('--port', 'is not a port')
  return port
}

interface Judgement {
  readonly status: number
  /** The envelope, as it came. */
  readonly line: string | null
  readonly note: string | null
}

async function judge(request: IncomingMessage, secret: string, clock: Clock): Promise<Judgement> {
  const refused = (status: number, note: string): Judgement => ({
    status,
    line: null,
    note: `Refused: ${note}`,
  })
  if (request.method !== 'POST') return refused(405, `${request.method} is no event`)
  const body = await readBody(request)
  if (body === null) return refused(413, `more than ${BODY_BYTES_MAX} bytes`)
  const header = String(request.headers['svc-signature'] ?? '')
  if (!verifySignature(header, body, secret, clock.now() / 1_000))
    return refused(401, 'the signature is not that of the secret, or older than five minutes')
  return { status: 204, line: body, note: null }
}

async function readBody(request: IncomingMessage): Promise<string | null> {
  const pieces: Buffer[] = []
  let bytes = 0
  for await (const piece of request) {
    pieces.push(piece)
    bytes += pieces.at(-1)?.length ?? 0
    if (bytes > BODY_BYTES_MAX) return null
  }
  return Buffer.concat(pieces).toString()
}

async function openServer(
  port: number,
  answer: (request: IncomingMessage, response: ServerResponse) => Promise<void>,
): Promise<{ readonly port: number; readonly close: () => void }> {
  const server: Server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy())
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause) =>
      reject(new SettingError('--port', `cannot be listened at (${messageOf(cause)})`)),
    )
    server.listen(port, HOST, resolve)
  })
  const address = server.address()
  return {
    port: typeof address === 'object' && address ? address.port : port,
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

const ended = (stop: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (stop.aborted) resolve()
    stop.addEventListener('abort', () => resolve(), { once: true })
  })

/** The two operations that are needed of a running program. */
class Api {
  readonly #origin: string
  readonly #headers: Readonly<Record<string, string>>

  constructor(origin: string, key: string | null) {
    this.#origin = origin
    this.#headers = {
      'content-type': 'application/json',
      ...(key !== null && { authorization: `Bearer ${key}` }),
    }
  }

  async subscribe(body: object): Promise<{ readonly id: string; readonly secret: string }> {
    const answer = await this.#ask('POST', '/v1/webhooks', body)
    const { id, secret } = isRecord(answer) ? answer : {}
    if (typeof id !== 'string' || typeof secret !== 'string') throw new SubscribeFailedError('no secret came')
    return { id, secret }
  }

  async unsubscribe(id: string): Promise<void> {
    await this.#ask('DELETE', `/v1/webhooks/${id}`)
  }

  async #ask(method: 'POST' | 'DELETE', path: string, body?: object): Promise<unknown> {
    const { 'content-type': type, ...others } = this.#headers
    const response = await fetch(`${this.#origin}${path}`, {
      method,
      headers: body && type ? this.#headers : others,
      signal: AbortSignal.timeout(TIMEOUT_MS),
      ...(body && { body: JSON.stringify(body) }),
    }).catch((cause: unknown) => {
      const reason = messageOf(cause instanceof Error && cause.cause ? cause.cause : cause)
      throw new SettingError('PORT', `no Millrace answers at ${this.#origin} (${reason})`, { cause })
    })
    const answer: unknown = await response.json().catch(() => null)
    if (response.ok) return answer
    throw new SubscribeFailedError(problemOf(answer) ?? `HTTP ${response.status}`)
  }
}

function problemOf(answer: unknown): string | null {
  const error = isRecord(answer) ? answer['error'] : null
  if (!isRecord(error) || typeof error['message'] !== 'string') return null
  const hint = error['code'] === 'url_invalid' ? ' Start the program with WEBHOOKS=loopback.' : ''
  return `${error['message']}${hint}`
}

/** The program does not take the subscription. */
export class SubscribeFailedError extends failure('SubscribeFailedError', 'subscribe_failed', 'stop') {
  constructor(problem: string) {
    super(`The subscription was refused: ${problem}`)
  }
}
