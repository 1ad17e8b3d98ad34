/**
 * A service as a source gives it, read: texts cleaned, defaults filled in, bounds checked. A bad
 * endpoint is named and left out; a service is left out when what all its endpoints need is bad, or
 * none is left.
 */
import { Compile } from 'typebox/compile'
import type { RequestProblem } from '#http/errors.ts'
import { isRecord, shorten } from '#primitives.ts'
import { cleanText } from './cleanText.ts'
import { boundSchema } from './inputSchema.ts'
import { isStorable, jsonBytes } from './jsonBytes.ts'
import { PathError, parseTemplate } from './pathTemplate.ts'
import {
  type CatalogService,
  endpointSchema,
  LINE_CHARACTERS_MAX,
  LIST_MAX,
  PARAGRAPH_CHARACTERS_MAX,
  type ServiceEndpoint,
  serviceSchema,
} from './service.ts'

export interface ReadService {
  /** Null when it is left out. */
  readonly service: CatalogService | null
  readonly problems: readonly RequestProblem[]
}

const serviceCheck = Compile(serviceSchema)
const endpointCheck = Compile(endpointSchema)

type Json = Readonly<Record<string, unknown>>

/** Paths of the problems begin with the service's own members. */
export function readService(draft: unknown): ReadService {
  if (!isRecord(draft)) return { service: null, problems: [{ path: [], message: 'is no object' }] }
  const { endpoints: drafts, ...given } = draft
  const own = cleaned(given)
  if (!Array.isArray(drafts) || drafts.length === 0)
    return { service: null, problems: [{ path: ['endpoints'], message: 'lists no endpoint' }] }
  const problems: RequestProblem[] = []
  const endpoints = readEndpoints(drafts, { ...serviceDefaults(own), ...own }, problems)
  const service = { ...serviceDefaults(own), ...own, endpoints }
  const unusable = [...urlProblems(service), ...idProblems(service)]
  problems.push(...unusable)
  const errors = serviceCheck.Check(service) ? [] : problemsOf(serviceCheck, service)
  problems.push(...errors.filter(({ path }) => path[0] !== 'endpoints' || endpoints.length > 0))
  const isUsable = endpoints.length > 0 && errors.length === 0 && unusable.length === 0
  return { service: isUsable && serviceCheck.Check(service) ? withBareUrl(service) : null, problems }
}

/**
 * Half of what may be held of a service, 1 MiB, as it is described and read for a quote: one half
 * for texts and offers, one for what describes inputs. The known one with the most endpoints, 150,
 * has 7 KB for each.
 */
const HALF_BYTES_MAX = 512 * 1_024

function readEndpoints(drafts: readonly unknown[], own: Json, problems: RequestProblem[]): ServiceEndpoint[] {
  const left = { texts: HALF_BYTES_MAX - jsonBytes(own, HALF_BYTES_MAX), inputs: HALF_BYTES_MAX }
  const endpoints: ServiceEndpoint[] = []
  const seen = new Set<string>()
  for (const [index, draft] of drafts.entries()) {
    const at = ['endpoints', index] as const
    const { endpoint, problems: found } = readEndpoint(draft)
    problems.push(...found.map((problem) => ({ ...problem, path: [...at, ...problem.path] })))
    if (!endpoint) continue
    const name = `${endpoint.method} ${endpoint.path}`
    if (seen.has(name)) problems.push({ path: at, message: `${name} is listed twice` })
    else {
      const { endpoint: kept, problems: cut } = fitted(endpoint, left)
      problems.push(...cut.map((problem) => ({ ...problem, path: [...at, ...problem.path] })))
      if (kept) endpoints.push(kept)
    }
    seen.add(name)
  }
  return endpoints
}

/** The endpoint as far as it may be kept: whole, without what describes its input, or not at all. */
function fitted(endpoint: ServiceEndpoint, left: { texts: number; inputs: number }): ReadEndpoint {
  const { inputSchema, inputExample, ...bare } = endpoint
  const texts = JSON.stringify(bare)
  const inputs = JSON.stringify({ inputSchema, inputExample })
  const problemOfTexts = problemOf(texts, left.texts)
  if (problemOfTexts) return leftOut([{ path: [], message: `is left out: it ${problemOfTexts}` }])
  // A comma stands between two.
  left.texts -= Buffer.byteLength(texts) + 1
  const problemOfInputs = problemOf(inputs, left.inputs)
  if (!problemOfInputs) {
    left.inputs -= Buffer.byteLength(inputs)
    return { endpoint, problems: [] }
  }
  const message = `is left out with its example: it ${problemOfInputs}`
  return { endpoint: bare, problems: [{ path: ['inputSchema'], message }] }
}

function problemOf(json: string, bytesMax: number): string | null {
  if (!isStorable(json)) return 'holds a text that is not well-formed'
  return Buffer.byteLength(json) > bytesMax ? 'makes the service larger than 1 MiB' : null
}

interface ReadEndpoint {
  /** Null when it is left out. */
  readonly endpoint: ServiceEndpoint | null
  readonly problems: readonly RequestProblem[]
}

function readEndpoint(draft: unknown): ReadEndpoint {
  if (!isRecord(draft)) return leftOut([{ path: [], message: 'is no object' }])
  const { inputSchema, inputExample, path, ...texts } = draft
  const { schema, problems: found } = boundSchema(inputSchema)
  const problems = found.map((problem) => ({ ...problem, path: ['inputSchema', ...problem.path] }))
  const endpoint = {
    ...endpointDefaults(texts['method']),
    ...cleaned(texts),
    path,
    ...(schema && { inputSchema: cleaned(schema) }),
    ...(inputExample !== undefined && isSmall(inputExample) && { inputExample }),
  }
  if (!endpointCheck.Check(endpoint)) return leftOut(problemsOf(endpointCheck, endpoint))
  try {
    parseTemplate(endpoint.path)
    return { endpoint, problems }
  } catch (error) {
    if (!(error instanceof PathError)) throw error
    return leftOut([{ path: ['path'], message: error.message }])
  }
}

const leftOut = (problems: readonly RequestProblem[]): ReadEndpoint => ({ endpoint: null, problems })

/** A larger example is no example. */
const EXAMPLE_BYTES_MAX = 16 * 1_024
const isSmall = (example: unknown): boolean => jsonBytes(example, EXAMPLE_BYTES_MAX) <= EXAMPLE_BYTES_MAX

function serviceDefaults(own: Json): Json {
  const url = String(own['serviceUrl'] ?? '')
  const origin = URL.canParse(url) ? new URL(url) : null
  return {
    name: own['id'],
    description: '',
    integration: 'third-party',
    realm: origin?.host,
    status: 'active',
    tags: [],
    categories: [],
    url: origin?.origin,
    provider: { name: own['name'] ?? own['id'], url: origin?.origin },
    sourceRefs: [],
    docs: {},
  }
}

const endpointDefaults = (method: unknown): Json => ({
  description: '',
  aliases: [],
  capabilities: [],
  examples: [],
  paymentOffers: [],
  priority: 0.5,
  requestFormat: method === 'GET' || method === 'DELETE' ? 'query' : 'json',
})

/** Members whose text may be longer than a line. */
const paragraphs = new Set(['description'])
/** Members that are taken as they are: cleaning would make something else of them. */
const exact = new Set([
  'probePath',
  'path',
  'idPointer',
  'statusPointer',
  'pattern',
  'const',
  'enum',
  'default',
  'examples',
])

/** The same with clean texts and lists of bounded length; empty texts of lists are gone. */
function cleaned(value: Json, depth = 0): Json {
  const entries = Object.entries(value).flatMap(([name, member]) => {
    if (member === undefined || member === null) return name === 'amount' ? [[name, member] as const] : []
    const isExact = exact.has(name) && !(depth === 0 && name === 'examples')
    return [[name, isExact ? member : cleanedMember(name, member, depth)] as const]
  })
  return Object.fromEntries(entries)
}

function cleanedMember(name: string, member: unknown, depth: number): unknown {
  if (typeof member === 'string')
    return cleanText(member, paragraphs.has(name) ? PARAGRAPH_CHARACTERS_MAX : LINE_CHARACTERS_MAX * 10)
  if (Array.isArray(member)) {
    const items = member.map((item) =>
      typeof item === 'string'
        ? cleanText(item, LINE_CHARACTERS_MAX)
        : isRecord(item)
          ? cleaned(item, depth + 1)
          : item,
    )
    const texts = items.filter((item) => item !== '')
    return items.every((item) => typeof item === 'string') ? [...new Set(texts)].slice(0, LIST_MAX) : texts
  }
  return isRecord(member) ? cleaned(member, depth + 1) : member
}

function urlProblems(service: Json): RequestProblem[] {
  const url = String(service['serviceUrl'] ?? '')
  if (!URL.canParse(url)) return [{ path: ['serviceUrl'], message: 'is no URL' }]
  const { username, password, search, hash, protocol } = new URL(url)
  if (protocol !== 'https:' && protocol !== 'http:')
    return [{ path: ['serviceUrl'], message: 'is no URL of HTTP' }]
  if (username || password) return [{ path: ['serviceUrl'], message: 'holds a login' }]
  return search || hash ? [{ path: ['serviceUrl'], message: 'holds a query or a fragment' }] : []
}

/** Segments that mean something else below /v1/services. */
const reservedIds = ['search']

const idProblems = ({ id }: Json): RequestProblem[] =>
  reservedIds.includes(String(id)) ? [{ path: ['id'], message: 'is the name of an operation' }] : []

/** One service has one URL, however it is written. */
const withBareUrl = (service: CatalogService): CatalogService => ({
  ...service,
  serviceUrl: new URL(service.serviceUrl).href.replace(/\/+$/, ''),
})

function problemsOf(check: typeof serviceCheck | typeof endpointCheck, value: unknown): RequestProblem[] {
  const problems = check.Errors(value).flatMap(({ instancePath, message, keyword, params }) => {
    const path = instancePath.split('/').slice(1)
    if (keyword === 'required')
      return params.requiredProperties.map((name) => ({ path: [...path, name], message: 'is missing' }))
    if (keyword === 'additionalProperties')
      return params.additionalProperties.map((name) => ({
        path: [...path, shorten(name)],
        message: 'is not known',
      }))
    return keyword === 'boolean' ? [] : [{ path, message }]
  })
  return [...new Map(problems.map((problem) => [problem.path.join('/'), problem])).values()].slice(0, 10)
}
