/** One endpoint value as a Fastify route: the steps of a request in the order they are taken. */
import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Clock } from '#runtime.ts'
import type { Logger } from '#telemetry.ts'
import {
  type Access,
  type AccessRequest,
  type AccessRule,
  type Caller,
  isStranger,
  partyOf,
} from './access.ts'
import type { JsonAnswer, RawAnswer, WrittenAnswer } from './answer.ts'
import { cacheControl, entityTag, withoutQuota } from './cache.ts'
import { selectChain } from './chain.ts'
import type { Deadline, Deadlines } from './deadline.ts'
import type { Endpoint, EndpointRequest } from './endpoint.ts'
import { ApiError } from './errors.ts'
import {
  type ChainFreshness,
  type Freshness,
  freshnessHeaders,
  Standing,
  waitForMinBlock,
} from './freshness.ts'
import type { Guests } from './guests.ts'
import { assertBodyGiven, bodyCheck } from './json.ts'
import type { Paging } from './pagination.ts'
import { parsePath, parseQuery, type RawQuery } from './query.ts'
import { serializerSchema } from './serialize.ts'
import { SharedReads } from './sharedReads.ts'
import { EventStream } from './sse.ts'
import type { Turns } from './turns.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The OpenAPI template, by which metrics and logs name the route. */
    template?: string
    errorFields?: Readonly<Record<string, unknown>>
    /** Reads the body's text in place of the JSON parser. @throws ApiError */
    readBody?: (text: string) => unknown
  }
  interface FastifyRequest {
    /** Monotonic milliseconds at which the request came in. */
    startedMs: number
    /**
     * Monotonic milliseconds at which a live stream began, else null. It lasts as long as its
     * client; its duration says nothing about us.
     */
    streamsSinceMs: number | null
    /** Null until access has told whose request it is. */
    identified: Identified | null
    /** Null until its route is known. */
    deadline: Deadline | null
  }
}

/** Whose request it is. */
export interface Identified {
  readonly caller: Caller
  readonly rule: AccessRule
  readonly asking: AccessRequest
  /** Quota and payment let it in. */
  isAdmitted: boolean
}

/** What every route works with. */
export interface RouteContext<Services> {
  readonly services: Services
  readonly chains: readonly number[]
  readonly access: Access
  /** Null where no chain data is served. */
  readonly freshness: Freshness | null
  readonly paging: Paging
  readonly deadlines: Deadlines
  readonly turns: Turns
  readonly guests: Guests
  readonly clock: Clock
  readonly log: Logger
  /** Aborted when the program begins to stop. */
  readonly shutdown: AbortSignal
}

export function addRoute<Services>(
  app: FastifyInstance,
  endpoint: Endpoint<Services>,
  context: RouteContext<Services>,
): void {
  const { path, method, produces, body, errorFields } = endpoint
  const checkBody = !body ? () => {} : body.read ? assertBodyGiven : bodyCheck(body.schema)
  const underWay = new SharedReads<WrittenAnswer>()
  app.route({
    method,
    url: path.replaceAll(/\{(\w+)\}/g, ':$1'),
    config: { template: path, errorFields, ...(body?.read && { readBody: body.read }) },
    ...(body && { bodyLimit: body.bytesMax }),
    schema:
      produces.kind === 'json' ? { response: { [produces.status]: serializerSchema(produces.schema) } } : {},
    // Before its body is read: that of a caller who may ask nothing costs nothing.
    onRequest: (request, reply, done) => {
      const deadline = context.deadlines.start(reply.raw, endpoint.deadlineMs)
      request.deadline = deadline
      const entering = enter(endpoint.access, request, context)
      if (entering) deadline.bound(entering).then(() => done(), done)
      else done()
    },
    handler: async (request, reply) => {
      const { deadline, identified } = request
      if (!deadline || !identified) throw new Error(`${path}: a request came in without its beginning`)
      const facts = { deadline, identified, reply }
      const answer = await deadline.bound(answerOf(endpoint, checkBody, request, facts, context, underWay))
      return answer === 'challenged' ? reply : send(answer, endpoint, request, reply, context, deadline)
    },
  })
}

/** Tells whose request it is, and lets it begin; undefined where that took no time. @throws ApiError */
function enter(
  rule: AccessRule,
  request: FastifyRequest,
  { access, guests }: Pick<RouteContext<never>, 'access' | 'guests'>,
): Promise<void> | undefined {
  const asking = accessRequestOf(request)
  const begin = (caller: Caller): Promise<void> | undefined => {
    request.identified = { caller, rule, asking, isAdmitted: false }
    access.assertLeft?.(caller, asking, rule)
    if (rule.scope === null) return undefined
    if (isStranger(caller)) return guests.enter(partyOf(caller))
    guests.sawOther()
    return undefined
  }
  const identifying = access.identify(asking, rule)
  return identifying instanceof Promise ? identifying.then(begin) : begin(identifying)
}

interface BegunRequest {
  readonly deadline: Deadline
  readonly identified: Identified
  readonly reply: FastifyReply
}

async function answerOf<Services>(
  endpoint: Endpoint<Services>,
  checkBody: (body: unknown) => void,
  request: FastifyRequest,
  { deadline: { signal }, identified, reply }: BegunRequest,
  context: RouteContext<Services>,
  underWay: SharedReads<WrittenAnswer>,
): Promise<JsonAnswer | WrittenAnswer | RawAnswer | 'challenged'> {
  const { key: _key, ...rawQuery } = request.query as RawQuery
  const { caller, asking } = identified
  const path = parsePath(request.params as Record<string, string>, endpoint.pathParameters)
  const query = parseQuery(withLegacyChain(rawQuery), endpoint.queryParameters)
  endpoint.check(query, (name) => Object.hasOwn(rawQuery, name))
  checkBody(request.body)
  const chainId = chainOf(endpoint, path, query, context.chains, caller)
  endpoint.permit?.(caller, request.body)

  const units = endpoint.units({ chainId, query, body: request.body }, context.services)
  const admission = await context.access.admit(caller, asking, endpoint.access, units)
  identified.isAdmitted = true
  reply.headers(admission.headers)
  if (admission.kind === 'challenged') {
    withoutQuota(reply)
    reply.code(402).header('cache-control', 'no-store').type(admission.contentType).send(admission.body)
    return 'challenged'
  }
  let fresh: ChainFreshness | undefined
  // The parameter's own type: minBlockParameter reads block numbers.
  const minBlock = query['minBlock'] as number | undefined
  if (chainId !== undefined && context.freshness) {
    const { freshness, clock } = context
    if (minBlock !== undefined) await waitForMinBlock({ freshness, clock, signal }, chainId, minBlock)
    // Read before the data is, so that the answer is at least as fresh as it says.
    fresh = freshness.read(chainId)
    reply.headers(freshnessHeaders(fresh))
  }
  const { id: requestId, headers, body } = request
  const { paging, services } = context
  const call: Omit<EndpointRequest, 'signal' | 'standing'> = {
    chainId,
    path,
    query,
    body,
    caller,
    requestId,
    headers,
    asking,
    paging,
  }
  const inTurn = async (of: AbortSignal) => {
    const standing = new Standing(minBlock)
    const answer = await context.turns.take(endpoint.access, partyOf(caller), of, () =>
      endpoint.run({ ...call, signal: of, standing }, services),
    )
    return standingAt(answer, standing, fresh)
  }
  if (!endpoint.shared) return inTurn(signal)
  // Not with a read that began before the block this answer says it has.
  const same = `${chainId} ${fresh?.version} ${fresh?.indexedBlock} ${fresh?.finalizedBlock} ${request.url}`
  let isOwn = false
  const read = async (together: AbortSignal) => {
    isOwn = true
    return written(await inTurn(together), endpoint, reply)
  }
  try {
    return await underWay.join(same, signal, read)
  } catch (error) {
    // What another caller asked too much of is no answer to this one.
    if (isOwn || !isRefusal(error)) throw error
    return underWay.join(`${same} ${partyOf(caller)}`, signal, read)
  }
}

/** Its headers say which block it is of, where that is an older one. */
function standingAt<Answer extends JsonAnswer | RawAnswer>(
  answer: Answer,
  { tip }: Standing,
  fresh: ChainFreshness | undefined,
): Answer {
  if (!fresh || fresh.indexedBlock === null || tip >= fresh.indexedBlock) return answer
  return { ...answer, headers: { ...answer.headers, ...freshnessHeaders({ ...fresh, indexedBlock: tip }) } }
}

const isRefusal = (error: unknown): boolean => error instanceof ApiError && error.code === 'overloaded'

/** Serialized and tagged once for all who get it. */
function written<Services>(
  answer: JsonAnswer | RawAnswer,
  { path, produces }: Endpoint<Services>,
  reply: FastifyReply,
): WrittenAnswer {
  if (answer.kind !== 'json' || produces.kind !== 'json') throw new TypeError(`${path} answers with JSON`)
  const { value, cache, headers } = answer
  const text = String(reply.code(produces.status).serialize(value))
  return { kind: 'written', text, tag: entityTag(text), cache, headers }
}

function send<Services>(
  answer: JsonAnswer | WrittenAnswer | RawAnswer,
  endpoint: Endpoint<Services>,
  request: FastifyRequest,
  reply: FastifyReply,
  context: RouteContext<Services>,
  deadline: Deadline,
): FastifyReply | Promise<FastifyReply> {
  const { vary, ...others } = answer.headers ?? {}
  reply.headers(others)
  if (vary !== undefined) addVary(reply, vary)
  // One URL, another chain for a sandbox key: a shared cache must tell them apart.
  if (endpoint.chain !== 'none') addVary(reply, 'authorization, svc-api-key')
  switch (answer.kind) {
    case 'json': {
      const status = endpoint.produces.kind === 'json' ? endpoint.produces.status : 200
      return reply.code(status).header('cache-control', cacheControl(answer.cache)).send(answer.value)
    }
    case 'written': {
      const { text, tag, cache } = answer
      return reply
        .code(200)
        .headers({
          'cache-control': cacheControl(cache),
          'content-type': jsonType,
          ...(cache !== 'none' && { etag: tag }),
        })
        .send(text)
    }
    case 'bytes': {
      const { status = 200, cache = 'none', contentType, body, trailers, isLong = false } = answer
      for (const name of trailers?.names ?? [])
        reply.trailer(name, async () => trailers?.values()[name] ?? '')
      if (isLong) deadline.lift()
      if (body instanceof Readable) {
        deadline.signal.addEventListener('abort', () => body.destroy(deadline.signal.reason), { once: true })
      }
      const payload =
        body instanceof Uint8Array ? Buffer.from(body.buffer, body.byteOffset, body.byteLength) : body
      return reply.code(status).header('cache-control', cacheControl(cache)).type(contentType).send(payload)
    }
    case 'empty':
      return reply.code(204).header('cache-control', cacheControl('none')).send()
    case 'events':
      return stream(answer, request, reply, context, deadline)
  }
}

async function stream<Services>(
  answer: Extract<RawAnswer, { kind: 'events' }>,
  request: FastifyRequest,
  reply: FastifyReply,
  { clock, shutdown, log }: RouteContext<Services>,
  deadline: Deadline,
): Promise<FastifyReply> {
  deadline.lift()
  request.streamsSinceMs = clock.monotonic()
  if (request.method === 'HEAD') return reply.type('text/event-stream; charset=utf-8').send()
  reply.hijack()
  const events = new EventStream(reply.raw, reply.getHeaders(), { clock, gone: deadline.signal, shutdown })
  try {
    await answer.write(events)
  } catch (error) {
    // After the first byte there is no status left to send: the client sees the stream end and
    // resumes.
    if (!events.signal.aborted) log.error({ requestId: request.id, cause: error }, 'a live stream failed')
  } finally {
    events.close()
  }
  if (events.end === 'bufferFull' || events.end === 'stalled') {
    log.warn(
      { requestId: request.id, reason: events.end },
      'dropped a live stream whose client does not read',
    )
  }
  return reply
}

/** Adds to what the answer varies by already, such as the origin. */
function addVary(reply: FastifyReply, names: string): void {
  const before = reply.getHeader('vary')
  reply.header('vary', before === undefined ? names : `${before}, ${names}`)
}

function accessRequestOf(request: FastifyRequest): AccessRequest {
  const { headers, method, ip, url } = request
  const { key } = request.query as RawQuery
  return { headers, method, url, remoteAddress: ip, queryKey: key }
}

const jsonType = 'application/json; charset=utf-8'

/** `chain_id` is the older name of `chainId`; clients of both are out there. */
function withLegacyChain(query: RawQuery): RawQuery {
  const { chain_id: legacy, ...others } = query
  return legacy === undefined || others['chainId'] !== undefined ? query : { ...others, chainId: legacy }
}

function chainOf<Services>(
  endpoint: Endpoint<Services>,
  path: Readonly<Record<string, unknown>>,
  query: Readonly<Record<string, unknown>>,
  served: readonly number[],
  caller: Caller,
): number | undefined {
  if (endpoint.chain === 'none') return undefined
  if (endpoint.chain === 'query') return selectChain(asChain(query['chainId']), served, caller)
  const name = 'chainId' in path ? 'chainId' : 'chain'
  return selectChain(asChain(path[name]), served, caller, ['param', name])
}

/** The parameter's own type: chainParameter reads chain ids. */
const asChain = (value: unknown) => value as number | undefined
