/**
 * The x402 bazaar: pages of resources, each one endpoint with what it accepts; those of one origin
 * are one service.
 */
import { createHash } from 'node:crypto'
import { itemsOf, type Json, membersOf, textOf } from '#primitives.ts'
import { type Importer, idOfHost, type ServiceDraft } from './importer.ts'

export const bazaar: Importer = {
  name: 'the x402 bazaar',
  accepts: (document) => itemsOf(membersOf(document)['items']).some((item) => 'resource' in membersOf(item)),
  read: (document) => {
    const origins = new Map<string, Json[]>()
    for (const item of itemsOf(membersOf(document)['items']).map(membersOf)) {
      const url = textOf(item['resource']) ?? ''
      const origin = URL.canParse(url) ? new URL(url).origin : url
      origins.set(origin, [...(origins.get(origin) ?? []), item])
    }
    return [...origins].map(
      ([origin, items]): ServiceDraft => ({
        externalId: origin,
        place: ['items', origin],
        service: serviceOf(origin, items),
      }),
    )
  },
}

/** Named by its host and a digest of its origin, so that no listing can take the id of another. */
function serviceOf(origin: string, items: readonly Json[]): Json {
  const host = URL.canParse(origin) ? new URL(origin).host : 'unknown'
  const digest = createHash('sha256').update(origin).digest('hex').slice(0, 8)
  return {
    id: `x402-${idOfHost(host)}-${digest}`,
    name: host,
    serviceUrl: origin,
    tags: ['x402'],
    endpoints: endpointsOf(items),
  }
}

/** A resource may be listed more than once; the first is taken. */
function endpointsOf(items: readonly Json[]): Json[] {
  const byName = new Map<string, Json>()
  for (const item of items) {
    const endpoint = endpointOf(item)
    const name = `${endpoint['method']} ${endpoint['path']}`
    if (!byName.has(name)) byName.set(name, endpoint)
  }
  return [...byName.values()]
}

function endpointOf(item: Json): Json {
  const url = new URL(textOf(item['resource']) ?? '', 'https://unknown.invalid')
  const accepts = itemsOf(item['accepts']).map(membersOf)
  const extension = membersOf(membersOf(membersOf(item['extensions'])['bazaar'])['info'])
  // Version 1 tells the input beside each offer, version 2 in an extension.
  const input = membersOf(extension['input'] ?? membersOf(accepts[0]?.['outputSchema'])['input'])
  const method = (textOf(input['method']) ?? 'GET').toUpperCase()
  const described = accepts.find(({ description }) => textOf(description))
  return {
    method,
    path: url.pathname,
    description:
      textOf(membersOf(item['metadata'])['description']) ??
      textOf(item['description']) ??
      textOf(described?.['description']) ??
      '',
    inputSchema: schemaOf(input),
    inputExample:
      input['body'] ??
      (input['queryParams'] && isExample(input['queryParams']) ? input['queryParams'] : undefined),
    paymentOffers: accepts.map((accept) => ({
      protocol: 'x402',
      intent: 'charge',
      method: 'evm',
      scheme: textOf(accept['scheme']),
      network: textOf(accept['network']),
      amount: textOf(accept['amount']) ?? textOf(accept['maxAmountRequired']) ?? null,
      currency: textOf(accept['asset']),
      recipient: textOf(accept['payTo']),
      timeoutSeconds: accept['maxTimeoutSeconds'],
    })),
  }
}

/** Version 1 describes members by type and meaning, version 2 gives an example. */
const isExample = (members: unknown): boolean =>
  Object.values(membersOf(members)).every((member) => !('type' in membersOf(member)))

function schemaOf(input: Json): Json | undefined {
  const fields = membersOf(input['bodyFields'] ?? input['queryParams'])
  if (Object.keys(fields).length === 0 || isExample(fields)) return undefined
  const required = Object.entries(fields).filter(([, field]) => membersOf(field)['required'] === true)
  const properties = Object.entries(fields).map(([name, field]) => {
    const { required: _, ...schema } = membersOf(field)
    return [name, schema]
  })
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    required: required.map(([name]) => name),
  }
}
