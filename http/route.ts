/** One endpoint value as a Fastify route: the steps of a request in the order they are taken. */
import type { FastifyInstance, FastifyReply, FastifyRequest, FastifySchema } from 'fastify'
import type { Clock } from '#runtime/runtime.ts'
import type { Logger } from '#telemetry.ts'
import type { JsonAnswer, Produces, RawAnswer, WrittenAnswer } from './answer/answer.ts'
import { entityTag } from './answer/cache.ts'
import { sendChallenge } from './answer/challenge.ts'
import { paidAnswer } from './answer/paidAnswer.ts'
import { serializerSchema } from './answer/serialize.ts'
import type { Endpoint, EndpointRequest } from './endpoint.ts'
import { ApiError } from './errors.ts'
import {
  type Access,
  type AccessRequest,
  type AccessRule,
  buyingAs,
  type Caller,
  isStranger,
  partyOf,
} from './request/access.ts'
import { selectChain } from './request/chain.ts'
import type { Deadline, Deadlines } from './request/deadline.ts'
import {
  type ChainFreshness,
  type Freshness,
  freshnessHeaders,
  Standing,
  waitForMinBlock,
} from './request/freshness.ts'
import type { Guests } from './request/Guests.ts'
import { bodyReader, isBodyOptional } from './request/json.ts'
import type { Paging } from './request/pagination.ts'
import { parsePath, parseQuery, type RawQuery } from './request/query.ts'
import type { Turns } from './request/Turns.ts'
import { SharedReads } from './SharedReads.ts'
import { saleOf } from './sale.ts'
import { sendAnswer } from './sendAnswer.ts'
import type { EventStream } from './stream/sse.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The OpenAPI template, by which metrics and logs name the route. */
    template?: string
    errorFields?: Readonly<Record<string, unknown>>
    /** Reads the body's text in place of the JSON parser. @throws ApiError */
    readBody?: (text: string) => unknown
    /** As `AccessRule.takesPayments`. */
    takesPayments?: true
  }
  interface FastifyRequest {
    /** Monotonic milliseconds at which the request came in. */
    startedMs: number
    /**
     * Monotonic milliseconds at which a live stream began, else null. It lasts as long as its
     * client; its duration says nothing about us.
     */
    streamsSinceMs: number | null
    /** Null until it streams. */
    stream: Pick<EventStream, 'isWhole'> | null
    /** Null until access has told whose request it is. */
    identified: Identified | null
    /** Null until its route is known. */
    deadline: Deadline | null
    /** Whether this request pays for its answer. */
    isPaid: boolean
  }
}

/** A request whose caller is known. */
export interface Identified {
  readonly caller: Caller
  readonly rule: AccessRule
  readonly asking: AccessRequest
  /** Quota and payment let it in. */
  isAdmitted: boolean
}

/** The context of every route. */
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
  const { path, method, produces, body, errorFields, access } = endpoint
  const readBody = bodyReader(endpoint)
  const underWay = new SharedReads<WrittenAnswer>()
  app.route({
    method,
    url: path.replaceAll(/\{(\w+)\}/g, ':$1'),
    config: {
      ...{ template: path, errorFields },
      ...(body?.read && { readBody: body.read }),
      ...(access.takesPayments && { takesPayments: true }),
    },
    ...(body && { bodyLimit: body.bytesMax }),
    ...(isBodyOptional(endpoint) && { preValidation: withEmptyBody }),
    schema: serializersOf(produces),
    // Before its body is read: that of a caller who may ask nothing costs nothing.
    onRequest: (request, reply, done) => {
      const deadline = context.deadlines.start(reply.raw, endpoint.deadlineMs)
      request.deadline = deadline
      const entering = enter(access, request, context)
      if (entering) deadline.bound(entering).then(() => done(), done)
      else done()
    },
    handler: async (request, reply) => {
      const { deadline, identified } = request
      if (!deadline || !identified) throw new Error(`${path}: a request came in without its beginning`)
      const facts = { deadline, identified, reply }
      const answer = await deadline.bound(answerOf(endpoint, readBody, request, facts, context, underWay))
      return answer === 'challenged' ? reply : sendAnswer(answer, endpoint, request, reply, context, deadline)
    },
  })
}

function withEmptyBody(request: FastifyRequest, _reply: FastifyReply, done: () => void): void {
  request.body ??= {}
  done()
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
  readBody: (body: unknown) => unknown,
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
  request.body = readBody(request.body)
  const chainId = chainOf(endpoint, path, query, context.chains, caller)
  endpoint.permit?.(caller, request.body)

  const units = endpoint.units({ chainId, query, body: request.body }, context.services)
  const { body, headers } = request
  const sale = saleOf(endpoint, { chainId, path, query, body, headers, caller, signal }, context)
  const admission = await context.access.admit(caller, { ...asking, body }, endpoint.access, units, sale)
  identified.isAdmitted = true
  if (admission.kind === 'challenged') return sendChallenge(admission, reply)
  const asked = { asking, caller: buyingAs(caller, admission), path, query, chainId }
  const read = () => readAnswer(endpoint, asked, request, reply, context, signal, underWay)
  if (admission.kind === 'paid') {
    const { payment } = admission
    const paying = { payment, read, settlesFirst: endpoint.access.buyers !== undefined }
    return paidAnswer(paying, request, reply, context, signal)
  }
  reply.headers(admission.headers)
  return read()
}

/** A valid and admitted request, as it was read. */
interface Asked {
  readonly asking: AccessRequest
  readonly caller: Caller
  readonly path: EndpointRequest['path']
  readonly query: EndpointRequest['query']
  readonly chainId: number | undefined
}

async function readAnswer<Services>(
  endpoint: Endpoint<Services>,
  { asking, caller, path, query, chainId }: Asked,
  request: FastifyRequest,
  reply: FastifyReply,
  context: RouteContext<Services>,
  signal: AbortSignal,
  underWay: SharedReads<WrittenAnswer>,
): Promise<JsonAnswer | WrittenAnswer | RawAnswer> {
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
  const same = `${chainId} ${fresh?.version} ${fresh?.indexedBlock} ${fresh?.finalizedBlock} ${fresh?.finality} ${request.url}`
  let isOwn = false
  const read = async (together: AbortSignal) => {
    isOwn = true
    return written(await inTurn(together), endpoint, reply)
  }
  try {
    return await underWay.join(same, signal, read)
  } catch (error) {
    // Another caller's refusal is no answer to this one.
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

/** Schemas of the answer by status; errors are written by none. */
function serializersOf(produces: Produces): FastifySchema {
  if (produces.kind === 'json') return { response: { [produces.status]: serializerSchema(produces.schema) } }
  const schema = produces.types['application/json']
  if (!schema) return {}
  const statuses = produces.statuses.filter((status) => status < 400)
  return { response: Object.fromEntries(statuses.map((status) => [status, serializerSchema(schema)])) }
}

function accessRequestOf(request: FastifyRequest): AccessRequest {
  const { headers, method, ip, url } = request
  const { key } = request.query as RawQuery
  return { headers, method, url, remoteAddress: ip, queryKey: key }
}

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
