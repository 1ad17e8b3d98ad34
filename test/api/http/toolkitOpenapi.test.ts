// Goal: the document is valid OpenAPI 3.1, names what is served and nothing else, and every
// response fits it.
import { validate } from '@scalar/openapi-parser'
import { Compile } from 'typebox/compile'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { errorSchema, openapiDocument } from '#http/document/openapi.ts'
import { endpoint } from '#http/endpoint.ts'
import { errorCatalogue } from '#http/errors.ts'
import * as p from '#http/request/parameter.ts'
import * as s from '#http/schema.ts'
import { jobErrors, nodeErrors } from '#orchestrator/job/jobErrors.ts'
import manifest from '#package.json' with { type: 'json' }
import { endlessRows, examples } from '../support/toolkitExamples.ts'
import { type RunningServer, startServer } from '../support/toolkitServer.ts'

interface Operation {
  operationId: string
  parameters: { name: string; in: string; required: boolean; schema: object }[]
  responses: Record<string, { content?: Record<string, { schema?: object }> }>
}
interface Document {
  openapi: string
  info: { title: string; version: string }
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, { properties?: object; enum?: string[] }> }
}

let server: RunningServer
let document: Document
beforeAll(async () => {
  server = await startServer(examples, endlessRows)
  document = (await (await fetch(`${server.origin}/openapi.json`)).json()) as Document
})
afterAll(() => server.app.close())

test('a public validator finds nothing wrong', async () => {
  expect(document.openapi).toBe('3.1.0')
  expect(document.info).toMatchObject({ title: 'Millrace', version: manifest.version })
  const { valid, errors } = await validate({ ...document })
  expect(errors ?? []).toEqual([])
  expect(valid).toBe(true)
})

test('the validator would find a mistake', async () => {
  const broken = structuredClone(document) as unknown as {
    paths: { '/v1/rows': { get: { responses: unknown } } }
  }
  broken.paths['/v1/rows'].get.responses = 'none'
  expect((await validate({ ...broken })).valid).toBe(false)
})

test('each endpoint is one operation with an id of its own, the document itself included', () => {
  const described = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`),
  )
  expect(described.toSorted()).toEqual(
    [...examples.map(({ method, path }) => `${method} ${path}`), 'GET /openapi.json'].toSorted(),
  )
  const ids = Object.values(document.paths).flatMap((item) =>
    Object.values(item).map(({ operationId }) => operationId),
  )
  expect(new Set(ids).size).toBe(ids.length)
  expect(ids).toContain('getRowsNumber')
})

test('parameters say where they stand, whether they are needed, their bounds and defaults', () => {
  const parameters = document.paths['/v1/rows']?.['get']?.parameters ?? []
  const named = (name: string) => parameters.find((parameter) => parameter.name === name)
  expect(parameters.map(({ name }) => name).toSorted()).toEqual(
    [
      'address',
      'blockNumber.from',
      'blockNumber.to',
      'chainId',
      'cursor',
      'include',
      'limit',
      'minBlock',
      'order',
      'page',
      'sender',
      'status',
      'timestamp.from',
      'timestamp.to',
    ].toSorted(),
  )
  expect(named('limit')?.schema).toMatchObject({ minimum: 5, maximum: 200, default: 10 })
  expect(named('order')?.schema).toMatchObject({ enum: ['desc', 'asc'], default: 'desc' })
  expect(document.paths['/v1/rows/{number}']?.['get']?.parameters[0]).toMatchObject({
    name: 'number',
    in: 'path',
    required: true,
  })
})

test('shared shapes and the error catalogue stand once, in the components', () => {
  expect(JSON.stringify(document.paths)).toContain('#/components/schemas/Row')
  expect(Object.keys(document.components.schemas).toSorted()).toEqual(['Error', 'Row'])
  expect(JSON.stringify(document.components.schemas['Error'])).toContain('"request_timeout"')
  for (const code of Object.keys(errorCatalogue))
    expect(JSON.stringify(document.components)).toContain(`"${code}"`)
})

test('the documented statuses of a list are those of the specification', () => {
  const statuses = Object.keys(document.paths['/v1/rows']?.['get']?.responses ?? {})
  expect(statuses).toEqual(
    expect.arrayContaining(['200', '400', '401', '402', '422', '429', '500', '502', '504']),
  )
})

test('members that an endpoint adds to its errors are documented, and no others are allowed', () => {
  const schemaOf = (path: string, method: string) =>
    Object(document.paths[path]?.[method]?.responses['400']?.content?.['application/json']?.schema)
  expect(schemaOf('/rpc/{chain}', 'post')).toMatchObject({
    additionalProperties: false,
    required: ['ok', 'error', 'requestId'],
    properties: { ok: { const: false } },
  })
  expect(schemaOf('/v1/rows', 'get').required).toEqual(['error', 'requestId'])
})

test('errors fit their schema and carry a code documented for their status', async () => {
  const check = Compile(errorSchema)
  for (const path of ['/v1/rows?limit=4', '/v1/rows?cursor=a&page=1', '/v1/fails/defect', '/v1/fails/down']) {
    const response = await fetch(server.origin + path)
    const body = (await response.json()) as { error: { code: string } }
    expect(check.Check(body)).toBe(true)
    const template = path.startsWith('/v1/fails') ? '/v1/fails/{how}' : '/v1/rows'
    const documented = document.paths[template]?.['get']?.responses[`${response.status}`]
    expect(JSON.stringify(documented)).toContain(`"${body.error.code}"`)
  }
})

test('two different shapes under one name are a mistake that shows at start', () => {
  const of = (path: string, fields: s.TProperties) =>
    endpoint({
      path,
      summary: 'x',
      response: s.named('Same', fields),
      read: (_call, _services: object) => ({}),
      present: (row) => row,
      cache: 'none',
    })
  const endpoints = [of('/a', { a: s.optional(s.text()) }), of('/b', { b: s.optional(s.text()) })]
  expect(() => openapiDocument(endpoints, [1])).toThrow(/Same/)
})

test('a template and its params that do not match are a mistake that shows at start', () => {
  const define = (params: p.Parameters) =>
    endpoint({
      path: '/v1/x/{address}',
      summary: 'x',
      params,
      response: s.object({}),
      read: (_call, _services: object) => ({}),
      present: () => ({}),
      cache: 'none',
    })
  expect(() => define({})).toThrow(/address/)
  expect(() => define({ address: p.address, token: p.token })).toThrow(/token/)
})

test('the page of errors has each code at its own address', async () => {
  const page = await fetch(`${server.origin}/docs/errors`)
  expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
  const html = await page.text()
  const ids = [...html.matchAll(/<h3 id="(\w+)">/g)].map(([, id]) => id)
  expect(ids).toEqual([...Object.keys(errorCatalogue), ...jobErrors, ...Object.keys(nodeErrors)])
  // No Markdown is left, and nothing is loaded from elsewhere.
  expect(html).not.toMatch(/\*\*|\]\(|```|^#|src=|href=/m)
})

test('the reference is served from here alone', async () => {
  const page = await fetch(`${server.origin}/docs/`)
  expect(page.status).toBe(200)
  const html = await page.text()
  expect(html).toContain('../openapi.json')
  expect(html).not.toMatch(/(src|href)="https?:/)
  const script = await fetch(`${server.origin}/docs/js/scalar.js`)
  expect(script.headers.get('content-type')).toContain('javascript')
  expect((await script.text()).length).toBeGreaterThan(1_000_000)
  const redirected = await fetch(`${server.origin}/docs`)
  expect(redirected.url).toBe(`${server.origin}/docs/`)
  expect(await redirected.text()).toBe(html)
})
