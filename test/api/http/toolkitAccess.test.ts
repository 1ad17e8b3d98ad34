// Goal: the toolkit asks who calls before it reads parameters, and for quota and payment only once
// the request is valid.
import { afterAll, beforeEach, expect, test } from 'vitest'
import { ApiError } from '#http/errors.ts'
import { type Access, type Admission, anonymous, type Caller } from '#http/request/access.ts'
import { endlessRows, examples } from '../support/toolkitExamples.ts'
import { startServer } from '../support/toolkitServer.ts'

const sandbox: Caller = {
  ...anonymous,
  id: 'key_1',
  kind: 'key',
  environment: 'sandbox',
  scopes: new Set(['data:read']),
}
const challenge: Admission = {
  kind: 'challenged',
  headers: { 'www-authenticate': ['Payment a', 'Payment b'], 'RateLimit-Limit': '10' },
  contentType: 'application/problem+json',
  body: '{"challenge":true}',
}

let caller: Caller = sandbox
let admission: Admission = { kind: 'admitted', headers: {} }
let admitted = 0
const seen: unknown[] = []
const access: Access = {
  identify: ({ queryKey, headers }) => {
    if (headers['svc-api-key'] === 'bad') throw new ApiError('api_key_invalid')
    seen.push(queryKey)
    return caller
  },
  admit: () => {
    admitted++
    return admission
  },
}

const server = await startServer(examples, endlessRows, { access })
afterAll(() => server.app.close())
beforeEach(() => {
  admitted = 0
  seen.length = 0
  caller = sandbox
  admission = { kind: 'admitted', headers: {} }
})

const read = (path: string, init?: RequestInit) => fetch(server.origin + path, init)

test('a bad key is 401 before anything else is looked at', async () => {
  const response = await read('/v1/rows?nonsense=1', { headers: { 'svc-api-key': 'bad' } })
  expect(response.status).toBe(401)
})

test('a request that is not valid is not counted', async () => {
  expect((await read('/v1/rows?nonsense=1')).status).toBe(400)
  expect((await read('/v1/rows?chainId=5')).status).toBe(400)
  expect((await read('/v1/things', { method: 'POST' })).status).toBe(400)
  expect(admitted).toBe(0)
  expect((await read('/v1/rows')).status).toBe(200)
  expect(admitted).toBe(1)
})

test('a sandbox key does not reach mainnet', async () => {
  expect((await read('/v1/rows?chainId=mainnet')).status).toBe(403)
  expect((await read('/v1/rows')).status).toBe(200)
})

test('the key parameter reaches access and is no unknown parameter', async () => {
  expect((await read('/v1/rows?key=svc_test_1')).status).toBe(200)
  expect(seen).toEqual(['svc_test_1'])
})

test('a payment challenge is passed on as it is, not as the envelope', async () => {
  admission = challenge
  const response = await read('/v1/rows')
  expect(response.status).toBe(402)
  expect(await response.json()).toEqual({ challenge: true })
  expect(response.headers.get('www-authenticate')).toBe('Payment a, Payment b')
  expect(response.headers.get('cache-control')).toBe('no-store')
  expect(response.headers.get('ratelimit-limit')).toBeNull()
  expect(response.headers.get('svc-request-id')).toMatch(/^req_/)
})

test('quota headers stand on answers and on errors', async () => {
  admission = { kind: 'admitted', headers: { 'RateLimit-Remaining': '5' } }
  expect((await read('/v1/rows')).headers.get('ratelimit-remaining')).toBe('5')
  expect((await read('/v1/rows/500')).headers.get('ratelimit-remaining')).toBe('5')
})

test("a cursor of one caller's own list does not open for another", async () => {
  const first = (await (await read('/v1/own/rows')).json()) as { nextCursor: string }
  const path = `/v1/own/rows?cursor=${encodeURIComponent(first.nextCursor)}`
  expect(await (await read(path)).json()).not.toHaveProperty('meta')
  caller = { ...sandbox, id: 'key_2' }
  expect(await (await read(path)).json()).toHaveProperty('meta.cursorReset', true)
})
