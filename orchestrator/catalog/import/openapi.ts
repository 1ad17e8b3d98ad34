/**
 * An OpenAPI document as one service. Prices stand in `x-payment-info`, in either dialect: offers
 * of our own kind (`intent`, `method`, `amount`), or `{price: {mode, currency, amount}, protocols:
 * [...]}`. Operations that need a key are left out.
 */
import { itemsOf, type Json, membersOf, textOf } from '#primitives.ts'
import { type Importer, idOfHost, type ServiceDraft } from './importer.ts'

const methods = ['get', 'post', 'put', 'patch', 'delete'] as const

export const openapi: Importer = {
  name: 'an OpenAPI document',
  accepts: (document) => textOf(membersOf(document)['openapi'])?.startsWith('3.') === true,
  read: (document, location): ServiceDraft[] => {
    const root = membersOf(document)
    const serviceUrl = serverOf(root, location)
    return [{ externalId: serviceUrl || location, place: [], service: serviceOf(root, serviceUrl, location) }]
  },
}

function serviceOf(root: Json, serviceUrl: string, location: string): Json {
  const info = membersOf(root['info'])
  const more = membersOf(root['x-service-info'])
  const docs = membersOf(more['docs'])
  const host = URL.canParse(serviceUrl) ? new URL(serviceUrl) : null
  return {
    id: textOf(more['id']) ?? idOfHost(`${host?.host ?? 'unknown'}${host?.pathname ?? ''}`),
    name: textOf(info['title']) ?? host?.host,
    description: textOf(info['description']) ?? textOf(info['summary']) ?? '',
    serviceUrl,
    categories: itemsOf(more['categories']),
    tags: itemsOf(root['tags']).map((tag) => textOf(membersOf(tag)['name']) ?? ''),
    docs: {
      apiReference: linkOf(docs['apiReference'], serviceUrl),
      homepage: linkOf(docs['homepage'], serviceUrl),
      llmsTxt: linkOf(docs['llms'], serviceUrl),
      openapi: /^https?:/.test(location) ? location : undefined,
    },
    endpoints: endpointsOf(root),
  }
}

/** Links may be relative to the server. */
function linkOf(link: unknown, serviceUrl: string): string | undefined {
  const text = textOf(link)
  return text !== undefined && URL.canParse(text, serviceUrl) ? new URL(text, serviceUrl).href : text
}

/** The first server's URL; relative ones, and none, are of where the document came from. */
function serverOf(root: Json, location: string): string {
  const url = textOf(membersOf(itemsOf(root['servers'])[0])['url']) ?? '/'
  const base = URL.canParse(location) ? location : undefined
  return URL.canParse(url, base) ? new URL(url, base).href : ''
}

function endpointsOf(root: Json): Json[] {
  return Object.entries(membersOf(root['paths'])).flatMap(([path, item]) =>
    methods.flatMap((method) => {
      const shared = membersOf(item)
      const operation = resolved(root, shared[method])
      if (!(method in shared) || needsKey(root, operation)) return []
      return [endpointOf(root, method, path, operation, itemsOf(shared['parameters']))]
    }),
  )
}

/**
 * Paid operations are open to all who pay; of the others, those that some way without a key leads
 * to.
 */
function needsKey(root: Json, operation: Json): boolean {
  if ('x-payment-info' in operation) return false
  const ways = operation['security'] ?? root['security']
  return (
    Array.isArray(ways) && ways.length > 0 && !ways.some((way) => Object.keys(membersOf(way)).length === 0)
  )
}

function endpointOf(
  root: Json,
  method: string,
  path: string,
  operation: Json,
  shared: readonly unknown[],
): Json {
  const parameters = [...shared, ...itemsOf(operation['parameters'])].map((each) => resolved(root, each))
  const query = parameters.filter((parameter) => parameter['in'] === 'query')
  const content = membersOf(
    membersOf(resolved(root, operation['requestBody'])['content'])['application/json'],
  )
  const takesBody = Object.keys(content).length > 0
  const schema = takesBody ? content['schema'] : query.length > 0 ? schemaOfQuery(query) : undefined
  const summary = textOf(operation['summary'])
  const description = textOf(operation['description'])
  return {
    method: method.toUpperCase(),
    path,
    description: [summary, description].filter((text) => text).join(' '),
    aliases: [textOf(operation['operationId']) ?? ''],
    capabilities: itemsOf(operation['tags']),
    requestFormat: takesBody ? 'json' : 'query',
    inputSchema: schema === undefined ? undefined : withComponents(root, schema),
    inputExample: content['example'] ?? exampleOf(root, content['examples']),
    paymentOffers: offersOf(membersOf(operation['x-payment-info'])),
  }
}

const schemaOfQuery = (parameters: readonly Json[]): Json => ({
  type: 'object',
  properties: Object.fromEntries(parameters.map(({ name, schema }) => [String(name), schema ?? true])),
  required: parameters.filter(({ required }) => required === true).map(({ name }) => String(name)),
})

/** References of the schema are into the document. */
const withComponents = (root: Json, schema: unknown): Json => ({
  ...membersOf(schema),
  components: membersOf(root['components']),
})

function exampleOf(root: Json, examples: unknown): unknown {
  const [first] = Object.values(membersOf(examples))
  return first === undefined ? undefined : resolved(root, first)['value']
}

function resolved(root: Json, value: unknown): Json {
  const reference = textOf(membersOf(value)['$ref'])
  if (reference === undefined || !reference.startsWith('#/')) return membersOf(value)
  let found: unknown = root
  for (const name of reference.slice(2).split('/'))
    found = membersOf(found)[name.replaceAll('~1', '/').replaceAll('~0', '~')]
  return membersOf(found)
}

function offersOf(info: Json): Json[] {
  if ('price' in info || 'protocols' in info) return priced(info)
  const offers = 'offers' in info ? itemsOf(info['offers']) : 'method' in info ? [info] : []
  return offers.map(membersOf).map(({ intent, method, amount, currency, description, decimals }) => ({
    protocol: 'mpp',
    intent: intent ?? 'charge',
    method,
    amount: amount === undefined ? null : amount,
    ...(amount === null && { dynamic: true }),
    currency,
    decimals,
    description,
  }))
}

/** The second dialect: a price in whole currency units, and the protocols that take it. */
function priced(info: Json): Json[] {
  const price = membersOf(info['price'])
  const fixed =
    price['mode'] === undefined || price['mode'] === 'fixed' ? textOf(`${price['amount'] ?? ''}`) : undefined
  const units = fixed === undefined ? null : unitsOf(fixed)
  const names = itemsOf(info['protocols']).flatMap((protocol): [string, unknown][] =>
    typeof protocol === 'string' ? [[protocol, {}]] : Object.entries(membersOf(protocol)),
  )
  return names
    .filter(([name]) => name === 'mpp' || name === 'x402')
    .map(([protocol, more]) => ({
      protocol,
      intent: textOf(membersOf(more)['intent']) ?? 'charge',
      method: textOf(membersOf(more)['method']) ?? (protocol === 'mpp' ? 'tempo' : 'evm'),
      amount: units,
      ...(units === null && { dynamic: true }),
      currency: textOf(price['currency']),
      decimals: PRICE_DECIMALS,
      ...(protocol === 'x402' && { scheme: 'exact' }),
    }))
}

/** Dollars are told in units of six digits, as stablecoins have. */
const PRICE_DECIMALS = 6

function unitsOf(decimal: string): string | null {
  const [, whole, fraction = ''] = /^\$?(\d{1,20})(?:\.(\d{1,6})0*)?$/.exec(decimal.trim()) ?? []
  return whole === undefined ? null : `${BigInt(whole + fraction.padEnd(PRICE_DECIMALS, '0'))}`
}
