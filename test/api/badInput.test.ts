// Goal: every parameter of every operation takes exactly what the document says, and what it
// refuses is answered with 400 and names the parameter. Method: operations and schemas come
// from /openapi.json, which is made of the endpoint values, so an endpoint added tomorrow is tested
// by being there; requests go to a real server over the recorded chain.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { endpoints } from '#api/routes/index.ts'
import { ParameterError } from '#http/request/parameter.ts'
import { type DocumentedParameter, type Json, type Operation, operationsOf } from '../blackbox/apiDocument.ts'
import { accepts, textsFor, validText } from '../blackbox/parameterTexts.ts'
import { recordedBatches } from '../store/support/chainStore.ts'
import { few, isFull } from '../support/breadth.ts'
import { type ChainApi, openChainApi } from './support/chainApi.ts'

let api: ChainApi
let operations: readonly Operation[]
beforeAll(async () => {
  api = await openChainApi()
  await api.append(recordedBatches('tempo-dev-2k', 10).slice(0, 2))
  operations = operationsOf((await api.get('/openapi.json')).body)
})
afterAll(() => api.close())

/** What the server makes of a request: its status, and the places it complains about. */
async function judge(operation: Operation, url: string, body?: Json) {
  const { method } = operation
  const response = await fetch(api.server.origin + url, {
    method,
    ...(body !== undefined && {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    }),
  })
  const answer: Json = await response.json()
  const places = (answer.error?.details ?? []).map(({ path }: { path: unknown[] }) => path)
  return { status: response.status, places, requestId: answer.requestId }
}

async function expectRefused(
  operation: Operation,
  url: string,
  place: readonly unknown[],
  body?: Json,
  expected = 400,
) {
  const { status, places, requestId } = await judge(operation, url, body)
  expect(status, `${operation.title}: ${url} ${JSON.stringify(body)}`).toBe(expected)
  expect(places, `${operation.title}: ${url}`).toContainEqual(place)
  expect(requestId).toMatch(/^req_/)
}

describe('bad input in parameters', () => {
  const forEachParameter = async (
    place: 'path' | 'query',
    work: (operation: Operation, parameter: DocumentedParameter) => Promise<void>,
  ) => {
    for (const operation of operations)
      for (const parameter of operation.parameters)
        if (parameter.in === place) await work(operation, parameter)
  }

  test('what a parameter reads is what its schema says', () => {
    const wrong = endpoints.flatMap(({ path, pathParameters, queryParameters }) =>
      Object.entries({ ...pathParameters, ...queryParameters }).flatMap(([name, parameter]) =>
        textsFor(parameter.schema)
          .filter((text) => reads(parameter, text) !== accepts(parameter.schema, text))
          .map((text) => `${path} ${name}: ${JSON.stringify(text)} ${reads(parameter, text)}`),
      ),
    )
    expect(wrong).toEqual([])
  })

  test('values of a query parameter that its schema excludes', async () => {
    let tried = 0
    await forEachParameter('query', async (operation, parameter) => {
      const { name, schema } = parameter
      const excluded = textsFor(schema).filter((candidate) => !accepts(schema, candidate))
      for (const text of few(excluded, 2)) {
        // A declaration of a table has commas of its own, and is checked with the query it is for.
        const isSql = name === 'signature' && text.includes(',')
        const url = urlOf(operation, { [name]: text })
        await expectRefused(operation, url, ['query', name], undefined, isSql ? 422 : 400)
        tried++
      }
    })
    expect(tried).toBeGreaterThan(isFull ? 1_000 : 200)
  })

  test('only cursors take any text', async () => {
    const free = new Set<string>()
    await forEachParameter('query', async (_operation, { name, schema }) => {
      if (textsFor(schema).every((text) => accepts(schema, text))) free.add(name)
    })
    expect([...free]).toEqual(['cursor'])
  })

  test('values of a path parameter that its schema excludes', async () => {
    await forEachParameter('path', async (operation, { name, schema }) => {
      // An empty segment is another path.
      const bad = textsFor(schema).filter((text) => text !== '' && !accepts(schema, text))
      expect(bad.length, `${operation.title} ${name}`).toBeGreaterThan(0)
      for (const text of bad)
        await expectRefused(operation, urlOf(operation, {}, { [name]: text }), ['param', name])
    })
  })

  test('a parameter given twice', async () => {
    await forEachParameter('query', async (operation, { name, schema }) => {
      const pair = `${encodeURIComponent(name)}=${encodeURIComponent(validText(schema))}`
      const url = urlOf(operation, { [name]: undefined })
      const times = schema.type === 'array' ? (schema.maxItems ?? 0) + 1 : 2
      const twice = `${url}${url.includes('?') ? '&' : '?'}${Array(times).fill(pair).join('&')}`
      await expectRefused(operation, twice, ['query', name])
    })
  })

  test('a parameter nobody knows, and one that is needed and missing', async () => {
    for (const operation of operations) {
      await expectRefused(
        operation,
        urlOf(operation, { nonsense: '1' }),
        ['query', 'nonsense'],
        exampleBody(operation),
      )
      for (const { name, required, in: place } of operation.parameters)
        if (required && place === 'query')
          await expectRefused(operation, urlOf(operation, { [name]: undefined }), ['query', name])
    }
  })

  test('bounds that end before they begin, and modes that exclude each other', async () => {
    for (const operation of operations) {
      const names = new Set(operation.parameters.map(({ name }) => name))
      for (const name of names) {
        const base = name.endsWith('.from') ? name.slice(0, -'.from'.length) : ''
        if (base === '') continue
        expect(names).toContain(`${base}.to`)
        const [from, to] =
          base === 'timestamp' ? ['2026-01-02T00:00:00Z', '2026-01-01T00:00:00Z'] : ['2', '1']
        const reversed = urlOf(operation, { [name]: from, [`${base}.to`]: to })
        await expectRefused(operation, reversed, ['query', name], undefined, 422)
      }
      if (names.has('cursor') && names.has('page')) {
        const both = urlOf(operation, { cursor: 'x', page: '1' })
        await expectRefused(operation, both, ['query', 'page'], undefined, 422)
        await expectRefused(operation, urlOf(operation, { page: '1001', limit: '10' }), ['query', 'page'])
      }
    }
  })
})

describe('bad input in bodies', () => {
  /**
   * One character more than the text may have; a body far larger than it may be is another refusal.
   */
  const tooLong = ({ maxLength = 999 }: { maxLength?: number }) => 'x'.repeat(maxLength + 1)

  test('members of a body that its schema excludes', async () => {
    // JSON-RPC tells by its own errors what is wrong in a call: rpc.test.ts.
    const withBody = operations.filter(
      (operation) => operation.requestBody && !operation.path.startsWith('/rpc'),
    )
    expect(withBody.length).toBeGreaterThan(0)
    for (const operation of withBody) {
      const good = exampleBody(operation)
      const { properties, required = [] } = formOf(operation)
      for (const name of Object.keys(properties)) {
        // There null is absence.
        const mayBeNull = operation.method === 'POST' && !required.includes(name)
        const others = [[], {}, -1, 1.5, '', tooLong(properties[name])]
        for (const value of mayBeNull ? others : [null, ...others])
          if (!acceptsValue(properties[name], value))
            await expectRefused(operation, operation.path, ['body', name], { ...good, [name]: value })
      }
      for (const name of required) {
        const { [name]: _left, ...others } = good
        await expectRefused(operation, operation.path, ['body', name], others)
      }
      await expectRefused(operation, operation.path, ['body', 'nonsense'], { ...good, nonsense: 1 })
    }
  })
})

function reads(parameter: { parse: (text: string) => unknown; valuesMax?: number }, text: string): boolean {
  const texts = parameter.valuesMax === undefined ? [text] : text.split(',')
  if (texts.length > (parameter.valuesMax ?? 1)) return false
  try {
    for (const one of texts) parameter.parse(one)
    return true
  } catch (error) {
    if (error instanceof ParameterError || (error instanceof Error && 'status' in error)) return false
    throw error
  }
}

/**
 * A request in which everything is right but what the arguments change; undefined leaves a
 * parameter out.
 */
function urlOf(
  { path, parameters }: Operation,
  query: Readonly<Record<string, string | undefined>>,
  segments: Readonly<Record<string, string>> = {},
): string {
  let url = path
  const search = new URLSearchParams()
  for (const { name, in: place, required, schema } of parameters) {
    if (place === 'path')
      url = url.replace(`{${name}}`, encodeURIComponent(segments[name] ?? validText(schema)))
    else if (required && !(name in query)) search.set(name, validText(schema))
  }
  for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, value)
  return search.size > 0 ? `${url}?${search}` : url
}

/** The needed members of a body. */
/** A body's schema; the first of several. */
function formOf({ requestBody }: Pick<Operation, 'requestBody'>): Json {
  const { schema } = requestBody.content['application/json']
  return schema.anyOf?.[0] ?? schema
}

function exampleBody({ requestBody }: Operation): Json {
  if (!requestBody) return undefined
  const { properties = {}, required = [] } = formOf({ requestBody })
  return Object.fromEntries(required.map((name: string) => [name, validText(properties[name])]))
}

function acceptsValue(schema: Json, value: unknown): boolean {
  if (schema.anyOf) return schema.anyOf.some((branch: Json) => acceptsValue(branch, value))
  if (schema.const !== undefined) return schema.const === value
  // Every schema that has a name is of an object.
  if (schema.$ref || schema.type === 'object' || schema.type === 'array') return typeof value === 'object'
  if (schema.type === 'boolean') return typeof value === 'boolean'
  if (schema.type === 'integer') return Number.isInteger(value) && accepts(schema, `${value}`)
  return typeof value === 'string' && accepts(schema, value)
}
