// Goal: what the operations on organizations, projects, keys and invitations do, and what they
// refuse within one's own organization.
// Method: the real endpoints over a real database, with callers that a test names in place of
// sign-in.
import { randomBytes } from 'node:crypto'
import { afterAll, expect, test } from 'vitest'
import { person, stranger } from '#api/access/callers.ts'
import { selfServeScopes } from '#api/access/scopes.ts'
import { orgEndpoints } from '#api/routes/orgs/index.ts'
import { ApiError } from '#http/errors.ts'
import type { Access, Caller } from '#http/request/access.ts'
import { address } from '#primitives.ts'
import { makeDefaults } from '#rows/access/defaults.ts'
import { findKey, tokenDigest } from '#rows/access/keys.ts'
import { deleteOrganization, setMember } from '#rows/access/organizations.ts'
import { deleteProject, insertProject } from '#rows/access/projects.ts'
import { userOfAddress } from '#rows/access/users.ts'
import { withinBound } from '#rows/bounds.ts'
import { sealerOf } from '#rows/sealing.ts'
import { insertSubscription, subscribedTo } from '#rows/webhooks/subscriptions.ts'
import { systemRuntime } from '#runtime/runtime.ts'
import { openAppStore } from '../../support/appStore.ts'
import { startServer } from '../support/toolkitServer.ts'

const { app, postgres } = await openAppStore()
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
interface Told {
  readonly status: number
  readonly body: ToldBody
}

/** The operations' answers: what was made, a list, or an error. */
interface ToldBody {
  readonly id: string
  readonly token: string
  readonly role: string
  readonly data: readonly { readonly id: string; readonly role: string }[]
  readonly error: { readonly code: string }
}

async function ask(caller: string, method: string, path: string, body?: object): Promise<Told> {
  const response = await fetch(server.origin + path, {
    method,
    headers: { 'x-test-caller': caller, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  })
  return { status: response.status, body: Object(await response.json()) }
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
  const find = () => findKey(app, [tokenDigest(token, pepper)])
  expect((await find())?.id).toBe(id)
  await ask('owner', 'DELETE', `/v1/orgs/${org}`)
  expect(await find()).toBeNull()
  expect((await ask('owner', 'GET', `/v1/orgs/${org}`)).status).toBe(404)
})

test('scopes that are not for people are refused by name, and so is what is not of its form', async () => {
  const org = await makeOrg()
  const { id: project } = await made('owner', `/v1/orgs/${org}/projects`, { name: 'P' })
  const path = `/v1/orgs/${org}/projects/${project}/api-keys`
  for (const scope of ['*', 'rpc-relay:sponsor'])
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
      if (status === 200) expect(await findKey(app, [tokenDigest(body.token, pepper)])).toBeNull()
      else expect(body.error.code).toMatch(/^(project|organization)_not_found$/)
    }
  }
})

test('accepting and deleting an organization at the same moment waits for one another', async () => {
  const org = await makeOrg()
  const invitations = await Promise.all(
    Array.from({ length: 8 }, () =>
      made('owner', `/v1/orgs/${org}/invitations`, { email: 'd@example.com', role: 'member' }),
    ),
  )
  const answers = await Promise.all([
    ...invitations.map(async ({ id }, index) => {
      await makePerson(`accepting${index}`)
      return ask(`accepting${index}`, 'POST', `/v1/invitations/${id}/accept`)
    }),
    ask('owner', 'DELETE', `/v1/orgs/${org}`),
  ])
  for (const { status } of answers) expect([200, 404]).toContain(status)
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
  await ask('collector', 'DELETE', `/v1/orgs/${first?.id}`)
  expect((await ask('collector', 'POST', path)).body).toMatchObject({ orgId: org, role: 'member' })
})

test('members see invitations by ids that open nothing', async () => {
  const org = await makeOrg()
  const body = { email: 'd@example.com', role: 'admin' }
  const { id } = await made('owner', `/v1/orgs/${org}/invitations`, body)
  const seen = async (as: string) => (await ask(as, 'GET', `/v1/orgs/${org}/invitations`)).body.data[0]
  expect(await seen('admin')).toMatchObject({ id, ...body })
  const shown = await seen('member')
  expect(shown).toMatchObject(body)
  expect(shown?.id).not.toContain(id)
  expect((await ask('other', 'POST', `/v1/invitations/${shown?.id}/accept`)).status).toBe(404)
  await ask('owner', 'DELETE', `/v1/orgs/${org}`)
})

test('a person makes ten organizations at most, also at once', async () => {
  await makePerson('busy')
  const asked = await Promise.all(
    Array.from({ length: 14 }, () => ask('busy', 'POST', '/v1/orgs', { name: 'O' })),
  )
  expect(asked.filter(({ status }) => status === 200)).toHaveLength(10)
  expect(asked.find(({ status }) => status !== 200)?.body.error.code).toBe('limit_exceeded')
})

test('a full organization or project takes no more, also at once, until there is room', async () => {
  const org = await makeOrg()
  const { id: project } = await made('owner', `/v1/orgs/${org}/projects`, { name: 'P' })
  const invitation = { email: 'e@example.com', role: 'member' }
  for (const [path, body, bound] of [
    [`/v1/orgs/${org}/projects/${project}/api-keys`, {}, 50],
    [`/v1/orgs/${org}/projects`, { name: 'P' }, 50],
    [`/v1/orgs/${org}/invitations`, invitation, 100],
  ] as const) {
    const held = (await ask('owner', 'GET', path)).body.data.length
    const told = await Promise.all(
      Array.from({ length: bound - held + 3 }, () => ask('admin', 'POST', path, body)),
    )
    const refused = told.filter(({ status }) => status !== 200)
    expect(
      refused.map(({ status, body: { error } }) => [status, error.code]),
      path,
    ).toEqual(Array(3).fill([403, 'limit_exceeded']))
    const { data } = (await ask('owner', 'GET', path)).body
    expect(data).toHaveLength(bound)
    expect((await ask('admin', 'DELETE', `${path}/${data.at(-1)?.id}`)).status).toBe(200)
    expect((await ask('admin', 'POST', path, body)).status).toBe(200)
  }
  await ask('owner', 'DELETE', `/v1/orgs/${org}`)
})

test('an organization has a hundred members; the invitation of one more stays', async () => {
  const org = await makeOrg()
  for (let count = 3; count < 99; count++)
    await setMember(app, org, (await userOfAddress(app, accountOf(1_000 + count))).id, 'member')
  const late = await Promise.all(
    ['late', 'later'].map(async (name) => ({ name, id: await makePerson(name) })),
  )
  const accept = async ({ name }: { name: string }) => {
    const body = { email: 'f@example.com', role: 'member' }
    const { id } = await made('owner', `/v1/orgs/${org}/invitations`, body)
    return { name, path: `/v1/invitations/${id}/accept` }
  }
  const asked = await Promise.all(late.map(accept))
  const told = await Promise.all(
    asked.map(async (one) => ({ ...one, ...(await ask(one.name, 'POST', one.path)) })),
  )
  expect(told.map(({ status }) => status).sort()).toEqual([200, 403])
  const refused = told.find(({ status }) => status === 403)
  expect(refused?.body.error.code).toBe('limit_exceeded')
  expect((await ask('owner', 'DELETE', `/v1/orgs/${org}/members/${ids.member}`)).status).toBe(200)
  expect((await ask(refused?.name ?? '', 'POST', refused?.path ?? '')).status).toBe(200)
  await ask('owner', 'DELETE', `/v1/orgs/${org}`)
})

test('an invitation ends after seven days', async () => {
  const org = await makeOrg()
  const path = `/v1/orgs/${org}/invitations`
  const body = { address: accountOf(4), role: 'member' }
  const { id } = await made('admin', path, body)
  const age = (interval: string) =>
    postgres.pool.query(
      `UPDATE app.invitations SET expires_at = expires_at - $2::interval, created_at = created_at - $2::interval WHERE id = $1`,
      [id, interval],
    )
  const listed = async () => [
    (await ask('admin', 'GET', path)).body.data.length,
    (await ask('other', 'GET', '/v1/invitations')).body.data.length,
  ]
  await age('6 days 23 hours 59 minutes')
  expect(await listed()).toEqual([1, 1])
  await age('1 minute')
  expect(await listed()).toEqual([0, 0])
  for (const answer of ['accept', 'decline'])
    expect(await ask('other', 'POST', `/v1/invitations/${id}/${answer}`)).toMatchObject({
      status: 404,
      body: { error: { code: 'invitation_not_found' } },
    })
  expect((await ask('admin', 'DELETE', `${path}/${id}`)).status).toBe(404)
  await ask('owner', 'DELETE', `/v1/orgs/${org}`)
})

test('deleting a project ends its keys, and those of no other', async () => {
  const org = await makeOrg()
  const keys: { token: string; project: string }[] = []
  for (const name of ['P', 'Q']) {
    const { id: project } = await made('owner', `/v1/orgs/${org}/projects`, { name })
    const { token = '' } = await made('owner', `/v1/orgs/${org}/projects/${project}/api-keys`, {})
    keys.push({ token, project })
  }
  const [ended] = keys
  expect((await ask('admin', 'DELETE', `/v1/orgs/${org}/projects/${ended?.project}`)).status).toBe(200)
  const found = keys.map(async ({ token }) => (await findKey(app, [tokenDigest(token, pepper)])) !== null)
  expect(await Promise.all(found)).toEqual([false, true])
  expect((await ask('member', 'GET', `/v1/orgs/${org}/projects/${ended?.project}`)).status).toBe(404)
  expect((await ask('member', 'GET', `/v1/orgs/${org}/api-keys`)).body.data).toHaveLength(1)
  await ask('owner', 'DELETE', `/v1/orgs/${org}`)
})
