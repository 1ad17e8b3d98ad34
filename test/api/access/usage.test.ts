// Goal: accounts of requests say what was asked, summed over processes, for members alone.
// Method: two servers count into one database; the sums are compared with what the test sent.
import { randomBytes } from 'node:crypto'
import { afterAll, expect, test } from 'vitest'
import { KeyCaller, person } from '#api/access/callers.ts'
import { selfServeScopes } from '#api/access/scopes.ts'
import { newToken } from '#api/access/token.ts'
import { UsageMeter } from '#api/access/UsageMeter.ts'
import { readUsageEndpoint } from '#api/routes/orgs/usage.ts'
import type { Access, Caller } from '#http/request/access.ts'
import { address } from '#primitives.ts'
import { makeDefaults } from '#rows/access/defaults.ts'
import { insertKey } from '#rows/access/keys.ts'
import { insertOrganization } from '#rows/access/organizations.ts'
import { insertProject } from '#rows/access/projects.ts'
import { addUsage, removePastUsage } from '#rows/access/usage.ts'
import { userOfAddress } from '#rows/access/users.ts'
import { systemRuntime } from '#runtime/runtime.ts'
import { openAppStore } from '../../support/appStore.ts'
import { endlessRows, examples } from '../support/toolkitExamples.ts'
import { startServer } from '../support/toolkitServer.ts'

const { app, postgres } = await openAppStore()
const { clock } = systemRuntime()
const pepper = randomBytes(32)
const defaults = await makeDefaults(app)
const { id: owner } = await userOfAddress(app, address(`0x${'1'.repeat(40)}`))
const org = await insertOrganization(app, 'Acme', owner)
const [first, second] = [await insertProject(app, org.id, 'A'), await insertProject(app, org.id, 'B')]
const callers = new Map<string, Caller>([['owner', person(owner)]])
let isAway = false

async function makeKey(
  name: string,
  projectId: string,
  environment: 'production' | 'sandbox',
): Promise<string> {
  const unlimited = {
    expiresAt: null,
    allowedIps: null,
    chains: null,
    origins: null,
    quota: null,
    addressQuota: null,
  }
  const row = {
    orgId: org.id,
    projectId,
    name,
    environment,
    scopes: ['data:read'],
    createdBy: null,
    ...unlimited,
  }
  const key = await insertKey(app, { ...row, token: newToken('live') }, pepper)
  callers.set(name, new KeyCaller(key))
  return key.id
}
const ids = {
  a: await makeKey('a', first.id, 'production'),
  b: await makeKey('b', second.id, 'sandbox'),
}

async function serve() {
  const meter = new UsageMeter(
    { add: (counts) => (isAway ? Promise.reject(new Error('away')) : addUsage(app, counts)) },
    clock,
  )
  const access: Access = {
    identify: ({ headers }) => callers.get(String(headers['x-test-caller'])) ?? person('nobody'),
    admit: () => ({ kind: 'admitted', headers: {} }),
    answered: (...told) => meter.count(...told),
  }
  const accounts = { app, pepper, issuableScopes: selfServeScopes, defaults, clock }
  const server = await startServer([...examples, readUsageEndpoint], { accounts, ...endlessRows }, { access })
  return { ...server, meter }
}
const servers = [await serve(), await serve()] as const
afterAll(() => Promise.all(servers.map(({ app: running }) => running.close())))

interface Told {
  readonly status: number
  readonly body: Usage
}

/** `averageDurationMs` of what was answered. */
interface Counted {
  readonly requests: number
  readonly errors: number
  readonly averageDurationMs: number
}

interface Usage {
  readonly totals: Counted
  readonly byKey: readonly object[]
  readonly byRoute: readonly object[]
  readonly byStatus: readonly object[]
  readonly series: readonly Counted[]
}

const ask = async (caller: string, path: string, at = 0): Promise<Told> => {
  const response = await fetch(`${servers[at]?.origin}${path}`, { headers: { 'x-test-caller': caller } })
  return { status: response.status, body: Object(await response.json()) }
}
const usage = async (query = '') => {
  const { status, body } = await ask('owner', `/v1/orgs/${org.id}/usage/requests${query}`)
  expect(status, JSON.stringify(body)).toBe(200)
  return body
}

test('requests of all processes are in one account, along every side', async () => {
  for (const at of [0, 1]) {
    for (let count = 0; count < 3; count++) await ask('a', '/v1/rows', at)
    await ask('a', '/v1/rows/500', at)
    await ask('b', '/v1/rows?nonsense=1', at)
    await ask('owner', '/v1/rows', at)
    await ask('a', '/openapi.json', at)
  }
  for (const { meter } of servers) await meter.flush()
  const told = await usage()
  expect(told.totals).toMatchObject({ requests: 10, errors: 4 })
  expect(told.totals.averageDurationMs).toBeGreaterThan(0)
  expect(told.byKey).toMatchObject([
    { apiKeyId: ids.a, requests: 8, errors: 2 },
    { apiKeyId: ids.b, requests: 2, errors: 2 },
  ])
  expect(told.byRoute).toMatchObject([
    { route: '/v1/rows', requests: 8, errors: 2 },
    { route: '/v1/rows/{number}', requests: 2, errors: 2 },
  ])
  expect(told.byStatus).toEqual(
    expect.arrayContaining([
      { status: 200, requests: 6 },
      { status: 404, requests: 2 },
      { status: 400, requests: 2 },
    ]),
  )
  expect(told.series).toHaveLength(30)
  expect(told.series.reduce((sum, { requests }) => sum + requests, 0)).toBe(10)
})

test('a project, an environment, a span', async () => {
  expect((await usage(`?projectId=${second.id}`)).totals.requests).toBe(2)
  expect((await usage('?environment=production&interval=hour')).totals.requests).toBe(8)
  const past = await usage('?from=2025-01-01T00:00:00Z&to=2025-01-02T12:00:00Z')
  expect(past).toMatchObject({ to: '2025-01-03T00:00:00Z', totals: { requests: 0, averageDurationMs: 0 } })
  expect(past.series).toHaveLength(2)
  const other = await insertOrganization(app, 'Other', owner)
  const { id: theirs } = await insertProject(app, other.id, 'P')
  for (const [query, status] of [
    [`?projectId=${theirs}`, 404],
    ['?from=2025-01-02T00:00:00Z&to=2025-01-01T00:00:00Z', 422],
    ['?from=2020-01-01T00:00:00Z', 400],
    ['?interval=minute', 400],
  ] as const)
    expect((await ask('owner', `/v1/orgs/${org.id}/usage/requests${query}`)).status, query).toBe(status)
})

test('with the database away counts are kept and added later, once', async () => {
  const before = (await usage()).totals.requests
  isAway = true
  await ask('a', '/v1/rows')
  await servers[0].meter.flush()
  isAway = false
  await servers[0].meter.flush()
  await servers[0].meter.flush()
  expect((await usage()).totals.requests).toBe(before + 1)
})

test('accounts of more than a year ago are removed', async () => {
  await postgres.pool.query("UPDATE app.request_usage SET started_at = now() - interval '400 days'")
  await removePastUsage(app)
  const { rows } = await postgres.pool.query('SELECT FROM app.request_usage')
  expect(rows).toEqual([])
})
