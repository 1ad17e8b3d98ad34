// Goal: the document of the service is one that tools can trust: valid, nothing left open, nothing
// said twice.
// Method: the document as it is made from the real endpoints, under a public validator and under
// rules of our own.
import { validate } from '@scalar/openapi-parser'
import { expect, test } from 'vitest'
import { endpoints } from '#api/routes/index.ts'
import { envelopes } from '#api/routes/webhooks/envelopes.ts'
import { openapiDocument } from '#http/document/openapi.ts'
import { isRecord } from '#primitives.ts'
import { eventTypeNames } from '#webhooks/events/index.ts'
import { type Json, operationsOf } from '../blackbox/apiDocument.ts'

const document: Json = openapiDocument(endpoints, [4217], {}, envelopes)

test('a public validator finds nothing wrong', async () => {
  const { valid, errors } = await validate(structuredClone(document))
  expect(errors ?? []).toEqual([])
  expect(valid).toBe(true)
})

test('an example of what a request needs stands by itself too, where validators of payments look', () => {
  const [block] = document.paths['/v1/blocks/{block}'].get.parameters
  expect(block.example).toBe(block.schema.examples[0])
  const [sql] = document.paths['/v1/indexer/query'].get.parameters
  const body = document.paths['/v1/indexer/query'].post.requestBody.content['application/json']
  expect([body.example, sql.example]).toEqual([{ sql: sql.schema.examples[0] }, sql.schema.examples[0]])
})

test('what is posted to subscribers is there, each type with its envelope', () => {
  const posted = Object.keys(document.webhooks)
  expect(posted).toEqual(
    expect.arrayContaining([...eventTypeNames, 'ping', 'event:retracted', 'event:restored']),
  )
  for (const [type, { post }] of Object.entries<Json>(document.webhooks)) {
    const { $ref } = post.requestBody.content['application/json'].schema
    const { properties } = document.components.schemas[$ref.split('/').at(-1)]
    expect(properties.type.const).toBe(type)
  }
})

/** Schemas that allow any value, and why each has to. */
const openSchemas = new Map([
  ['QueryResult/properties/rows/items/items', 'a cell of a SQL result, which can be of the type json'],
  ['RpcRequest/properties/params/items', 'a parameter of any method'],
  ['RpcResponse/properties/result', 'what any method answers'],
  ['RpcResponse/properties/error/properties/data', 'what a contract reverted with'],
])

test('gas says what it counts: that of a block is the header’s, that of a receipt is what was paid for', () => {
  const { Block, Receipt } = document.components.schemas
  expect(Block.properties.gasUsed.description).toMatch(/header.*without the gas of state growth since T14/)
  expect(Receipt.properties.gasUsed.description).toBe('Gas paid for.')
  expect(Receipt.properties.cumulativeGasUsed.description).toMatch(
    /not `gasUsed` of the block since EIP-7778, nor on Tempo since T14/,
  )
})

test('no schema allows anything, but for those that must', () => {
  const keywords = ['type', 'anyOf', 'allOf', 'oneOf', '$ref', 'const', 'enum']
  const open = schemasOf(document).filter(([, schema]) => !keywords.some((keyword) => keyword in schema))
  expect(open.map(([name]) => name)).toEqual([...openSchemas.keys()])
})

test('objects name all their properties, or say that they are passed on as they came', () => {
  const loose = schemasOf(document).filter(
    ([, { type, properties, additionalProperties, description }]) =>
      type === 'object' &&
      !(properties && additionalProperties === false) &&
      !(additionalProperties === true && !properties && description) &&
      !isRecord(additionalProperties),
  )
  expect(loose.map(([name]) => name)).toEqual([])
})

test('lists say what they hold, strings of the chain how they look', () => {
  const schemas = schemasOf(document)
  expect(schemas.filter(([, { type, items }]) => type === 'array' && !isRecord(items))).toEqual([])
  const unsaid = schemas.filter(
    ([name, { type, pattern }]) =>
      /(address|[hH]ash|token|sender|recipient|amount|value)$/.test(name) && type === 'string' && !pattern,
  )
  expect(unsaid.map(([name]) => name)).toEqual([])
})

test('every operation says what it does, and every parameter what it means', () => {
  for (const { title, method, path, parameters, responses } of operationsOf(document)) {
    const operation = document.paths[path][method.toLowerCase()]
    expect(operation.summary, title).toMatch(/^[A-Z].*\.$/)
    for (const { name, schema } of parameters) {
      expect(Object.keys(schema).length, `${title} ${name}`).toBeGreaterThan(0)
      const described = operation.parameters.find((parameter: Json) => parameter.name === name)
      expect(described.description, `${title} ${name}`).toBeTruthy()
    }
    expect(Object.keys(responses)).toEqual(expect.arrayContaining(['400', '500']))
  }
})

/**
 * Every schema of the document with its place, those inside other schemas included; error envelopes
 * are one, checked once.
 */
function schemasOf(of: Json): readonly (readonly [string, Json])[] {
  const found: (readonly [string, Json])[] = []
  const visit = (name: string, schema: Json) => {
    found.push([name, schema])
    for (const [key, member] of Object.entries<Json>(schema.properties ?? {}))
      visit(`${name}/properties/${key}`, member)
    if (schema.items) visit(`${name}/items`, schema.items)
    for (const key of ['anyOf', 'allOf', 'oneOf'])
      for (const [index, member] of Object.entries(schema[key] ?? []))
        visit(`${name}/${key}/${index}`, member)
    if (isRecord(schema.additionalProperties)) visit(`${name}/*`, schema.additionalProperties)
  }
  for (const [name, schema] of Object.entries(of.components.schemas)) visit(name, schema)
  for (const { title, responses, requestBody } of operationsOf(of)) {
    for (const [status, { content = {} }] of Object.entries<Json>(responses))
      if (Number(status) < 400)
        for (const { schema } of Object.values<Json>(content)) visit(`${title} ${status}`, schema)
    if (requestBody) visit(`${title} body`, requestBody.content['application/json'].schema)
  }
  return found
}
