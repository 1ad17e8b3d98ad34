/**
 * The OpenAPI 3.1 document, generated from the endpoint values that serve it; nothing in it is
 * written twice.
 */
import { STATUS_CODES } from 'node:http'
import program from '#package.json' with { type: 'json' }
import { isRecord, itemsOf, membersOf } from '#primitives.ts'
import type { Endpoint } from '../endpoint.ts'
import { type ErrorCode, errorCatalogue } from '../errors.ts'
import { isBodyOptional } from '../request/json.ts'
import type { Parameter } from '../request/parameter.ts'
import * as s from '../schema.ts'
import { type OffersOf, offersAt } from './offers.ts'
import { schemesOf, security } from './security.ts'

/**
 * For directories of services. References are relative, as the server's is: behind any name the
 * document is right.
 */
const serviceInfo = {
  categories: ['blockchain', 'data', 'directory'],
  docs: { apiReference: '/docs/', homepage: '/' },
}

type Json = Readonly<Record<string, unknown>>

/** A message that this service posts by itself. */
export interface OutgoingPost {
  /** One sentence. */
  readonly summary: string
  readonly schema: s.TSchema
}

/**
 * The document for these endpoints, and for what is posted, by its name; `examples` are values for
 * path parameters, by name.
 * @throws TypeError when two different schemas carry one name.
 */
export function openapiDocument(
  endpoints: readonly Endpoint<never>[],
  chains: readonly number[],
  examples: Readonly<Record<string, string>> = {},
  posts: Readonly<Record<string, OutgoingPost>> = {},
  offersOf: OffersOf = () => [],
): Json {
  const schemas = new Map<string, unknown>()
  const paths: Record<string, Record<string, Json>> = {}
  for (const endpoint of endpoints) {
    const item = paths[endpoint.path] ?? {}
    item[endpoint.method.toLowerCase()] = operation(endpoint, schemas, examples, offersOf)
    paths[endpoint.path] = item
  }
  const webhooks = Object.entries(posts).map(([name, post]) => [
    name,
    { post: outgoing(name, post, schemas) },
  ])
  hoist(errorSchema.properties.error, schemas)
  return {
    openapi: '3.1.0',
    info: {
      title: 'Millrace',
      version: program.version,
      description: `Indexed chain data over REST, SQL and live streams, and a catalog of paid API services with live prices of whole plans. Chains served here: ${chains.join(', ')}.`,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/' }],
    'x-service-info': serviceInfo,
    tags: tagsOf(endpoints),
    paths,
    ...(webhooks.length > 0 && { webhooks: Object.fromEntries(webhooks) }),
    components: {
      schemas: Object.fromEntries(schemas),
      headers: headerComponents,
      securitySchemes: schemesOf(endpoints),
    },
  }
}

function tagsOf(endpoints: readonly Endpoint<never>[]): readonly Json[] {
  const prefixes = new Map<string, Set<string>>()
  for (const { tag, path } of endpoints) {
    const prefix = /^(\/v[0-9]+)?\/[^/{]+/.exec(path)?.[0] ?? path
    prefixes.set(tag, (prefixes.get(tag) ?? new Set()).add(`\`${prefix}\``))
  }
  return [...prefixes].map(([name, under]) => ({ name, description: `Under ${[...under].join(', ')}.` }))
}

function operation(
  endpoint: Endpoint<never>,
  schemas: Map<string, unknown>,
  examples: Readonly<Record<string, string>>,
  offersOf: OffersOf,
): Json {
  const { method, path, summary, description, tag, body } = endpoint
  const offers = offersAt(endpoint, offersOf)
  return {
    operationId: operationId(method, path),
    summary,
    ...(description && { description }),
    tags: [tag],
    parameters: [
      ...Object.entries(endpoint.pathParameters).map(([name, of]) =>
        parameter('path', name, of, examples[of.exampleOf ?? name]),
      ),
      ...Object.entries(endpoint.queryParameters).map(([name, of]) => parameter('query', name, of)),
    ],
    ...(body && {
      requestBody: {
        required: !isBodyOptional(endpoint),
        content: {
          'application/json': {
            ...bodyExampleOf(body.told ?? body.schema),
            schema: hoist(body.told ?? body.schema, schemas),
          },
        },
      },
    }),
    responses: { ...success(endpoint, schemas), ...failures(endpoint) },
    security: security(endpoint),
    ...(offers.length > 0 && { 'x-payment-info': { offers } }),
  }
}

function outgoing(name: string, { summary, schema }: OutgoingPost, schemas: Map<string, unknown>): Json {
  return {
    operationId: `receive${operationId('', name)}`,
    summary,
    tags: ['Webhooks'],
    parameters: Object.entries(signatureTexts).map(([header, description]) => ({
      ...{ name: header, in: 'header', description, required: true },
      schema: { type: 'string' },
    })),
    requestBody: { required: true, content: { 'application/json': { schema: hoist(schema, schemas) } } },
    responses: { '2XX': { description: 'Taken. Anything else is sent again on a schedule.' } },
    security: [],
  }
}

const signatureTexts = {
  'svc-event-id': 'Id of the event; what comes twice has the same.',
  'svc-event-type': 'Type of the event.',
  'svc-signature':
    '`t=<seconds>,v1=<hex>`: HMAC-SHA256 by the secret over `<t>.<body>`; one `v1` for each secret.',
  'webhook-id': 'Id of the event, as Standard Webhooks has it.',
  'webhook-timestamp': 'Seconds since the epoch, as Standard Webhooks has it.',
  'webhook-signature': '`v1,<base64>`, as Standard Webhooks has it.',
}

/** `GET /v1/tokens/{token}/holders` is `getTokensTokenHolders`. */
function operationId(method: string, path: string): string {
  const words = path.split(/[^A-Za-z0-9]+/).filter((word) => word !== '' && !/^v[0-9]+$/.test(word))
  return method.toLowerCase() + words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('')
}

function parameter(place: 'path' | 'query', name: string, of: Parameter, value?: string): Json {
  const schema = value === undefined ? of.schema : { ...of.schema, examples: [value] }
  const isRequired = place === 'path' || of.presence === 'required'
  return {
    name,
    in: place,
    description: of.description,
    required: isRequired,
    // Comma lists and repeats are both read, but where values have commas: the shorter form is shown.
    ...(of.valuesMax !== undefined && { style: 'form', explode: of.repeatsOnly === true }),
    ...(isRequired && exampleOf(schema)),
    schema: plain(schema),
  }
}

/** The schema's first example where validators of payments look for one: they know no `examples`. */
function exampleOf({ examples }: s.TSchema & { readonly examples?: unknown }): {
  readonly example?: unknown
} {
  return Array.isArray(examples) && examples.length > 0 ? { example: examples[0] } : {}
}

/** A body's example: its required members, if all have examples. */
function bodyExampleOf(schema: s.TSchema): { readonly example?: Json } {
  const { properties, required } = membersOf(schema)
  const entries = itemsOf(required).map((name) => [
    String(name),
    itemsOf(membersOf(membersOf(properties)[String(name)])['examples'])[0],
  ])
  const isWhole = entries.length > 0 && entries.every(([, value]) => value !== undefined)
  return isWhole ? { example: Object.fromEntries(entries) } : {}
}

function success({ produces, chain }: Endpoint<never>, schemas: Map<string, unknown>): Json {
  const headers = chain === 'none' ? ownHeaders : { ...ownHeaders, ...dataHeaders }
  if (produces.kind === 'json') {
    const content = { 'application/json': { schema: hoist(produces.schema, schemas) } }
    return { [produces.status]: { description: produces.description, headers, content } }
  }
  const content = Object.entries(produces.types).map(([type, schema]) => [
    type,
    { schema: schema ? hoist(schema, schemas) : { type: 'string', contentMediaType: type } },
  ])
  const answers = produces.statuses.map((status) => [
    status,
    { description: STATUS_CODES[status], headers, content: Object.fromEntries(content) },
  ])
  return Object.fromEntries(answers)
}

function failures(endpoint: Endpoint<never>): Json {
  const byStatus = Map.groupBy(codesOf(endpoint), (code) => errorCatalogue[code].status)
  const responses = [...byStatus].map(([status, codes]) => [
    status,
    failure([...new Set(codes)].sort(), endpoint.errorFields),
  ])
  return {
    ...Object.fromEntries(responses),
    ...((endpoint.access.payable || endpoint.asks || endpoint.access.buyers) && { 402: paymentChallenge }),
  }
}

/** The codes that an endpoint of this kind can answer, beside those it declares. */
function codesOf(endpoint: Endpoint<never>): ErrorCode[] {
  const { access, pathParameters, queryParameters, chain, body, deadlineMs, produces } = endpoint
  const codes: ErrorCode[] = ['internal_error', ...endpoint.errors]
  codes.push('query_invalid', ...Object.values(pathParameters).map(({ code }) => code))
  if (access.scope !== null) codes.push(...accessCodes)
  if (chain !== 'none') codes.push('chain_id_unsupported', ...dataCodes)
  if ('minBlock' in queryParameters) codes.push('block_not_reached')
  if ('cursor' in queryParameters) codes.push('parameter_conflict', 'range_invalid', 'upstream_error')
  if (body) codes.push('body_invalid', 'body_too_large', 'media_type_unsupported')
  if (deadlineMs !== null && (access.scope !== null || produces.kind === 'json'))
    codes.push('request_timeout')
  return codes
}

const accessCodes: readonly ErrorCode[] = [
  'api_key_malformed',
  'api_key_missing',
  'api_key_invalid',
  'unauthorized',
  'api_key_forbidden',
  'rate_limit_exceeded',
  'payment_required',
]

const dataCodes: readonly ErrorCode[] = [
  'upstream_error',
  'history_incomplete',
  'projection_incomplete',
  'store_rebuilding',
]

/**
 * The envelope with the codes of this status, and the members that the endpoint adds to its errors.
 */
function failure(codes: readonly ErrorCode[], errorFields: Json): Json {
  const added = Object.entries(errorFields).map(([name, value]) => [name, { const: value }])
  return {
    description: codes.map((code) => `\`${code}\`: ${errorCatalogue[code].message}`).join('\n\n'),
    headers: { ...ownHeaders, ...refs(['Link']) },
    content: {
      'application/json': {
        schema: {
          type: 'object',
          additionalProperties: false,
          required: [...Object.keys(errorFields), 'error', 'requestId'],
          properties: {
            ...Object.fromEntries(added),
            error: {
              allOf: [
                { $ref: '#/components/schemas/Error' },
                { type: 'object', properties: { code: { type: 'string', enum: codes } } },
              ],
            },
            requestId: plain(requestIdSchema),
          },
        },
      },
    },
  }
}

const paymentChallenge: Json = {
  description:
    'Payment is needed. Protocol-native: read WWW-Authenticate, pay, repeat with Authorization: Payment; or by x402, PAYMENT-REQUIRED and PAYMENT-SIGNATURE.',
  headers: {
    ...{ 'svc-request-id': { $ref: '#/components/headers/svc-request-id' } },
    'WWW-Authenticate': { schema: { type: 'string' }, description: 'The payment challenge.' },
    'PAYMENT-REQUIRED': { schema: { type: 'string' }, description: 'The same by x402, where it is taken.' },
  },
}

const codeSchema = s.oneOf(Object.keys(errorCatalogue), {
  description: [
    'Stable; branch on it. All codes there are, with their statuses:',
    ...Object.entries(errorCatalogue).map(
      ([code, { status, message }]) => `- \`${code}\` ${status}: ${message}`,
    ),
  ].join('\n'),
})

const requestIdSchema = s.text({ description: 'The same as the header svc-request-id.' })

/** The envelope of every error. */
const quotaSchema = s.object(
  {
    scope: s.text({ description: 'As `RateLimit-Scope` names it.' }),
    limit: s.integer({ minimum: 0, description: 'Units a minute.' }),
    units: s.integer({ minimum: 1, description: 'What the refused request counts as.' }),
    resetsAt: s.timestamp,
    more: s.array(s.oneOf(['sign_in', 'api_key', 'payment', 'operator', 'wait']), {
      description: 'Ways to go on, the nearest first.',
    }),
  },
  { description: 'A quota that is used up (429).' },
)

export const errorSchema = s.object({
  error: s.named('Error', {
    code: codeSchema,
    message: s.text({ description: 'For people; may change.' }),
    details: s.optional(
      s.array(
        s.object({
          message: s.text(),
          path: s.array(s.union([s.text(), s.integer()]), {
            description: 'For example `["query", "limit"]`.',
          }),
          line: s.optional(
            s.integer({ minimum: 1, description: 'Line in a text of several, SQL for example.' }),
          ),
          column: s.optional(s.integer({ minimum: 1, description: 'Column in that line.' })),
          hint: s.optional(s.text({ description: 'What would help.' })),
          quota: s.optional(quotaSchema),
        }),
      ),
    ),
  }),
  requestId: requestIdSchema,
})

const headerTexts = {
  'svc-request-id': 'Names this request; quote it when asking for help.',
  'svc-indexed-block': 'Newest block that readers can see.',
  'svc-finalized-block': 'Newest block that cannot change.',
  'svc-finality':
    'What says so: `proved`, a certificate that the chain’s validators signed; `agreed`, the word of two endpoints, or of the only one.',
  'svc-lag-blocks': "Blocks between the node's head and the newest indexed one.",
  'svc-chain-local': '`true`: a dev chain made up by this program; no network has its blocks.',
  'svc-history': '`from=<block>`: the page ends at unfinished history, which begins there.',
  'svc-native-from':
    'From this block on, the first that is held with a log of the native coin (EIP-7708), every transfer of it is listed, internal ones too; before it, values of transactions alone. `none`: no block held has such a log.',
  'svc-source': '`node`: the answer comes from the node, because the store does not have it yet.',
  'svc-reorged-from': 'A block passed earlier in this walk was replaced, from this one on.',
}

const errorHeaderTexts = {
  Link: 'With `rel="help"` the address of a text on this code: what it means, and what to do.',
}

const headerComponents: Json = Object.fromEntries(
  Object.entries({ ...headerTexts, ...errorHeaderTexts }).map(([name, description]) => [
    name,
    { description, schema: { type: 'string' } },
  ]),
)

const refs = (names: readonly string[]): Json =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))

const ownHeaders = refs(['svc-request-id'])
const dataHeaders = refs(Object.keys(headerTexts).slice(1))

/** The schema with its named parts moved to the components. */
function hoist(schema: s.TSchema, schemas: Map<string, unknown>): unknown {
  return hoistNode(plain(schema), schemas)
}

function hoistNode(node: unknown, schemas: Map<string, unknown>): unknown {
  if (Array.isArray(node)) return node.map((member) => hoistNode(member, schemas))
  if (!isRecord(node)) return node
  const members = Object.fromEntries(
    Object.entries(node).map(([key, value]) => [key, hoistNode(value, schemas)]),
  )
  const { title } = members
  if (typeof title !== 'string' || members['type'] !== 'object') return members
  const known = schemas.get(title)
  if (known !== undefined && JSON.stringify(known) !== JSON.stringify(members)) {
    throw new TypeError(`two different schemas are named ${title}`)
  }
  schemas.set(title, members)
  return { $ref: `#/components/schemas/${title}` }
}

const plain = (schema: s.TSchema): unknown => JSON.parse(JSON.stringify(schema))
