// Goal: whatever a client writes for JSON and for absence is understood at POST /mcp, in both
// generations of the protocol; what is wrong is told by the member's name, in one sentence.
// Method: raw HTTP against the door on loopback, beside the protocol's own clients.
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest'
import { agents } from './support/mcpClients.ts'
import { openDoors } from './support/server.ts'

let address: string
const ends: (() => unknown)[] = []

beforeAll(async () => {
  address = (await openDoors((end) => void ends.push(end))).address
})
afterAll(async () => {
  for (const end of ends.toReversed()) await end()
})

type Members = Readonly<Record<string, unknown>>
type Headers = Readonly<Record<string, string>>

const meta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
}
/** A message as each generation writes it, with the headers that it wants. */
const generations = [
  {
    generation: '2026-07-28',
    message: (method: string, params: Members = {}) => ({ method, params: { ...params, _meta: meta } }),
    headersOf: (method: string, params: Members = {}): Headers => ({
      ...{ 'mcp-protocol-version': '2026-07-28', 'mcp-method': method },
      ...(typeof params['name'] === 'string' && { 'mcp-name': params['name'] }),
    }),
  },
  {
    generation: '2025-11-25',
    message: (method: string, params?: Members) => ({ method, ...(params && { params }) }),
    headersOf: (): Headers => ({ 'mcp-protocol-version': '2025-11-25' }),
  },
]

async function post(headers: Headers, body: unknown) {
  const response = await fetch(`${address}/mcp`, {
    method: 'POST',
    // fetch sends */* of itself; an empty text is no wish either.
    headers: { 'content-type': 'application/json', accept: '', ...headers },
    body: JSON.stringify(body),
  })
  return { status: response.status, type: response.headers.get('content-type'), text: await response.text() }
}

const json = 'application/json; charset=utf-8'
const events = 'text/event-stream; charset=utf-8'
const taken: readonly (readonly [string, string])[] = [
  ['application/json', json],
  ['*/*', json],
  ['application/*', json],
  ['', json],
  ['application/json, text/event-stream', json],
  ['application/json;q=0.1, text/event-stream', json],
  ['APPLICATION/JSON; charset=utf-8', json],
  ['text/html, */*;q=0.1', json],
  ['text/event-stream', events],
  ['text/*', events],
  ['application/json;q=0, */*', events],
]

/** The messages of an answer, however they are framed. */
const messagesIn = (text: string): unknown[] =>
  text.startsWith('event: message\n')
    ? [...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data ?? ''))
    : [JSON.parse(text)].flat()

describe.each(generations)('a client of $generation', ({ message, headersOf }) => {
  const request = (method: string, params?: Members) => ({
    jsonrpc: '2.0',
    id: 1,
    ...message(method, params),
  })
  const send = (method: string, params?: Members, headers: Headers = {}) =>
    post({ ...headersOf(method, params), ...headers }, request(method, params))

  it.each(taken)('that sends Accept: %s gets %s', async (accept, type) => {
    const listed = await send('tools/list', {}, { accept })
    expect(listed).toMatchObject({ status: 200, type })
    expect(messagesIn(listed.text)).toMatchObject([{ id: 1, result: { tools: expect.any(Array) } }])
    const method = 'notifications/cancelled'
    const note = { jsonrpc: '2.0', ...message(method, { requestId: 7 }) }
    expect(await post({ ...headersOf(method), accept }, note)).toEqual({ status: 202, type: null, text: '' })
  })

  it.each(['text/html', 'application/json;q=0', 'application/json-seq'])(
    'that sends %s is refused',
    async (accept) => {
      const { status, type, text } = await send('tools/list', {}, { accept })
      expect([status, type]).toEqual([406, json])
      const told = /^Accept must take application\/json or text\/event-stream/
      expect(JSON.parse(text)).toMatchObject({
        jsonrpc: '2.0',
        error: { message: expect.stringMatching(told) },
      })
    },
  )

  it('may write null for what it leaves out', async () => {
    const searched = { name: 'search_services', arguments: { query: 'x', limit: null, service_ids: null } }
    for (const [method, params] of [
      ['tools/list', { cursor: null }],
      ['tools/call', searched],
      ['tools/call', { ...searched, task: null }],
    ] as const) {
      const { status, text } = await send(method, params)
      expect([status, JSON.parse(text)], JSON.stringify(params)).toMatchObject([200, { result: {} }])
      expect(JSON.parse(text).result.isError).toBeUndefined()
    }
    const { text } = await send('tools/call', { name: 'search_services', arguments: null })
    expect(text).toContain('arguments.query is required')
  })

  it.each([
    [{}, 'params.name is required.'],
    [{ name: null }, 'params.name is required.'],
    [{ name: 5 }, 'params.name must be a text.'],
    [{ name: 'search_services', arguments: 'query' }, 'params.arguments must be an object.'],
    [{ name: 'search_services', arguments: ['query'] }, 'params.arguments must be an object.'],
  ])('is told what is wrong with %j', async (params, problem) => {
    const { status, text } = await send('tools/call', params)
    expect([status, JSON.parse(text)]).toEqual([
      200,
      { jsonrpc: '2.0', id: 1, error: { code: -32602, message: problem } },
    ])
  })
})

test('an older client may write null for params, and for members of its introduction', async () => {
  const ping = { jsonrpc: '2.0', id: 'p', method: 'ping', params: null }
  expect(JSON.parse((await post({}, ping)).text)).toEqual({ jsonrpc: '2.0', id: 'p', result: {} })
  const note = { jsonrpc: '2.0', method: 'notifications/initialized', params: null }
  expect(await post({}, note)).toEqual({ status: 202, type: null, text: '' })
  const clientInfo = { name: 'c', version: '1', title: null }
  const introduction = {
    protocolVersion: '2025-11-25',
    capabilities: { roots: null },
    clientInfo,
    _meta: null,
  }
  const initialize = { jsonrpc: '2.0', id: 0, method: 'initialize', params: introduction }
  expect(JSON.parse((await post({}, initialize)).text)).toMatchObject({
    result: { protocolVersion: '2025-11-25' },
  })
  const unsaid = { ...initialize, params: { ...introduction, clientInfo: { name: 'c', version: null } } }
  const { error } = JSON.parse((await post({}, unsaid)).text)
  expect(error).toEqual({ code: -32602, message: 'params.clientInfo.version is required.' })
})

test('each message of a batch is answered by itself, as JSON or as an event', async () => {
  const call = (id: number, params: unknown) => ({ jsonrpc: '2.0', id, method: 'tools/call', params })
  const batch = [
    { jsonrpc: '2.0', id: 1, method: 'ping', params: null },
    { jsonrpc: '2.0', method: 'notifications/initialized', params: null },
    call(2, { name: 'search_services', arguments: { query: 'x', service_mode: null } }),
    call(3, { name: 5 }),
  ]
  for (const [accept, type] of [
    ['application/json', json],
    ['text/event-stream', events],
  ] as const) {
    const answered = await post({ accept }, batch)
    expect(answered).toMatchObject({ status: 200, type })
    expect(messagesIn(answered.text)).toMatchObject([
      { id: 1, result: {} },
      { id: 2, result: { structuredContent: { endpoints: [] } } },
      { id: 3, error: { code: -32602, message: 'params.name must be a text.' } },
    ])
  }
  const refused = await post({}, [call(1, {}), call(2, { name: null })])
  expect(JSON.parse(refused.text)).toMatchObject([
    { id: 1, error: {} },
    { id: 2, error: {} },
  ])
})

const id = '11111111-1111-4111-8111-111111111111'
const node = { id: 'a', serviceId: 'demo-sun', method: 'POST', path: '/daylight', input: {}, dependsOn: [] }
const planned = (more: object) => ({ plan: { nodes: [{ ...node, ...more }] } })
/** The arguments, and the complaint about them. */
const wrong: readonly (readonly [string, Members, string])[] = [
  ['search_services', { query: null }, 'Not valid: arguments.query must be a text, not null.'],
  ['search_services', { query: 'x', limit: '5' }, 'Not valid: arguments.limit must be a whole number.'],
  ['search_services', { query: 'x', limit: 21 }, 'Not valid: arguments.limit must be at most 20.'],
  [
    'search_services',
    { query: 'x', resolution: 'fast' },
    'Not valid: arguments.resolution must be one of static, live.',
  ],
  ['search_services', { query: 'x', colour: 'red' }, 'Not valid: arguments.colour is an unknown member.'],
  ['describe_service', { serviceId: null }, 'Not valid: arguments.service_id must be a text, not null.'],
  [
    'describe_service',
    { service_id: 'demo-sun', path: '/x' },
    'Not valid: arguments.method is required beside `path`.',
  ],
  [
    'describe_service',
    { service_id: 'A B' },
    'Not valid: arguments.service_id must be 1 to 100 lowercase letters, digits and hyphens.',
  ],
  ['quote_plan', {}, 'Not valid: arguments.plan is required.'],
  ['quote_plan', { plan: null }, 'Not valid: arguments.plan must be an object with nodes, not null.'],
  ['quote_plan', { ...planned({}), more: 1 }, 'Not valid: arguments.more is an unknown member.'],
  [
    'quote_plan',
    planned({ dependsOn: null }),
    'The plan cannot run: nodes.0.dependsOn: must be a list, not null.',
  ],
  [
    'create_job',
    { ...planned({}), idempotency_key: 'short' },
    'Not valid: arguments.idempotency_key must be a text of at least 8 characters.',
  ],
  [
    'create_job',
    { ...planned({}), idempotency_key: null },
    'Not valid: arguments.idempotency_key must be a text, not null.',
  ],
  ['get_job', { job_id: 'x' }, 'Not valid: arguments.job_id must be a UUID.'],
  ['create_job_review', { job_id: id, rating: 6 }, 'Not valid: arguments.rating must be at most 5.'],
  ['get_job_review', {}, 'Not valid: arguments.job_id is required.'],
  [
    'send_product_feedback',
    { kind: 'praise', message: null },
    'Not valid: arguments.message must be a text, not null.',
  ],
]

describe.each(agents)('the client library of $revision', ({ connect }) => {
  it('is told the member and what it must be', async () => {
    const agent = await connect(address)
    ends.push(agent.close)
    for (const [name, given, message] of wrong) {
      const { content, isError } = await agent.call(name, given)
      const [told] = Array.isArray(content) ? content : []
      expect([isError, JSON.parse(told.text).error.message], `${name} ${JSON.stringify(given)}`).toEqual([
        true,
        message,
      ])
    }
  })

  it('may write null for optional arguments, inner ones too', async () => {
    const agent = await connect(address)
    ends.push(agent.close)
    const described = { service_id: null, serviceId: 'demo-sun', method: null, path: null }
    expect(await agent.call('describe_service', described)).toMatchObject({
      structuredContent: { scope: 'service' },
    })
    const tools = [{ nodeId: 'a', rating: 5, comment: null, tags: null }]
    const reviewed = await agent.call('create_job_review', { job_id: id, rating: 5, comment: null, tools })
    expect(JSON.stringify(reviewed)).toContain('job_not_found')
    // In an input null is a value.
    const input = await agent.call('quote_plan', planned({ input: null }))
    expect(JSON.stringify(input)).toContain('nodes.0.input')
  })
})
