/**
 * An endpoint is a value: path, parameters, schemas, and the functions that read and present.
 * `endpoint` answers with one resource, `command` changes something, `rawEndpoint` (rawEndpoint.ts)
 * sends bytes or a live stream, `listEndpoint` (listEndpoint.ts) pages. Chain selection, access,
 * quotas, deadline, freshness, caching, errors, ids and the OpenAPI document come from the toolkit.
 *
 * `Services` is what the endpoint needs, inferred from the second parameter of its function; the
 * server must be given something that has all of it.
 */
import type { IncomingHttpHeaders } from 'node:http'
import type { JsonAnswer, Produces, RawAnswer } from './answer/answer.ts'
import type { CacheClass } from './answer/cache.ts'
import { ApiError, type ErrorCode, type RequestProblem } from './errors.ts'
import {
  type AccessRequest,
  type AccessRule,
  type AskedFor,
  type Caller,
  dataRead,
} from './request/access.ts'
import { chainParameter } from './request/chain.ts'
import { DEADLINE_MS_DEFAULT } from './request/deadline.ts'
import { minBlockParameter, type Standing } from './request/freshness.ts'
import type { Paging } from './request/pagination.ts'
import * as p from './request/parameter.ts'
import type * as s from './schema.ts'

export type Method = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/**
 * The place of the chain's name: `query` (`chainId`, the rule), `path` (a `{chainId}` or `{chain}` segment)
 * or nowhere.
 */
export type ChainPlace = 'query' | 'path' | 'none'

/** The arguments of every function of an endpoint. */
export interface ApiCall<
  Path extends p.Parameters = p.Parameters,
  Filters extends p.Parameters = p.Parameters,
  Include extends string = string,
  Chain extends ChainPlace = ChainPlace,
> {
  readonly chainId: Chain extends 'none' ? undefined : number
  readonly path: p.PathValues<Path>
  readonly filters: p.Values<Filters>
  readonly include: ReadonlySet<Include>
  readonly caller: Caller
  readonly requestId: string
  readonly headers: IncomingHttpHeaders
  /** The request that decided access, for requests made on the caller's behalf. */
  readonly asking: AccessRequest
  /** Aborted at the deadline and when the client is gone; passed on to every read. */
  readonly signal: AbortSignal
  /** Passed on to reads of what may be some blocks behind, so that the answer says so. */
  readonly standing: Standing
}

/** The parts of a request that its price depends on, and whether it can be answered. */
export type PricedRequest = Pick<
  EndpointRequest,
  'chainId' | 'path' | 'query' | 'body' | 'caller' | 'headers' | 'signal'
>

/** The common part of the definitions of all kinds of endpoint. */
export interface Definition<
  Path extends p.Parameters,
  Filters extends p.Parameters,
  Include extends string,
  Chain extends ChainPlace,
> {
  /** OpenAPI template, `/v1/tokens/{token}/holders`. */
  readonly path: string
  /** One sentence. */
  readonly summary: string
  readonly description?: string
  /** Group in the reference. Default: the first path segment after the version. */
  readonly tag?: string
  /** The template's parameters, except a chain's. */
  readonly params?: Path
  /** Query parameters of its own. */
  readonly filters?: Filters
  /** Values of `include`. */
  readonly include?: readonly Include[]
  /** Codes it throws beside those that every endpoint of its kind can. */
  readonly errors?: readonly ErrorCode[]
  readonly chain?: Chain
  readonly access?: AccessRule
  /** It answers 402 itself, whatever the quota. */
  readonly asks?: AskedFor
  /** Milliseconds; null for none. */
  readonly deadlineMs?: number | null
  /**
   * A rule over several parameters; what it returns is answered with 422 `parameter_conflict`, or
   * as the error it is. `isGiven` tells whether the request names a parameter, also one that has a
   * default.
   */
  readonly check?: (
    filters: p.Values<Filters>,
    isGiven: (name: string) => boolean,
  ) => ApiError | RequestProblem | string | undefined
}

/** The server's request to an endpoint once parameters are read and access is granted. */
export interface EndpointRequest {
  readonly chainId: number | undefined
  readonly path: Readonly<Record<string, unknown>>
  readonly query: Readonly<Record<string, unknown>>
  readonly body: unknown
  readonly caller: Caller
  readonly requestId: string
  readonly headers: IncomingHttpHeaders
  readonly asking: AccessRequest
  readonly signal: AbortSignal
  readonly standing: Standing
  readonly paging: Paging
}

/** The body that an endpoint takes. */
export interface RequestBody {
  readonly schema: s.TSchema
  /** The schema that the document tells instead: parts that are checked later, with codes of their own. */
  readonly told?: s.TSchema
  readonly bytesMax: number
  /**
   * Reads the text instead of JSON.parse and the schema, for a body whose bytes count. @throws
   * ApiError
   */
  readonly read?: (text: string) => unknown
}

/** An endpoint as the server sees it. */
export interface Endpoint<in Services> {
  readonly method: Method
  readonly path: string
  readonly summary: string
  readonly description: string
  readonly tag: string
  readonly pathParameters: p.Parameters
  readonly queryParameters: p.Parameters
  readonly body: RequestBody | null
  readonly produces: Produces
  readonly errors: readonly ErrorCode[]
  readonly chain: ChainPlace
  readonly access: AccessRule
  readonly asks?: AskedFor
  readonly units: (asked: Pick<EndpointRequest, 'chainId' | 'query' | 'body'>, services: Services) => number
  /** Dollars, as decimal text, that a request costs at least. Default: what its units do. */
  readonly price?: (asked: PricedRequest, services: Services) => Promise<string>
  /**
   * Reads nothing. @throws what `run` would throw as things stand, before the request is paid for
   */
  readonly assertAnswerable?: (asked: PricedRequest, services: Services) => Promise<void>
  /** Refuses what this caller may not ask for with this body. @throws ApiError */
  readonly permit?: (caller: Caller, body: unknown) => void
  readonly deadlineMs: number | null
  /**
   * Requests for the same URL that are under way together get one answer: it depends on nothing
   * else of them.
   */
  readonly shared: boolean
  /** Members added to the error envelope; /v1/indexer/query adds `ok: false`. */
  readonly errorFields: Readonly<Record<string, unknown>>
  /** @throws ApiError */
  readonly check: (query: Readonly<Record<string, unknown>>, isGiven: (name: string) => boolean) => void
  readonly run: (request: EndpointRequest, services: Services) => Promise<JsonAnswer | RawAnswer>
}

/** No parameters. */
export type None = Readonly<Record<never, never>>

/**
 * Reads one resource: `read` finds it (or throws a `*_not_found`), `present` writes it as
 * `response` says.
 */
export function endpoint<
  Services,
  Response extends s.TSchema,
  Row,
  Path extends p.Parameters = None,
  Filters extends p.Parameters = None,
  Include extends string = never,
  Chain extends ChainPlace = 'query',
>(
  definition: Definition<Path, Filters, Include, Chain> & {
    readonly response: Response
    readonly read: (call: ApiCall<Path, Filters, Include, Chain>, services: Services) => Promise<Row> | Row
    /** The units that a request with these values of `include` counts as in quotas. Default: one. */
    readonly units?: (asked: { readonly include: ReadonlySet<Include> }) => number
    readonly present: (row: Row, call: ApiCall<Path, Filters, Include, Chain>) => s.Static<Response>
    /** Response headers of an answer. Stands after `read`. */
    readonly headers?: (row: Row) => Readonly<Record<string, string>>
    /** Stands after `read` where it depends on the row. */
    readonly cache: CacheClass | ((row: Row) => CacheClass)
  },
): Endpoint<Services> {
  const { response, read, present, cache, units, headers = () => ({}) } = definition
  return {
    ...describe('GET', definition),
    ...(units && {
      units: ({ query: { include = [] } }: Pick<EndpointRequest, 'query'>) =>
        units({ include: new Set(include as readonly Include[]) }),
    }),
    body: null,
    produces: { kind: 'json', status: 200, schema: response, description: definition.summary },
    run: async (request, services) => {
      const call = callOf<Path, Filters, Include, Chain>(request)
      const row = await read(call, services)
      const cacheClass = typeof cache === 'function' ? cache(row) : cache
      return { kind: 'json', value: present(row, call), cache: cacheClass, headers: headers(row) }
    },
  }
}

/** Creates, changes or removes something. Its body is JSON and checked against `body`. */
export function command<
  Services,
  Body extends s.TSchema,
  Response extends s.TSchema,
  Row,
  Path extends p.Parameters = None,
  Filters extends p.Parameters = None,
  Include extends string = never,
  Chain extends ChainPlace = 'none',
  Read = s.Static<Body>,
>(
  definition: Definition<Path, Filters, Include, Chain> & {
    readonly method: Exclude<Method, 'GET'>
    readonly body?: Body
    readonly bodyTold?: s.TSchema
    readonly bodyBytesMax?: number
    /** Makes the body of its text; `body` is then for the document alone. @throws ApiError */
    readonly readBody?: (text: string) => Read
    /** Default 200. */
    readonly status?: 200 | 201 | 202
    readonly errorFields?: Readonly<Record<string, unknown>>
    /** The units that a request with this body counts as in quotas. Default: one. */
    readonly units?: (body: Read) => number
    /** Changes nothing. @throws what `run` would throw as things stand, before it is paid for */
    readonly assertAnswerable?: (
      call: { readonly path: p.PathValues<Path>; readonly body: Read; readonly caller: Caller },
      services: Services,
    ) => Promise<void>
    readonly response: Response
    readonly run: (
      call: ApiCall<Path, Filters, Include, Chain> & { readonly body: Read },
      services: Services,
    ) => Promise<Row> | Row
    readonly present: (row: Row, call: ApiCall<Path, Filters, Include, Chain>) => s.Static<Response>
    /** Response headers of an answer. Stands after `run`. */
    readonly headers?: (row: Row) => Readonly<Record<string, string>>
  },
): Endpoint<Services> {
  const {
    method,
    body,
    bodyTold: told,
    response,
    run,
    present,
    headers = () => ({}),
    status = 200,
    bodyBytesMax = BODY_BYTES_MAX_DEFAULT,
    readBody,
    units,
    assertAnswerable,
  } = definition
  return {
    ...describe(method, { ...definition, chain: definition.chain ?? 'none' }),
    ...(units && {
      units: ({ body: value }: Pick<EndpointRequest, 'body'>) => units(value as Read),
    }),
    ...(assertAnswerable && {
      assertAnswerable: ({ path, body: value, caller }: PricedRequest, services: Services) =>
        assertAnswerable({ path: path as p.PathValues<Path>, body: value as Read, caller }, services),
    }),
    body: body
      ? { schema: body, bytesMax: bodyBytesMax, ...(told && { told }), ...(readBody && { read: readBody }) }
      : null,
    produces: { kind: 'json', status, schema: response, description: definition.summary },
    errorFields: definition.errorFields ?? {},
    run: async (request, services) => {
      const call = callOf<Path, Filters, Include, Chain>(request)
      const row = await run({ ...call, body: request.body as Read }, services)
      return { kind: 'json', value: present(row, call), cache: 'none', headers: headers(row) }
    },
  }
}

/** Large enough for every body of the contract; the few larger ones say so. */
export const BODY_BYTES_MAX_DEFAULT = 64 * 1024

/**
 * The problem that `check` answers with 422: parameters that exclude each other by the contract. Every
 * other broken rule is `notValid`.
 */
export const conflict = (parameter: string, message: string): RequestProblem => ({
  path: ['query', parameter],
  message,
})

/** The error that `check` answers with 400: the value of one parameter is not valid beside the others. */
export const notValid = (parameter: string, message: string): ApiError =>
  new ApiError('query_invalid', `Not valid: ${parameter}: ${message}.`, {
    details: [{ path: ['query', parameter], message }],
  })

/** The part of an endpoint that follows from its definition alone. */
export function describe<
  Path extends p.Parameters,
  Filters extends p.Parameters,
  Include extends string,
  Chain extends ChainPlace,
>(method: Method, definition: Definition<Path, Filters, Include, Chain>) {
  const { path, params, filters, include = [], chain = 'query' } = definition
  const pathParameters = { ...params, ...chainInPath(path, chain) }
  assertTemplate(path, pathParameters)
  return {
    method,
    path,
    summary: definition.summary,
    description: definition.description ?? '',
    tag: definition.tag ?? tagOf(path),
    pathParameters,
    queryParameters: {
      ...filters,
      ...(include.length > 0 && { include: includeParameter(include) }),
      ...(chain === 'query' && { chainId: chainParameter }),
      ...(chain !== 'none' && method === 'GET' && { minBlock: minBlockParameter }),
    },
    errors: definition.errors ?? [],
    chain,
    access: definition.access ?? dataRead,
    ...(definition.asks && { asks: definition.asks }),
    units: () => 1,
    deadlineMs: definition.deadlineMs === undefined ? DEADLINE_MS_DEFAULT : definition.deadlineMs,
    shared: false,
    errorFields: {},
    check: (query: Readonly<Record<string, unknown>>, isGiven: (name: string) => boolean) => {
      const found = definition.check?.(query as p.Values<Filters>, isGiven)
      if (found !== undefined) throw found instanceof ApiError ? found : conflictError(found)
    },
  } satisfies Partial<Endpoint<never>>
}

/** The typed view of a request: its values were read by the parameters the types come from. */
export function callOf<
  Path extends p.Parameters,
  Filters extends p.Parameters,
  Include extends string,
  Chain extends ChainPlace,
>(request: EndpointRequest): ApiCall<Path, Filters, Include, Chain> {
  const { caller, requestId, headers, asking, signal, standing } = request
  return {
    chainId: request.chainId as ApiCall<Path, Filters, Include, Chain>['chainId'],
    path: request.path as p.PathValues<Path>,
    filters: request.query as p.Values<Filters>,
    include: new Set((request.query['include'] ?? []) as readonly Include[]),
    caller,
    requestId,
    headers,
    asking,
    signal,
    standing,
  }
}

function includeParameter(values: readonly string[]): p.Parameter {
  const description = `Opt-in fields: ${values.join(', ')}. Comma separated or repeated.`
  // Repeating a value is harmless, a long list of repeats is not.
  return p.described(p.list(p.oneOf(...values), values.length * 2), description)
}

function chainInPath(path: string, chain: ChainPlace): p.Parameters {
  if (chain !== 'path') return {}
  return { [path.includes('{chainId}') ? 'chainId' : 'chain']: chainParameter }
}

/**
 * A template and its parameters that do not match are a mistake of ours: it shows at start, not at
 * a request.
 */
function assertTemplate(path: string, parameters: p.Parameters): void {
  const inTemplate = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
  const declared = Object.keys(parameters)
  const odd = [...new Set(inTemplate).symmetricDifference(new Set(declared))]
  if (odd.length > 0) throw new TypeError(`${path}: template and params differ in ${odd.join(', ')}`)
}

function tagOf(path: string): string {
  const [first = '', second = ''] = path.split('/').filter(Boolean)
  const segment = /^v[0-9]+$/.test(first) ? second : first
  return segment.charAt(0).toUpperCase() + segment.slice(1)
}

function conflictError(found: RequestProblem | string): ApiError {
  const problem = typeof found === 'string' ? { path: ['query'], message: found } : found
  return new ApiError('parameter_conflict', `${problem.message}.`, { details: [problem] })
}
