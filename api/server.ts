/**
 * The HTTP server: endpoint values in, a Fastify instance out; its limits, its hooks in the order
 * they run, its end.
 */
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import { createServer as createProbe, type Socket } from 'node:net'
import fastifyCompress from '@fastify/compress'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { SettingError } from '#errors.ts'
import { tagEncoding, tagged } from '#http/answer/cache.ts'
import { sendError, sendParserError } from '#http/answer/errorReply.ts'
import { everyOrigin, fixedHeaders, originHeaders, preflightHeaders } from '#http/answer/headers.ts'
import { documentEndpoint, type ReadExamples } from '#http/document/documents.ts'
import { addErrorsPage } from '#http/document/errorsPage.ts'
import type { OffersOf } from '#http/document/offers.ts'
import type { OutgoingPost } from '#http/document/openapi.ts'
import { addReference } from '#http/document/reference.ts'
import { BODY_BYTES_MAX_DEFAULT, type Endpoint } from '#http/endpoint.ts'
import { ApiError } from '#http/errors.ts'
import { addManagement } from '#http/management.ts'
import { RouteTable } from '#http/RouteTable.ts'
import { type Access, openAccess } from '#http/request/access.ts'
import { type ConnectionLimits, limitConnections } from '#http/request/connectionShares.ts'
import type { CursorKeys } from '#http/request/cursor.ts'
import { Deadlines } from '#http/request/deadline.ts'
import type { Freshness } from '#http/request/freshness.ts'
import { Guests } from '#http/request/Guests.ts'
import { assertDepth, assertWellFormed } from '#http/request/json.ts'
import { Turns } from '#http/request/Turns.ts'
import { addRoute } from '#http/route.ts'
import type { Clock } from '#runtime/runtime.ts'
import type { SlotLimits } from '#runtime/Slots.ts'
import { type Logger, metrics } from '#telemetry.ts'

export interface ServerOptions<Services> {
  /** How many requests for chain data run and wait at once. Default: Turns.ts. */
  readonly turns?: SlotLimits
  readonly endpoints: readonly Endpoint<Services>[]
  readonly services: Services
  /** Ids of the chains served. */
  readonly chains: readonly number[]
  /** Their owner may exchange them while the server runs. */
  readonly cursorKeys: CursorKeys
  readonly clock: Clock
  readonly log: Logger
  /** Aborted when the program begins to stop. */
  readonly shutdown: AbortSignal
  /** Default: everybody, uncounted. */
  readonly access?: Access
  /** Default: answers do not say how fresh they are. */
  readonly freshness?: Freshness
  /** Values for the reference's examples. Default: made up. */
  readonly readExamples?: ReadExamples
  /** How requests are paid for, for the document. Default: they are not. */
  readonly offersOf?: OffersOf
  /** Posts for the document. Default: nothing. */
  readonly posts?: Readonly<Record<string, OutgoingPost>>
  /** Proxies whose X-Forwarded-For is believed (addresses or CIDR ranges). Default: none. */
  readonly trustedProxies?: readonly string[]
  /** Whether each answered request is a line of the log at `info`; else at `debug`. */
  readonly logsRequests?: boolean
  /** Default: one address may hold all connections. */
  readonly connections?: ConnectionLimits
}

/** Limits on input: slow or endless senders meet a timer or a size, in this order. */
const HEADERS_TIMEOUT_MS = 10_000
const REQUEST_TIMEOUT_MS = 30_000
const CONNECTIONS_CHECK_MS = 2_000
const HEADER_BYTES_MAX = 16 * 1024
const URL_BYTES_MAX = 8 * 1024
const CONNECTIONS_MAX = 10_000
/**
 * Half the time of zlib's default for 3 % more bytes (measured on 1 MB of logs: 10 ms and 217 kB,
 * 22 ms and 211 kB).
 */
const GZIP_LEVEL = 2
// There is no cap on requests per socket: Node answers the one above it with an empty 503, outside
// the envelope.
/** Above the 60 s for which load balancers keep idle connections, so that they close first. */
const KEEP_ALIVE_TIMEOUT_MS = 72_000

/** Builds the server; it does not listen yet. */
export async function createServer<Services>(options: ServerOptions<Services>): Promise<FastifyInstance> {
  const { clock, log, shutdown, access = openAccess, freshness = null } = options
  const answering = new WeakMap<Socket, ServerResponse>()
  const app = fastifyWithLimits(options, answering)
  const table = new RouteTable()
  const deadlines = new Deadlines(clock)
  const turns = new Turns(clock, options.turns)
  const guests = new Guests(clock)
  const paging = { keys: options.cursorKeys }

  app.decorateRequest('startedMs', 0)
  app.decorateRequest('streamsSinceMs', null)
  app.decorateRequest('stream', null)
  app.decorateRequest('identified', null)
  app.decorateRequest('isPaid', false)
  app.decorateRequest('deadline', null)
  readOnlyJson(app)
  app.setErrorHandler((error, request, reply) => sendError(error, request, reply, log))
  app.setNotFoundHandler((request, reply) => sendError(unrouted(request, table), request, reply, log))

  // The hooks of a request, in the order they run.
  app.addHook('onRequest', (request, reply, done) => {
    request.startedMs = clock.monotonic()
    answering.set(request.raw.socket, reply.raw)
    const { headers } = request
    reply.headers({ 'svc-request-id': request.id, ...headersFor(headers, access), ...access.headers })
    done(refusal(request) ?? access.enter?.(headers))
  })
  addManagement(app, access, deadlines)
  app.addHook('onSend', (request, reply, payload, done) => {
    if (shutdown.aborted) reply.header('connection', 'close')
    done(null, tagged(request, reply, payload))
  })
  await app.register(fastifyCompress, { globalDecompression: false, zlibOptions: { level: GZIP_LEVEL } })
  app.addHook('onRoute', (route) => {
    table.add(route)
    route.config = { template: route.url, ...route.config }
    route.onSend = [route.onSend ?? [], tagEncoding].flat()
  })
  app.addHook('onResponse', (request, reply, done) => {
    observe(request, reply, options, access)
    done()
  })

  const { readExamples = async () => ({}), posts = {} } = options
  const document = documentEndpoint(options.endpoints, options.chains, readExamples, posts, options.offersOf)
  for (const endpoint of [...options.endpoints, document]) {
    addRoute(app, endpoint, { ...options, access, freshness, paging, deadlines, turns, guests })
  }
  addReference(app, { clock })
  addErrorsPage(app)
  app.options('*', (request, reply) => {
    const methods = table.methodsOf(request.url)
    if (methods.length === 0) throw new ApiError('not_found')
    return reply.code(204).headers(preflightHeaders(methods)).send()
  })
  return app
}

/** Starts to listen. @throws SettingError naming PORT or HOST when the address cannot be used. */
export async function listen(app: FastifyInstance, host: string, port: number): Promise<string> {
  try {
    return await app.listen({ host, port })
  } catch (cause) {
    throw addressError(cause, host, port)
  }
}

/**
 * Listens for a moment and stops: a start takes seconds, and a busy port should be told in the
 * first of them. It can still be taken before `listen`. @throws SettingError naming PORT or HOST
 */
export async function assertAddressFree(host: string, port: number): Promise<void> {
  const probe = createProbe()
  try {
    await once(probe.listen({ host, port }), 'listening')
  } catch (cause) {
    throw addressError(cause, host, port)
  }
  await new Promise((resolve) => probe.close(resolve))
}

function addressError(cause: unknown, host: string, port: number): unknown {
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined
  if (code === 'EADDRINUSE')
    return new SettingError('PORT', `${port} is in use by another program on ${host}`, { cause })
  if (code === 'EACCES') return new SettingError('PORT', `${port} needs privileges to listen on`, { cause })
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
    return new SettingError('HOST', `${host} is not an address of this machine`, { cause })
  return cause
}

/** Requests under way may finish for this long once the program stops. */
const GRACE_MS_DEFAULT = 20_000

/**
 * Ends the server: health turns 503 and streams say goodbye at once (both follow `shutdown`), no
 * new connections, what is under way finishes or is cut after the grace.
 */
export async function closeServer(
  app: FastifyInstance,
  shutdown: AbortController,
  { clock, log, graceMs = GRACE_MS_DEFAULT }: { clock: Clock; log: Logger; graceMs?: number },
): Promise<void> {
  shutdown.abort()
  const done = new AbortController()
  const closed = app.close().finally(() => done.abort())
  clock.sleep(graceMs, done.signal).then(
    () => {
      log.warn({ graceMs }, 'cutting requests that did not finish in time')
      app.server.closeAllConnections()
    },
    () => {},
  )
  await closed
}

function fastifyWithLimits<Services>(
  { log, trustedProxies, connections, access }: ServerOptions<Services>,
  answering: WeakMap<Socket, ServerResponse>,
): FastifyInstance {
  const app = Fastify({
    logger: false,
    genReqId: requestId,
    requestIdHeader: false,
    trustProxy: trustedProxies ? [...trustedProxies] : false,
    bodyLimit: BODY_BYTES_MAX_DEFAULT,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    routerOptions: { maxParamLength: URL_BYTES_MAX },
    http: {
      headersTimeout: HEADERS_TIMEOUT_MS,
      connectionsCheckingInterval: CONNECTIONS_CHECK_MS,
      maxHeaderSize: HEADER_BYTES_MAX,
      // Node would refuse a request without Host with an empty body; `refusal` does it in our
      // words.
      requireHostHeader: false,
    },
    frameworkErrors: (error, request, reply) => {
      reply.headers(headersFor(request.headers, access))
      sendError(error, request, reply, log)
    },
    clientErrorHandler: (error, socket) => {
      const response = answering.get(socket)
      const begun = response?.headersSent === true && !response.writableFinished
      sendParserError(error, socket, requestId(), begun, headersFor({}, access))
    },
  })
  app.server.maxConnections = CONNECTIONS_MAX
  if (connections) limitConnections(app.server, connections)
  // Node answers an unknown Expect with an empty 417; to us it is a request like any other.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response))
  return app
}

const headersFor = (headers: IncomingHttpHeaders, access: Access | undefined) => ({
  ...fixedHeaders,
  ...originHeaders(access?.allowedOrigin ? access.allowedOrigin(headers) : everyOrigin),
})

/**
 * Ours alone: an id that a client chose could be made to collide with another request's in our
 * logs.
 */
const requestId = () => `req_${randomUUID().replaceAll('-', '')}`

function readOnlyJson(app: FastifyInstance): void {
  const parseJson = app.getDefaultJsonParser('error', 'error')
  app.removeAllContentTypeParsers()
  app.addContentTypeParser<string>('application/json', { parseAs: 'string' }, (request, body, done) => {
    const { readBody } = request.routeOptions.config
    try {
      // Clients name the type of a body they do not send.
      if (body === '') return done(null, undefined)
      if (readBody) return done(null, readBody(body))
      assertDepth(body)
      assertWellFormed(body)
    } catch (error) {
      return done(error instanceof Error ? error : new ApiError('body_invalid'))
    }
    return parseJson(request, body, done)
  })
}

/** The refusal of a request whose fault shows before its route matters. */
function refusal(request: FastifyRequest): ApiError | undefined {
  const { headers, raw } = request
  if ((raw.url?.length ?? 0) > URL_BYTES_MAX) return new ApiError('url_too_long')
  // Readers of a target disagree on what a fragment is part of; no client that keeps to HTTP sends one.
  if (raw.url?.includes('#')) return new ApiError('request_invalid', 'The request target has a fragment (#).')
  if (headers.host === undefined && raw.httpVersion === '1.1') {
    return new ApiError('request_invalid', 'The Host header is missing.')
  }
  // Node drops the second line, which another reader of the request may have gone by.
  if (linesOf(raw.rawHeaders, 'authorization') > 1)
    return new ApiError('request_invalid', 'A request has one Authorization header.')
  const encoding = headers['content-encoding']
  return encoding && encoding !== 'identity' ? new ApiError('media_type_unsupported') : undefined
}

/** Header lines of a name, in lowercase. */
function linesOf(rawHeaders: readonly string[], name: string): number {
  let lines = 0
  for (let at = 0; at < rawHeaders.length; at += 2)
    if (rawHeaders[at]?.length === name.length && rawHeaders[at]?.toLowerCase() === name) lines++
  return lines
}

function unrouted(request: FastifyRequest, table: RouteTable): ApiError {
  const methods = table.methodsOf(request.url)
  if (methods.length === 0) return new ApiError('not_found', 'There is nothing at this path.')
  return new ApiError('method_not_allowed', undefined, { headers: { allow: methods.join(', ') } })
}

function observe(
  request: FastifyRequest,
  reply: FastifyReply,
  { clock, log, logsRequests = false }: Pick<ServerOptions<never>, 'clock' | 'log' | 'logsRequests'>,
  access: Access,
): void {
  const { template: route = 'unmatched' } = request.routeOptions.config
  const { statusCode: status } = reply
  const { startedMs, streamsSinceMs } = request
  const seconds = ((streamsSinceMs ?? clock.monotonic()) - startedMs) / 1000
  if (streamsSinceMs === null) metrics.httpSeconds.labels(route, `${status}`).observe(seconds)
  const { identified } = request
  if (identified)
    access.answered?.(identified.caller, identified.rule, {
      ...{ route, status, durationMs: seconds * 1000 },
      isAdmitted: identified.isAdmitted,
      bodyBytes: Number(request.headers['content-length'] ?? 0),
    })
  // The pattern, never the URL: a query string can hold a key.
  const fields = { requestId: request.id, method: request.method, route, status, seconds }
  if (logsRequests) log.info(fields, 'answered')
  else log.debug(fields, 'answered')
}
