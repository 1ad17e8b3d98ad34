/**
 * Chain data as tools of agents. The program gives the endpoints; a tool's arguments are some of
 * an endpoint's own, and it is asked as by any client, with its caller's rights, quotas and
 * address.
 */
import type { IncomingHttpHeaders } from 'node:http'
import type { Endpoint } from '#http/endpoint.ts'
import { ApiError, type ErrorCode, errorCatalogue, type RequestProblem } from '#http/errors.ts'
import type { AccessRequest } from '#http/request/access.ts'
import * as s from '#http/schema.ts'
import { itemsOf, type Json, membersOf, textOf } from '#primitives.ts'
import { canonicalHash } from '../plan/canonicalJson.ts'

/** A request of this server to itself. */
export interface OwnRequest {
  readonly method: Endpoint<never>['method']
  readonly url: string
  readonly headers: IncomingHttpHeaders
  /** Address of the client behind it. */
  readonly remoteAddress: string
  readonly body: string | null
  readonly signal: AbortSignal
}

export interface OwnAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly body: unknown
}

export type AskOwn = (request: OwnRequest) => Promise<OwnAnswer>

export interface ChainTool {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly endpoint: Endpoint<never>
  /** Names of the endpoint's parameters, or of its body's members, that the tool takes. */
  readonly takes: readonly string[]
  /** Values that differ from the endpoint's own defaults. */
  readonly defaults: Readonly<Record<string, string | number>>
  /** US dollars, from the answer. */
  readonly costOf: (answer: Json) => string
}

/** The form of a tool's arguments, in the endpoint's own words. */
export function inputOf({ endpoint, takes, defaults }: ChainTool): s.TSchema {
  const { pathParameters, queryParameters, body } = endpoint
  const inBody = body === null ? {} : membersOf(membersOf(body.schema)['properties'])
  const neededInBody = body === null ? [] : itemsOf(membersOf(body.schema)['required'])
  const fields = takes.map((name): [string, s.TSchema] => {
    const parameter = pathParameters[name] ?? queryParameters[name]
    const schema = parameter
      ? { ...withoutPattern(parameter.schema), description: parameter.description }
      : membersOf(inBody[name])
    const fallback = defaults[name]
    if (!parameter && !(name in inBody)) throw new TypeError(`${endpoint.path} takes no ${name}`)
    const told = { ...schema, ...(fallback !== undefined && { default: fallback }) }
    const isNeeded =
      name in pathParameters || parameter?.presence === 'required' || neededInBody.includes(name)
    return [name, isNeeded ? told : s.optional(told)]
  })
  return s.object(Object.fromEntries(fields))
}

/** Endpoints read more than the form that they write: addresses in any case. */
function withoutPattern(schema: s.TSchema): Json {
  const { pattern: _, ...members } = membersOf(schema)
  return members
}

export const outputOf = ({ endpoint: { path, produces } }: ChainTool): s.TSchema => {
  const schema = produces.kind === 'json' ? produces.schema : produces.types['application/json']
  if (!schema) throw new TypeError(`${path} answers with no JSON`)
  return s.object({
    block: s.object({
      indexed: s.optional(s.integer({ minimum: 0, description: 'Newest block that the answer knows.' })),
      finalized: s.optional(s.integer({ minimum: 0, description: 'Newest block that cannot change.' })),
    }),
    digest: s.text({ description: 'SHA-256 of the data: the same data has the same one.' }),
    cost: s.object({ amount: s.decimal, currency: s.literal('USD') }),
    data: schema,
  })
}

/** @throws ApiError as the endpoint answered it */
export async function askChain(
  tool: ChainTool,
  given: Json,
  {
    asking,
    signal,
    askOwn,
  }: { readonly asking: AccessRequest; readonly signal: AbortSignal; readonly askOwn: AskOwn },
): Promise<object> {
  const { status, headers, body } = await askOwn({
    ...requestOf(tool, { ...tool.defaults, ...given }, asking.queryKey),
    headers: ownHeaders(asking.headers),
    remoteAddress: asking.remoteAddress,
    signal,
  })
  const data = membersOf(body)
  // A cursor is sealed with chance.
  const { nextCursor: _, ...content } = data
  if (status !== 200) throw refusalOf(status, membersOf(data['error']))
  return {
    block: {
      ...blockOf('indexed', headers['svc-indexed-block'] ?? membersOf(data['horizon'])['to']),
      ...blockOf('finalized', headers['svc-finalized-block']),
    },
    digest: textOf(data['digest']) ?? `sha256:${canonicalHash(content)}`,
    cost: { amount: tool.costOf(data), currency: 'USD' },
    data,
  }
}

function requestOf(
  { endpoint: { method, path, pathParameters, body } }: ChainTool,
  given: Json,
  key: AccessRequest['queryKey'],
): Pick<OwnRequest, 'method' | 'url' | 'body'> {
  const query = new URLSearchParams(typeof key === 'string' ? { key } : {})
  const members = Object.entries(given)
  if (body === null)
    for (const [name, value] of members.filter(([name]) => !(name in pathParameters)))
      for (const one of [value].flat()) query.append(name, `${one}`)
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(`${given[name]}`))
  return {
    method,
    url: query.size === 0 ? filled : `${filled}?${query}`,
    body: body === null ? null : JSON.stringify(given),
  }
}

/** Those of the message around the call, which say nothing of this one. */
const ofMessage = ['accept', 'connection', 'content-length', 'content-type', 'transfer-encoding']

const ownHeaders = (headers: IncomingHttpHeaders): IncomingHttpHeaders => ({
  ...Object.fromEntries(
    Object.entries(headers).filter(
      ([name]) => !ofMessage.includes(name) && !/^(if-|mcp-|accept-encoding$|last-event-id$)/.test(name),
    ),
  ),
  accept: 'application/json',
  'content-type': 'application/json',
})

const blockOf = (name: string, told: unknown): Readonly<Record<string, number>> =>
  told === undefined ? {} : { [name]: Number(told) }

/** A challenge to pay is no error of the catalogue: agents pay by the API itself. */
function refusalOf(status: number, { code, message, details }: Json): ApiError {
  const known = status === 402 ? 'payment_required' : isErrorCode(code) ? code : 'upstream_error'
  const problems = itemsOf(details).flatMap(problemOf)
  const [first] = problems
  // SQL has places of its own.
  const isOfArgument = first?.path[0] === 'arguments' && known !== 'sql_invalid'
  return new ApiError(known, isOfArgument ? argumentSentence(first) : textOf(message), { details: problems })
}

const argumentSentence = ({ path, message }: RequestProblem): string =>
  `Not valid: ${path.join('.')}: ${message.replace(/\.$/, '')}.`

const isErrorCode = (code: unknown): code is ErrorCode =>
  typeof code === 'string' && Object.hasOwn(errorCatalogue, code)

function problemOf(detail: unknown): RequestProblem[] {
  const { path, message, ...more } = membersOf(detail)
  const steps = itemsOf(path).filter((step) => typeof step === 'string' || typeof step === 'number')
  const { line, column, hint } = more
  return [
    {
      // Parts of a request are arguments here.
      path: [
        ...(['query', 'param', 'body'].includes(`${steps[0]}`) ? ['arguments'] : steps.slice(0, 1)),
        ...steps.slice(1),
      ],
      message: textOf(message) ?? '',
      ...(typeof line === 'number' && { line }),
      ...(typeof column === 'number' && { column }),
      ...(typeof hint === 'string' && { hint }),
    },
  ]
}
