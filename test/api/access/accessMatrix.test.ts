// Goal: on a guarded service every operation of the document lets in those its `security` names and
// nobody else (API-12), and a text that is no key costs no statement (API-02).
// Method: operations come from the document; each is asked with a parameter nobody knows, so that
// what is let in is refused with 400 before anything is read.
import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import { Quotas } from '#api/access/Quotas.ts'
import { ServiceAccess } from '#api/access/ServiceAccess.ts'
import { selfServeScopes } from '#api/access/scopes.ts'
import { newToken } from '#api/access/token.ts'
import { endpoints as dataEndpoints, operatorEndpoints, type RouteServices } from '#api/routes/index.ts'
import type { MoneyServices } from '#api/routes/operator/services.ts'
import type { Endpoint } from '#http/endpoint.ts'
import { ApiError } from '#http/errors.ts'
import { dataRead } from '#http/request/access.ts'
import type { ApiKey } from '#rows/access/keys.ts'
import { systemRuntime } from '#runtime/runtime.ts'
import { type Json, type Operation, operationsOf } from '../../blackbox/apiDocument.ts'
import { isFull } from '../../support/breadth.ts'
import { seedOf } from '../../support/seed.ts'
import { endlessQuotas, guarded } from '../support/guarded.ts'
import { startServer } from '../support/toolkitServer.ts'

const { clock } = systemRuntime()
const endpoints: readonly Endpoint<RouteServices & MoneyServices>[] = [...dataEndpoints, ...operatorEndpoints]
const keyOf = (changes: Partial<ApiKey>): ApiKey => ({
  id: `key_${randomBytes(4).toString('hex')}`,
  orgId: 'org_1',
  projectId: 'prj_1',
  name: null,
  environment: 'production',
  scopes: selfServeScopes,
  tokenLast4: '',
  createdBy: null,
  createdAt: new Date(0),
  expiresAt: null,
  allowedIps: null,
  chains: null,
  origins: null,
  quota: null,
  addressQuota: null,
  ...changes,
})

const callers = {
  none: null,
  'a person': newToken('session'),
  'a key': newToken('live'),
  'a sandbox key': newToken('test'),
  'a key without scopes': newToken('live'),
  'a key of the operator': newToken('live'),
} as const
type CallerName = keyof typeof callers
const keys = new Map<string, ApiKey>([
  [callers['a key'], keyOf({})],
  [callers['a sandbox key'], keyOf({ environment: 'sandbox' })],
  [callers['a key without scopes'], keyOf({ scopes: [] })],
  [callers['a key of the operator'], keyOf({ scopes: ['*'] })],
])

let lookUps = 0
const access = new ServiceAccess({
  settings: guarded,
  credentials: {
    findKey: async (token) => {
      lookUps++
      return keys.get(token) ?? null
    },
    findSession: async (token) => (token === callers['a person'] ? 'usr_1' : null),
    digestOf: (token) => token,
  },
  quotas: new Quotas(endlessQuotas, clock),
  defaults: { orgId: 'org_0', projectId: 'prj_0', userId: 'usr_0' },
  clock,
})
// Nothing is read: no request is valid.
const server = await startServer(endpoints, Object.create(null), { access, trustedProxies: ['127.0.0.1'] })
afterAll(() => server.app.close())
const document: Json = await (await fetch(`${server.origin}/openapi.json`)).json()
const operations = operationsOf(document)

/** Schemes that the document names for the operation; the empty one is nobody's. */
const schemesOf = ({ security }: Operation): ReadonlySet<string> =>
  new Set(security.flatMap((scheme) => (Object.keys(scheme).length === 0 ? ['nobody'] : Object.keys(scheme))))

/** The document's promise to a caller: let in, or the code of the refusal. */
function promised(operation: Operation, caller: CallerName): string {
  const schemes = schemesOf(operation)
  const rule = endpoints.find(
    ({ path, method }) => path === operation.path && method === operation.method,
  )?.access
  const isForPeople = schemes.has('session') && !schemes.has('apiKey')
  const isForOperator = schemes.has('apiKey') && !schemes.has('session')
  if (schemes.has('nobody') && !schemes.has('apiKey')) return 'let in'
  if (caller === 'none') {
    if (schemes.has('nobody')) return 'let in'
    return isForPeople ? 'unauthorized' : 'api_key_missing'
  }
  if (caller === 'a person') return isForOperator ? 'api_key_forbidden' : 'let in'
  if (isForPeople) return 'api_key_forbidden'
  if (caller === 'a key of the operator') return 'let in'
  if (isForOperator) return 'api_key_forbidden'
  if (rule?.perMinute !== undefined) return 'let in'
  return keys.get(callers[caller])?.scopes.some((scope) => scope === rule?.scope)
    ? 'let in'
    : 'api_key_forbidden'
}

test.each(Object.keys(callers) as CallerName[])('every operation, asked by %s', async (caller) => {
  expect(operations.length).toBeGreaterThan(60)
  const token = callers[caller]
  for (const operation of operations) {
    const { method, path, title } = operation
    const response = await fetch(`${server.origin}${path.replaceAll(/\{\w+\}/g, 'x')}?nonsense=1`, {
      method,
      headers: {
        'x-forwarded-for': '203.0.113.9',
        ...(token !== null && { authorization: `Bearer ${token}` }),
        ...(method !== 'GET' && { 'content-type': 'application/json' }),
      },
      ...(method !== 'GET' && { body: '{}' }),
    })
    const { error } = (await response.json()) as { error: { code: string } }
    expect(response.status < 500, title).toBe(true)
    const isLetIn = ![401, 403].includes(response.status)
    expect(isLetIn ? 'let in' : error.code, title).toBe(promised(operation, caller))
  }
})

test('JSON-RPC lets in a key of its own scope or of chain data, and no other', async () => {
  const asked = [['rpc-relay:read'], ['data:read'], ['webhooks:read', 'indexer:query'], []].map(
    async (scopes) => {
      const token = newToken('live')
      keys.set(token, keyOf({ scopes }))
      const posted = ['/rpc', '/rpc/4217'].map((path) =>
        fetch(`${server.origin}${path}?nonsense=1`, {
          method: 'POST',
          headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
          body: '{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}',
        }),
      )
      return (await Promise.all(posted)).map(({ status }) => status)
    },
  )
  // Those let in are told of the parameter that nobody knows.
  expect(await Promise.all(asked)).toEqual([
    [400, 400],
    [400, 400],
    [403, 403],
    [403, 403],
  ])
})

test('a million texts that are no keys cost no look into the database', () => {
  const before = lookUps
  const token = newToken('live')
  const changed = fc
    .record({ at: fc.nat(token.length - 1), by: fc.constantFrom(...'0123456789abcXYZ_ \u0000é') })
    .map(({ at, by }) => token.slice(0, at) + by + token.slice(at + 1))
    .filter((text) => text !== token)
  const cut = fc.nat(token.length - 1).map((length) => token.slice(0, length))
  const text = fc.oneof(changed, cut, fc.string(), fc.base64String({ minLength: 40, maxLength: 60 }))
  const count = isFull ? 1_000_000 : 10_000
  // Sampled in pieces: a million texts at once are many.
  for (let done = 0; done < count; done += 10_000)
    for (const one of fc.sample(text, { numRuns: 10_000, seed: seedOf(1) + done })) {
      const asked = {
        headers: { 'svc-api-key': one },
        queryKey: undefined,
        remoteAddress: '203.0.113.9',
        method: 'GET',
        url: '/',
      }
      expect(codeOf(() => access.identify(asked, dataRead))).toBe('api_key_malformed')
    }
  expect(lookUps).toBe(before)
})

function codeOf(act: () => unknown): string {
  try {
    act()
  } catch (error) {
    if (error instanceof ApiError) return error.code
    throw error
  }
  return 'nothing thrown'
}
