// Goal: what every endpoint gets from the toolkit without asking: strict parameters, the envelope
// on every error, request ids, the rules of pages. Method: example endpoints behind a real socket,
// one table row per kind of request.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { bounds } from '#http/request/bounds.ts'
import { registry } from '#telemetry.ts'
import { endlessRows, examples } from '../support/toolkitExamples.ts'
import { type RunningServer, startServer } from '../support/toolkitServer.ts'

const address = `0x${'aB'.repeat(20)}`
const json = { 'content-type': 'application/json' }

let server: RunningServer
beforeAll(async () => {
  server = await startServer(examples, endlessRows)
})
afterAll(() => server.app.close())

test('a list answers with the envelope, opt-in fields only when asked for', async () => {
  const plain = await fetch(`${server.origin}/v1/rows?limit=5`)
  expect(await plain.json()).toEqual({
    data: Array.from({ length: 5 }, (_, number) => ({ id: `${number}`, number })),
    nextCursor: expect.any(String),
  })
  const opted = await fetch(`${server.origin}/v1/rows?include=memo&include=totalCount`)
  const body = (await opted.json()) as { data: object[]; meta: object }
  expect(body.data).toHaveLength(10)
  expect(body.data[0]).toEqual({ id: '0', number: 0, memo: 'memo 0' })
  expect(body.meta).toEqual({ totalCount: 10_000, totalCountCapped: true })
})

test.each([
  `address=${address}`,
  'blockNumber.from=1&blockNumber.to=1',
  'timestamp.from=2026-01-01T00:00:00.5%2B02:00',
  'chainId=mainnet',
  'chainId=42431',
  'chain_id=testnet',
  'key=svc_live_x',
  'limit=200&page=50',
  'limit=5&page=2000',
  'order=asc',
  'include=memo,totalCount',
  'cursor=forged',
  'cursor=',
])('GET /v1/rows?%s is answered', async (query) => {
  const response = await fetch(`${server.origin}/v1/rows?${query}`)
  expect(response.status).toBe(200)
})

const listPaths: readonly [string, number, string, (string | number)[]][] = [
  ['nonsense=1', 400, 'query_invalid', ['query', 'nonsense']],
  ['limit=4', 400, 'query_invalid', ['query', 'limit']],
  ['limit=201', 400, 'query_invalid', ['query', 'limit']],
  ['limit=x', 400, 'query_invalid', ['query', 'limit']],
  ['limit=', 400, 'query_invalid', ['query', 'limit']],
  ['limit=10&limit=10', 400, 'query_invalid', ['query', 'limit']],
  ['page=0', 400, 'query_invalid', ['query', 'page']],
  ['page=51&limit=200', 400, 'query_invalid', ['query', 'page']],
  ['page=9007199254740991', 400, 'query_invalid', ['query', 'page']],
  ['order=newest', 400, 'query_invalid', ['query', 'order']],
  ['include=nonsense', 400, 'query_invalid', ['query', 'include']],
  ['cursor=a&cursor=b', 400, 'query_invalid', ['query', 'cursor']],
  ['address=0x1', 400, 'query_invalid', ['query', 'address']],
  ['status=ok', 400, 'query_invalid', ['query', 'status']],
  ['blockNumber.from=-1', 400, 'query_invalid', ['query', 'blockNumber.from']],
  ['timestamp.to=yesterday', 400, 'query_invalid', ['query', 'timestamp.to']],
  ['minBlock=x', 400, 'query_invalid', ['query', 'minBlock']],
  ['chainId=0', 400, 'query_invalid', ['query', 'chainId']],
  ['chainId=5', 400, 'chain_id_unsupported', ['query', 'chainId']],
  ['chainId=4217&chain_id=4217', 400, 'query_invalid', ['query', 'chain_id']],
  ['__proto__=1', 400, 'query_invalid', ['query', '__proto__']],
  ['cursor=forged&page=1', 422, 'parameter_conflict', ['query', 'page']],
  [`address=${address}&sender=${address}`, 422, 'parameter_conflict', ['query', 'address']],
  ['blockNumber.from=2&blockNumber.to=1', 422, 'range_invalid', ['query', 'blockNumber.from']],
  [
    'timestamp.from=2026-01-02T00:00:00Z&timestamp.to=2026-01-01T00:00:00Z',
    422,
    'range_invalid',
    ['query', 'timestamp.from'],
  ],
]

test.each(listPaths)('GET /v1/rows?%s is %i %s', async (query, status, code, path) => {
  const response = await fetch(`${server.origin}/v1/rows?${query}`)
  expect(response.status).toBe(status)
  expect(await response.json()).toMatchObject({ error: { code, details: [{ path }] } })
})

test('the table above has a row for each filter that every list has', () => {
  for (const name of ['blockNumber.from', 'timestamp.to']) expect(Object.keys(bounds)).toContain(name)
})

const failures: readonly [string, string, RequestInit, number, string][] = [
  ['GET', '/v1/rows/x', {}, 400, 'block_invalid'],
  ['GET', '/v1/rows/500', {}, 404, 'block_not_found'],
  ['GET', '/v1/own/rows?page=1', {}, 400, 'query_invalid'],
  ['GET', '/v1/own/rows?order=asc', {}, 400, 'query_invalid'],
  ['GET', '/v1/hooks?limit=51', {}, 400, 'query_invalid'],
  ['GET', '/v1/hooks?page=11&limit=50', {}, 400, 'query_invalid'],
  ['GET', '/v1/hooks?chainId=4217', {}, 400, 'query_invalid'],
  ['GET', '/nothing', {}, 404, 'not_found'],
  ['GET', '/v1/rows/5/', {}, 404, 'not_found'],
  ['POST', '/nothing', {}, 404, 'not_found'],
  ['OPTIONS', '/nothing', {}, 404, 'not_found'],
  ['DELETE', '/v1/rows/5', {}, 405, 'method_not_allowed'],
  ['GET', '/v1/things', {}, 405, 'method_not_allowed'],
  ['PROPFIND', '/v1/rows', {}, 405, 'method_not_allowed'],
  ['GET', '/%zz', {}, 400, 'request_invalid'],
  ['GET', '/v1/fails/down', {}, 502, 'upstream_error'],
  ['GET', '/v1/fails/defect', {}, 500, 'internal_error'],
  ['GET', '/v1/fails/present', {}, 500, 'internal_error'],
  ['GET', '/v1/fails/limited', {}, 429, 'rate_limit_exceeded'],
  ['POST', '/v1/things', {}, 400, 'body_invalid'],
  ['POST', '/v1/things', { headers: json, body: '' }, 400, 'body_invalid'],
  ['POST', '/v1/things', { headers: json, body: '{' }, 400, 'body_invalid'],
  ['POST', '/v1/things', { headers: json, body: '{"name":"a","__proto__":{}}' }, 400, 'body_invalid'],
  ['POST', '/v1/things', { headers: json, body: '{"name":""}' }, 400, 'body_invalid'],
  ['POST', '/v1/things', { headers: json, body: '['.repeat(70) }, 400, 'body_invalid'],
  ['POST', '/v1/things?x=1', { headers: json, body: '{"name":"a"}' }, 400, 'query_invalid'],
  [
    'POST',
    '/v1/things',
    { headers: { 'content-type': 'text/plain' }, body: 'a' },
    415,
    'media_type_unsupported',
  ],
  [
    'POST',
    '/v1/things',
    { headers: { 'content-type': 'nonsense' }, body: 'a' },
    415,
    'media_type_unsupported',
  ],
  ['POST', '/v1/things', { body: new Uint8Array([1]) }, 415, 'media_type_unsupported'],
  [
    'POST',
    '/v1/things',
    { headers: { ...json, 'content-encoding': 'gzip' }, body: '{}' },
    415,
    'media_type_unsupported',
  ],
  ['POST', '/v1/things', { headers: json, body: `"${'x'.repeat(65_536)}"` }, 413, 'body_too_large'],
  ['GET', `/v1/rows?address=${'x'.repeat(9_000)}`, {}, 414, 'url_too_long'],
  ['GET', '/v1/rows', { headers: { 'x-long': 'x'.repeat(17_000) } }, 431, 'headers_too_large'],
  ['POST', '/rpc/5', { headers: json, body: '{}' }, 400, 'chain_id_unsupported'],
  ['POST', '/rpc/x', { headers: json, body: '{}' }, 400, 'chain_id_invalid'],
]

test('an empty body is none, whatever its type is called', async () => {
  const removed = await fetch(`${server.origin}/v1/things/one`, { method: 'DELETE', headers: json, body: '' })
  expect([removed.status, await removed.json()]).toEqual([200, { name: 'one' }])
  const lacking = await fetch(`${server.origin}/v1/things`, { method: 'POST', headers: json, body: '' })
  expect(await lacking.json()).toMatchObject({
    error: { details: [{ path: ['body'], message: 'is required' }] },
  })
})

test.each(failures)('%s %s is the envelope (%#)', async (method, path, init, status, code) => {
  const response = await fetch(server.origin + path, { method, ...init })
  const body = (await response.json()) as { requestId: string }
  expect(response.status).toBe(status)
  expect(body).toMatchObject({ error: { code, message: expect.any(String) } })
  expect(body.requestId).toMatch(/^req_[0-9a-f]{32}$/)
  expect(response.headers.get('svc-request-id')).toBe(body.requestId)
  expect(response.headers.get('cache-control')).toBe('no-store')
  expect(response.headers.get('etag')).toBeNull()
  expect(response.headers.get('access-control-allow-origin')).toBe('*')
  expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8')
  expect(JSON.stringify(body)).not.toContain('secret')
})

test('a request id is ours, whatever the client sends, and never repeats', async () => {
  const headers = { 'svc-request-id': 'mine', 'request-id': 'mine', 'x-request-id': 'mine' }
  const responses = await Promise.all(
    Array.from({ length: 50 }, () => fetch(`${server.origin}/v1/rows/5`, { headers })),
  )
  const ids = responses.map((response) => response.headers.get('svc-request-id'))
  expect(new Set(ids).size).toBe(50)
  expect(ids).not.toContain('mine')
})

test('durations are counted by route and status, never by URL', async () => {
  for (const path of ['/v1/rows/5', '/v1/rows/500', '/unheard/of'])
    await (await fetch(server.origin + path)).text()
  const text = await registry.getSingleMetricAsString('millrace_http_request_seconds')
  expect(text).toContain('_count{route="/v1/rows/{number}",status="200"}')
  expect(text).toContain('_count{route="/v1/rows/{number}",status="404"}')
  expect(text).toContain('_count{route="unmatched",status="404"}')
  expect(text).not.toMatch(/rows\/5|unheard/)
})

test('405 and OPTIONS name the methods of the path', async () => {
  const refused = await fetch(`${server.origin}/v1/things/x`, { method: 'PATCH' })
  expect(refused.headers.get('allow')).toBe('DELETE, OPTIONS')
  const preflight = await fetch(`${server.origin}/v1/rows/5`, { method: 'OPTIONS' })
  expect(preflight.status).toBe(204)
  expect(preflight.headers.get('allow')).toBe('GET, HEAD, OPTIONS')
  expect(preflight.headers.get('access-control-allow-methods')).toBe('GET, HEAD, OPTIONS')
  expect(preflight.headers.get('access-control-allow-headers')).toContain('Authorization')
  expect(preflight.headers.get('access-control-allow-credentials')).toBeNull()
})

test('a page of another origin may read every header of ours, on answers and on refusals', async () => {
  const names = ['svc-request-id', 'svc-indexed-block', 'svc-lag-blocks', 'svc-reorged-from', 'Retry-After']
  const counted = ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset', 'RateLimit-Scope', 'ETag']
  const paid = ['Payment-Receipt', 'Payment-Session', 'Payment-Session-Snapshot']
  for (const path of ['/v1/rows/5', '/v1/rows/500', '/nothing']) {
    const { headers } = await fetch(server.origin + path, { headers: { origin: 'https://example.com' } })
    expect(headers.get('access-control-allow-origin')).toBe('*')
    const exposed = headers.get('access-control-expose-headers')?.split(', ')
    expect(exposed).toEqual(expect.arrayContaining([...names, ...counted, ...paid]))
  }
})

test('an error leads to its text, by a header that pages may read', async () => {
  const { headers } = await fetch(`${server.origin}/nothing`)
  expect(headers.get('link')).toBe('</docs/errors#not_found>; rel="help"')
  expect(headers.get('access-control-expose-headers')?.split(', ')).toContain('Link')
  expect((await fetch(`${server.origin}/v1/rows/5`)).headers.has('link')).toBe(false)
})

test('headers an error asks for are sent', async () => {
  const response = await fetch(`${server.origin}/v1/fails/limited`)
  expect(response.headers.get('retry-after')).toBe('7')
})

test('members an endpoint adds to its errors stand beside the envelope', async () => {
  const response = await fetch(`${server.origin}/rpc/5`, { method: 'POST', headers: json, body: '{}' })
  expect(await response.json()).toMatchObject({ ok: false, error: { code: 'chain_id_unsupported' } })
})

test('a chain in the path is read like one in the query', async () => {
  const response = await fetch(`${server.origin}/rpc/testnet`, { method: 'POST', headers: json, body: '[1]' })
  expect(await response.json()).toEqual({ chainId: 42_431, body: [1] })
})

test('commands answer with their status and are not cached', async () => {
  const created = await fetch(`${server.origin}/v1/things`, {
    method: 'POST',
    headers: json,
    body: JSON.stringify({ name: 'a' }),
  })
  expect([created.status, await created.json()]).toEqual([201, { name: 'a' }])
  expect(created.headers.get('cache-control')).toBe('no-store')
  const removed = await fetch(`${server.origin}/v1/things/a`, { method: 'DELETE' })
  expect([removed.status, await removed.json()]).toEqual([200, { name: 'a' }])
})
