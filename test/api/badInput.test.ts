// Goal: every parameter, and every member of a body at any depth, takes exactly what the document says;
// what it refuses is answered with 400, of a plan with 422, before a payment is asked for, and named.
// Method: operations and schemas come from /openapi.json of the whole program, so an endpoint added
// tomorrow is tested by being there; requests go to a real server over the recorded chain.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Access, openAccess } from '#http/request/access.ts'
import { ParameterError } from '#http/request/parameter.ts'
import { endpoints } from '#program/parts/openParts.ts'
import {
  type DocumentedParameter,
  inlined,
  type Json,
  type Operation,
  operationsOf,
} from '../blackbox/apiDocument.ts'
import { badBodies, goodValue, isAt, oddTexts, type Place } from '../blackbox/badBodies.ts'
import { accepts, textsFor, validText } from '../blackbox/parameterTexts.ts'
import { recordedBatches } from '../store/support/chainStore.ts'
import { few, isFull } from '../support/breadth.ts'
import { ask, openChainApi } from './support/chainApi.ts'
import { startWholeApi } from './support/wholeApi.ts'

let origin: string
let document: Json
let operations: readonly Operation[]
/** Requests that were let in, or would have been asked for a payment. */
let admitted = 0
const access: Access = {
  ...openAccess,
  admit: (...asked) => {
    admitted++
    return openAccess.admit(...asked)
  },
}
const ends: (() => unknown)[] = []
beforeAll(async () => {
  const api = await openChainApi()
  ends.push(api.close)
  await api.append(recordedBatches('tempo-dev-2k', 10).slice(0, 2))
  origin = (await startWholeApi(api, (end) => void ends.push(end), access)).origin
  document = (await ask(`${origin}/openapi.json`)).body
  // An answer to HEAD names nothing.
  operations = operationsOf(document).filter(({ method }) => method !== 'HEAD')
})
afterAll(async () => {
  for (const end of ends.toReversed()) await end()
})

/** The server's judgement of a request: its status, and the places it complains about. */
async function judge(operation: Operation, url: string, body?: string) {
  const { method } = operation
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(origin + url, { method, ...(body !== undefined && { headers, body }) })
  const text = await response.text()
  const answer: Json = text.startsWith('{') ? JSON.parse(text) : {}
  const places: Place[] = (answer.error?.details ?? []).map(({ path }: { path: Place }) => path)
  return { status: response.status, places, requestId: answer.requestId, text }
}

async function expectRefused(
  operation: Operation,
  url: string,
  place: readonly unknown[],
  body?: Json,
  expected = 400,
) {
  const { status, places, requestId } = await judge(operation, url, body && JSON.stringify(body))
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
      const { name, schema, explode } = parameter
      const excluded = textsFor(schema).filter((text) => !accepts(schema, text, explode))
      for (const text of few(excluded, 2)) {
        await expectRefused(operation, urlOf(operation, { [name]: text }), ['query', name])
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
  /** JSON-RPC and MCP tell what is wrong by errors of their own: rpc.test.ts, mcpInput.test.ts. */
  const withBody = () =>
    operations.filter(({ path, requestBody }) => requestBody && !/^\/(rpc|mcp)/.test(path))
  const pathOf = (operation: Operation) => urlOf(operation, {})
  /** A plan is read by its own rules. */
  const isOfPlan = ({ path }: Operation, places: readonly Place[]) =>
    path === '/v1/quote' || places.some(([, member]) => member === 'plan')

  test('every member of a body, at any depth, as its schema excludes it', async () => {
    expect(withBody().length).toBeGreaterThan(20)
    const wrong: unknown[] = []
    for (const operation of withBody()) {
      const good = exampleBody(operation)
      const all = badBodies(formOf(operation), good, { mayBeNull: operation.method === 'POST' })
      const before = admitted
      for (const { place, body } of few(all, 60)) {
        const { status, places, text } = await judge(operation, pathOf(operation), JSON.stringify(body))
        const isNamed = places.some((told) => isAt(told, ['body', ...place]))
        if (status !== (isOfPlan(operation, places) ? 422 : 400) || !isNamed)
          wrong.push([operation.title, place.join('.'), JSON.stringify(body).slice(0, 300), status, text])
      }
      expect([operation.title, admitted - before]).toEqual([operation.title, 0])
      const after = await judge(operation, pathOf(operation), JSON.stringify(good))
      expect([operation.title, after.status < 500 || after.text]).toEqual([operation.title, true])
    }
    expect(wrong).toEqual([])
  })

  test('texts that no JSON value writes, in the place of every member', async () => {
    const wrong: unknown[] = []
    for (const operation of withBody())
      for (const { place, text: body, kind } of oddTexts(formOf(operation), exampleBody(operation))) {
        const { status, places, text } = await judge(operation, pathOf(operation), body)
        const isNamed = places.some((told) => isAt(told, ['body', ...place]))
        const isExpected = kind === 'a number without end' ? status === 400 || status === 422 : status === 400
        if (!isExpected || (!isNamed && kind !== 'nested deeply'))
          wrong.push([operation.title, kind, place.join('.'), status, text])
      }
    expect(wrong).toEqual([])
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

/** A body's schema, the first of several; filters of events are read by type: filterSchemas.test.ts. */
function formOf({ requestBody }: Operation): Json {
  const { schema } = requestBody.content['application/json']
  const whole = inlined(schema, document)
  const { properties = {}, required, ...form } = whole.anyOf?.[0] ?? whole
  const { filters: _, ...others } = properties
  return { ...form, properties: others, required: (required ?? []).filter((name: string) => name in others) }
}

const exampleBody = (operation: Operation): Json =>
  operation.requestBody ? goodValue(formOf(operation)) : undefined
