// Goal: organizations, projects, keys and invitations belong to their members (API-12): every
// operation x every kind of caller, taken from the endpoints themselves; and what the operations
// do.
// Method: the real endpoints over a real database, with callers that a test names in place of
// sign-in.
import { randomBytes } from 'node:crypto'
import { afterAll, describe, expect, test } from 'vitest'
import { person, stranger } from '#api/access/callers.ts'
import { selfServeScopes } from '#api/access/scopes.ts'
import { newToken } from '#api/access/token.ts'
import type { Access, Caller } from '#api/http/access.ts'
import { ApiError } from '#api/http/errors.ts'
import { orgEndpoints } from '#api/routes/orgs/index.ts'
import { address } from '#primitives.ts'
import { systemRuntime } from '#runtime.ts'
import { withinBound } from '#store/app/bounds.ts'
import { makeDefaults } from '#store/app/defaults.ts'
import { insertInvitation } from '#store/app/invitations.ts'
import { digestOf, findKey, insertKey } from '#store/app/keys.ts'
import { deleteOrganization, setMember } from '#store/app/organizations.ts'
import { deleteProject, insertProject } from '#store/app/projects.ts'
import { sealerOf } from '#store/app/sealing.ts'
import { userOfAddress } from '#store/app/users.ts'
import { insertSubscription, subscribedTo } from '#store/webhooks/subscriptions.ts'
import { openAppStore } from '../support/appStore.ts'
import { startServer } from './toolkitServer.ts'

const { app } = await openAppStore()
const pepper = randomBytes(32)
const defaults = await makeDefaults(app)
const callers = new Map<string, Caller>()
const access: Access = {
  identify: ({ headers }, { who }) => {
    const caller = callers.get(String(headers['x-test-caller'])) ?? stranger('127.0.0.1', false)
    if (who === 'session' && caller.userId === null)
      throw new ApiError(caller.kind === 'key' ? 'api_key_forbidden' : 'unauthorized')
    return caller
  },
  admit: () => ({ kind: 'admitted', headers: {} }),
}
const accounts = { app, pepper, issuableScopes: selfServeScopes, defaults, clock: systemRuntime().clock }
const server = await startServer(orgEndpoints, { accounts }, { access })
afterAll(() => server.app.close())

const accountOf = (number: number) => address(`0x${number.toString(16).padStart(40, '0')}`)
let people = 0
async function makePerson(name: string): Promise<string> {
  const { id } = await userOfAddress(app, accountOf(++people))
  callers.set(name, person(id))
  return id
}
const ids = {
  owner: await makePerson('owner'),
  admin: await makePerson('admin'),
  member: await makePerson('member'),
  other: await makePerson('other'),
}
const sandbox: Caller = {
  ...stranger('127.0.0.1', false),
  kind: 'key',
  environment: 'sandbox',
  scopes: new Set(['data:read']),
  owner: { kind: 'project', orgId: defaults.orgId, projectId: defaults.projectId },
}
callers.set('sandbox', sandbox)

interface Told {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: a test reads any answer, and says in its expectations what it holds
  readonly body: any
}

async function ask(caller: string, method: string, path: string, body?: object): Promise<Told> {
  const response = await fetch(server.origin + path, {
    method,
    headers: { 'x-test-caller': caller, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  })
  return { status: response.status, body: await response.json() }
}

const made = async (
  caller: string,
  path: string,
  body: object,
): Promise<{ readonly id: string; readonly token?: string }> => {
  const { status, body: answer } = await ask(caller, 'POST', path, body)
  expect(status, JSON.stringify(answer)).toBe(200)
  return answer
}

async function makeOrg(): Promise<string> {
  const { id } = await made('owner', '/v1/orgs', { name: 'Acme' })
  await setMember(app, id, ids.admin, 'admin')
  await setMember(app, id, ids.member, 'member')
  return id
}

/** A path with a project, a key and an invitation of its own in place of their names. */
async function withThings(path: string, orgId: string): Promise<string> {
  const { id: projectId } = await insertProject(app, orgId, 'P')
  const unlimited = {
    expiresAt: null,
    allowedIps: null,
    chains: null,
    origins: null,
    quota: null,
    addressQuota: null,
  }
  const key = {
    orgId,
    projectId,
    name: null,
    environment: 'production',
    scopes: [],
    createdBy: null,
    ...unlimited,
  } as const
  const { id: keyId } = await insertKey(app, { ...key, token: newToken('live') }, pepper)
  const invitation = {
    orgId,
    email: 'b@example.com',
    address: null,
    role: 'member',
    invitedBy: ids.owner,
  } as const
  const { id: invitationId } = await insertInvitation(app, invitation)
  return path
    .replace('(projectId)', projectId)
    .replace('(keyId)', keyId)
    .replace('(invitationId)', invitationId)
}

/** The least role each operation below an organization needs; `self` is a member who leaves. */
const neededRole: Readonly<Record<string, 'member' | 'admin' | 'owner'>> = {
  'GET /v1/orgs/{orgId}': 'member',
  'PATCH /v1/orgs/{orgId}': 'owner',
  'DELETE /v1/orgs/{orgId}': 'owner',
  'GET /v1/orgs/{orgId}/members': 'member',
  'PATCH /v1/orgs/{orgId}/members/{userId}': 'owner',
  'DELETE /v1/orgs/{orgId}/members/{userId}': 'owner',
  'GET /v1/orgs/{orgId}/invitations': 'admin',
  'POST /v1/orgs/{orgId}/invitations': 'admin',
  'DELETE /v1/orgs/{orgId}/invitations/{invitationId}': 'admin',
  'GET /v1/orgs/{orgId}/projects': 'member',
  'POST /v1/orgs/{orgId}/projects': 'admin',
  'GET /v1/orgs/{orgId}/projects/{projectId}': 'member',
  'PATCH /v1/orgs/{orgId}/projects/{projectId}': 'admin',
  'DELETE /v1/orgs/{orgId}/projects/{projectId}': 'admin',
  'GET /v1/orgs/{orgId}/api-keys': 'member',
  'GET /v1/orgs/{orgId}/usage/requests': 'member',
  'GET /v1/orgs/{orgId}/projects/{projectId}/api-keys': 'member',
  'POST /v1/orgs/{orgId}/projects/{projectId}/api-keys': 'admin',
  'DELETE /v1/orgs/{orgId}/projects/{projectId}/api-keys/{keyId}': 'admin',
}
const bodies: Readonly<Record<string, object>> = {
  'PATCH /v1/orgs/{orgId}': { name: 'New' },
  'PATCH /v1/orgs/{orgId}/members/{userId}': { role: 'member' },
  'POST /v1/orgs/{orgId}/invitations': { email: 'a@example.com', role: 'member' },
  'POST /v1/orgs/{orgId}/projects': { name: 'P' },
  'PATCH /v1/orgs/{orgId}/projects/{projectId}': { name: 'P' },
  'POST /v1/orgs/{orgId}/projects/{projectId}/api-keys': {},
}
const below = orgEndpoints.filter(({ path }) => path.startsWith('/v1/orgs/{orgId}'))
const ranks = { member: 1, admin: 2, owner: 3 }

describe('every operation below an organization', () => {
  test('is in the matrix', () => {
    expect(below.map(({ method, path }) => `${method} ${path}`).sort()).toEqual(
      Object.keys(neededRole).sort(),
    )
  })

  test.each(['none', 'sandbox', 'other', 'member', 'admin', 'owner'] as const)('as %s', async (caller) => {
    const org = await makeOrg()
    const isLast = (operation: string) => (operation === 'DELETE /v1/orgs/{orgId}' ? 1 : 0)
    const operations = below
      .map(({ method, path }) => ({ method, path, operation: `${method} ${path}` }))
      .sort((a, b) => isLast(a.operation) - isLast(b.operation))
    for (const { method, path, operation } of operations) {
      const target = path
        .replace('{orgId}', org)
        .replaceAll(/\{(projectId|keyId|invitationId)\}/g, '($1)')
        .replace('{userId}', caller === 'admin' ? ids.member : ids.admin)
      const { status } = await ask(caller, method, await withThings(target, org), bodies[operation])
      const isEnough =
        caller in ranks && ranks[caller as keyof typeof ranks] >= ranks[neededRole[operation] ?? 'owner']
      expect(status, operation).toBe(
        isEnough ? 200 : ({ none: 401, sandbox: 403, other: 404 }[caller as string] ?? 403),
      )
      await setMember(app, org, ids.admin, 'admin')
    }
    await deleteOrganization(app, org)
  })

  test('ids of another organization do not open through one’s own', async () => {
    const mine = await makeOrg()
    const { id: theirs } = await made('other', '/v1/orgs', { name: 'Theirs' })
    const { id: project } = await made('other', `/v1/orgs/${theirs}/projects`, { name: 'P' })
    const { id: key } = await made('other', `/v1/orgs/${theirs}/projects/${project}/api-keys`, {})
    const { id: invitation } = await made('other', `/v1/orgs/${theirs}/invitations`, {
      email: 'b@example.com',
      role: 'admin',
    })
    for (const [method, path] of [
      ['GET', `projects/${project}`],
      ['DELETE', `projects/${project}`],
      ['GET', `projects/${project}/api-keys`],
      ['DELETE', `projects/${project}/api-keys/${key}`],
      ['DELETE', `invitations/${invitation}`],
      ['DELETE', `members/${ids.other}`],
    ] as const)
      expect((await ask('owner', method, `/v1/orgs/${mine}/${path}`)).status, `${method} ${path}`).toBe(404)
    await ask('owner', 'DELETE', `/v1/orgs/${mine}`)
  })
})

test('a key is shown once, is found by its token, and goes with its organization', async () => {
  const org = await makeOrg()
  const { id: project } = await made('owner', `/v1/orgs/${org}/projects`, { name: 'P' })
  const path = `/v1/orgs/${org}/projects/${project}/api-keys`
  const { token = '', id } = await made('admin', path, {
    scopes: ['data:read'],
    environment: 'sandbox',
    chains: [42431],
  })
  expect(token).toMatch(/^svc_test_/)
  const { body } = await ask('member', 'GET', `${path}?environment=sandbox`)
  expect(body.data).toMatchObject([
    { id, scopes: ['data:read'], tokenLast4: token.slice(-4), chains: [42431], createdBy: ids.admin },
  ])
  expect(JSON.stringify(body)).not.toContain(token)
  const find = () => findKey(app, [digestOf(token, pepper)])
  expect((await find())?.id).toBe(id)
  await ask('owner', 'DELETE', `/v1/orgs/${org}`)
  expect(await find()).toBeNull()
  expect((await ask('owner', 'GET', `/v1/orgs/${org}`)).status).toBe(404)
})

test('scopes that are not for people are refused by name, and so is what is not of its form', async () => {
  const org = await makeOrg()
  const { id: project } = await made('owner', `/v1/orgs/${org}/projects`, { name: 'P' })
  const path = `/v1/orgs/${org}/projects/${project}/api-keys`
  for (const scope of ['*', 'rpc-relay:sponsor', 'webhooks:write'])
    expect(await ask('owner', 'POST', path, { scopes: [scope] })).toMatchObject({
      status: 403,
      body: { error: { code: 'scope_not_issuable' } },
    })
  for (const wrong of [
    { scopes: ['nonsense'] },
    { allowedIps: ['10.0.0.0/33'] },
    { expiresAt: 'tomorrow' },
    { origins: ['example.com'] },
    { name: '' },
    { name: 'a\u0000b' },
    { nonsense: 1 },
  ])
    expect((await ask('owner', 'POST', path, wrong)).status, JSON.stringify(wrong)).toBe(400)
  await ask('owner', 'DELETE', `/v1/orgs/${org}`)
})

test('an invitation is good once, for the account it names; an owner remains', async () => {
  const org = await makeOrg()
  const named = await made('admin', `/v1/orgs/${org}/invitations`, {
    address: accountOf(people).toUpperCase().replace('0X', '0x'),
    role: 'member',
  })
  expect(
    (await ask('admin', 'POST', `/v1/orgs/${org}/invitations`, { email: 'c@example.com', role: 'admin' }))
      .status,
  ).toBe(403)
  expect((await ask('owner', 'POST', `/v1/orgs/${org}/invitations`, { role: 'member' })).status).toBe(400)
  expect((await ask('other', 'GET', '/v1/invitations')).body.data).toMatchObject([
    { id: named.id, orgName: 'Acme' },
  ])
  expect((await ask('member', 'POST', `/v1/invitations/${named.id}/accept`)).status).toBe(404)
  const accepted = await Promise.all(
    Array.from({ length: 5 }, () => ask('other', 'POST', `/v1/invitations/${named.id}/accept`)),
  )
  expect(accepted.filter(({ status }) => status === 200)).toHaveLength(1)
  expect((await ask('other', 'GET', `/v1/orgs/${org}`)).body.role).toBe('member')
  expect(await ask('owner', 'DELETE', `/v1/orgs/${org}/members/${ids.owner}`)).toMatchObject({
    status: 409,
    body: { error: { code: 'last_owner' } },
  })
  expect(
    (await ask('owner', 'PATCH', `/v1/orgs/${org}/members/${ids.owner}`, { role: 'admin' })).status,
  ).toBe(409)
  expect((await ask('other', 'DELETE', `/v1/orgs/${org}/members/${ids.other}`)).status).toBe(200)
  expect((await ask('other', 'GET', `/v1/orgs/${org}`)).status).toBe(404)
  await ask('owner', 'DELETE', `/v1/orgs/${org}`)
})

test('no key survives the deletion of its project or organization, made at the same moment', async () => {
  for (const what of ['projects', 'organization', 'projects', 'organization']) {
    const org = await makeOrg()
    const { id: project } = await made('owner', `/v1/orgs/${org}/projects`, { name: 'P' })
    const gone = what === 'projects' ? `/v1/orgs/${org}/projects/${project}` : `/v1/orgs/${org}`
    const [, ...answers] = await Promise.all([
      ask('owner', 'DELETE', gone),
      ...Array.from({ length: 12 }, () =>
        ask('owner', 'POST', `/v1/orgs/${org}/projects/${project}/api-keys`, {}),
      ),
    ])
    for (const { status, body } of answers) {
      if (status === 200) expect(await findKey(app, [digestOf(body.token, pepper)])).toBeNull()
      else expect(body.error.code).toMatch(/^(project|organization)_not_found$/)
    }
  }
})

test('what was looked up before a deletion makes nothing after it', async () => {
  const org = await makeOrg()
  const { id: project } = await insertProject(app, org, 'P')
  await deleteProject(app, project)
  const never = async () => 0
  const below = (table: 'app.projects' | 'app.organizations', id: string) =>
    withinBound(app, { table, id }, 'keysOfProject', never, never)
  await expect(below('app.projects', project)).rejects.toMatchObject({ code: 'project_not_found' })
  await deleteOrganization(app, org)
  await expect(below('app.organizations', org)).rejects.toMatchObject({ code: 'organization_not_found' })
})

test('webhooks end with their organization', async () => {
  const org = await makeOrg()
  const target = { type: 'url', url: 'https://example.com/hook' } as const
  const { id } = await insertSubscription(app, sealerOf([pepper]), {
    ...{ id: 'wh_of_org', owner: org, chainId: 4217, eventType: 'block:created', filters: {}, context: null },
    ...{ finality: 'latest', ordering: 'none', destination: target, target, endpoint: 'example.com' },
    ...{ secret: 'whsec_c2VjcmV0', activeFrom: 1 },
  })
  const followed = async () => (await subscribedTo(app, 4217, ['block:created'])).map((one) => one.id)
  expect(await followed()).toEqual([id])
  await ask('owner', 'DELETE', `/v1/orgs/${org}`)
  expect(await followed()).toEqual([])
})

test('an invitation into an eleventh organization is refused, and stays', async () => {
  await makePerson('collector')
  for (let count = 0; count < 10; count++) await made('collector', '/v1/orgs', { name: 'O' })
  const org = await makeOrg()
  const { id } = await made('owner', `/v1/orgs/${org}/invitations`, {
    email: 'c@example.com',
    role: 'member',
  })
  const path = `/v1/invitations/${id}/accept`
  expect(await ask('collector', 'POST', path)).toMatchObject({
    ...{ status: 403, body: { error: { code: 'limit_exceeded' } } },
  })
  const [first] = (await ask('collector', 'GET', '/v1/orgs')).body.data
  await ask('collector', 'DELETE', `/v1/orgs/${first.id}`)
  expect((await ask('collector', 'POST', path)).body).toMatchObject({ orgId: org, role: 'member' })
})

test('a person makes ten organizations at most, also at once', async () => {
  await makePerson('busy')
  const asked = await Promise.all(
    Array.from({ length: 14 }, () => ask('busy', 'POST', '/v1/orgs', { name: 'O' })),
  )
  expect(asked.filter(({ status }) => status === 200)).toHaveLength(10)
  expect(asked.find(({ status }) => status !== 200)?.body.error.code).toBe('limit_exceeded')
})
