// Goal: organizations, their webhooks, keys and invitations belong to their members (API-12): every
// operation of the document x {none, other owner, sandbox key, key, member, admin, owner}.
// Method: the document's operations over a real database behind the real access, with sessions and
// keys of people and organizations that are there; each operation on things made for it. What nobody
// needs a credential for is asked with a parameter that nobody knows: 400 is let in.
import { randomBytes } from 'node:crypto'
import { afterAll, describe, expect, test } from 'vitest'
import { Quotas } from '#api/access/Quotas.ts'
import { ServiceAccess } from '#api/access/ServiceAccess.ts'
import { selfServeScopes } from '#api/access/scopes.ts'
import { newToken } from '#api/access/token.ts'
import { endpoints, operatorEndpoints, type RouteServices } from '#api/routes/index.ts'
import type { MoneyServices } from '#api/routes/operator/services.ts'
import type { Endpoint } from '#http/endpoint.ts'
import { type McpServices, mcpEndpoint } from '#orchestrator/mcp/mcpEndpoint.ts'
import { orchestratorEndpoints } from '#orchestrator/rest/index.ts'
import { address } from '#primitives.ts'
import { insertInvitation } from '#rows/access/invitations.ts'
import { findKey, insertKey, tokenDigest } from '#rows/access/keys.ts'
import { deleteOrganization, insertOrganization, setMember } from '#rows/access/organizations.ts'
import { insertProject } from '#rows/access/projects.ts'
import { quotaRows } from '#rows/access/quotas.ts'
import { findSession, insertSession } from '#rows/access/sessions.ts'
import { findUser, userOfAddress } from '#rows/access/users.ts'
import { sealerOf } from '#rows/sealing.ts'
import { listDeliveries } from '#rows/webhooks/deliveries.ts'
import { insertReplay } from '#rows/webhooks/replays.ts'
import { deleteSubscriptionsOf, findSubscription, insertSubscription } from '#rows/webhooks/subscriptions.ts'
import { type Json, type Operation, operationsOf } from '../../blackbox/apiDocument.ts'
import { isFull } from '../../support/breadth.ts'
import { openReceiver } from '../../support/receiver.ts'
import { batchesOf, recorded } from '../../webhooks/support/forks.ts'
import { openService } from '../../webhooks/support/openService.ts'
import { guarded } from '../support/guarded.ts'
import { startServer } from '../support/toolkitServer.ts'

const MAINNET = 4217
const receiver = await openReceiver()
const service = await openService()
const { app, defaults, services } = service
const { pepper, clock } = services.accounts
await service.append(batchesOf(recorded(2), 0, 1))

const access = new ServiceAccess({
  settings: {
    ...guarded,
    quotas: { key: 1_000_000, organization: 1_000_000, address: 1_000_000, person: 1_000_000 },
  },
  credentials: {
    findKey: (token) => findKey(app, [tokenDigest(token, pepper)]),
    findSession: (token) => findSession(app, [tokenDigest(token, pepper)]),
    digestOf: (token) => tokenDigest(token, pepper).toString('base64url'),
  },
  quotas: new Quotas(quotaRows(app), clock),
  defaults,
  clock,
})
const all: readonly Endpoint<RouteServices & McpServices & MoneyServices>[] = [
  ...endpoints,
  ...operatorEndpoints,
  ...orchestratorEndpoints,
  mcpEndpoint,
]
// Requests that nobody makes validly need no services.
const server = await startServer(all, Object.assign(Object.create(null), services), {
  access,
  chains: [MAINNET, service.id],
  trustedProxies: ['127.0.0.1'],
})
afterAll(async () => {
  await server.app.close()
  await service.close()
})
const document: Json = await (await fetch(`${server.origin}/openapi.json`)).json()
const operations = operationsOf(document)

const people = ['other owner', 'member', 'admin', 'owner'] as const
const keys = ['other key', 'sandbox key', 'key'] as const
const callers = ['none', ...people, ...keys] as const
const names: readonly string[] = callers
type Person = (typeof people)[number]
type CallerName = (typeof callers)[number]

const userIds = new Map<string, string>()
const tokens = new Map<string, string>()
for (const [index, name] of people.entries()) {
  const { id } = await userOfAddress(app, address(`0x${`${index + 1}`.repeat(40)}`))
  const token = newToken('session')
  await insertSession(app, tokenDigest(token, pepper), id)
  userIds.set(name, id)
  tokens.set(name, token)
}
const idOf = (name: Person): string => userIds.get(name) ?? ''

/** A key that reaches all an organization's key can. */
async function makeKey(name: string, orgId: string, changes: object = {}): Promise<string> {
  const { id: projectId } = await insertProject(app, orgId, 'P')
  const token = newToken(name === 'sandbox key' ? 'test' : 'live')
  tokens.set(name, token)
  const environment = name === 'sandbox key' ? 'sandbox' : 'production'
  const unlimited = { expiresAt: null, allowedIps: null, origins: null, quota: null, addressQuota: null }
  const scopes = selfServeScopes
  const key = { orgId, projectId, name, environment, scopes, createdBy: null, chains: null, token } as const
  return (await insertKey(app, { ...unlimited, ...key, ...changes }, pepper)).id
}

const org = await insertOrganization(app, 'Acme', idOf('owner'))
const others = await insertOrganization(app, 'Others', idOf('other owner'))
await makeKey('key', org.id)
await makeKey('sandbox key', org.id)
await makeKey('limited key', org.id, { chains: [`${MAINNET + 1}`] })
await makeKey('other key', others.id)

/** An organization of its own, for what ends or changes it. */
async function makeOrg(): Promise<string> {
  const { id } = await insertOrganization(app, 'Acme', idOf('owner'))
  await setMember(app, id, idOf('admin'), 'admin')
  await setMember(app, id, idOf('member'), 'member')
  return id
}

async function makeWebhook(owner: string, chainId = service.id): Promise<string> {
  const target = { type: 'url', url: receiver.url('/hook') } as const
  const id = `wh_${randomBytes(8).toString('hex')}`
  await insertSubscription(app, sealerOf([pepper]), {
    ...{ id, owner, chainId, eventType: 'block:created', filters: {}, context: null },
    ...{ finality: 'latest', ordering: 'none', destination: target, target, endpoint: target.url },
    ...{ secret: 'whsec_c2VjcmV0', activeFrom: 1 },
  })
  return id
}

async function makeInvitation(orgId: string, invited: string | null): Promise<string> {
  const user = invited === null ? null : await findUser(app, invited)
  const row = { orgId, email: 'a@example.com', role: 'member', invitedBy: idOf('owner') } as const
  return (await insertInvitation(app, { ...row, address: user?.address ? address(user.address) : null })).id
}

/** The things that a path names, made for it. */
interface Things {
  readonly orgId: string
  readonly caller: CallerName
  readonly path: string
  readonly chainId?: number
  readonly made: Map<string, string>
}
const makers: Readonly<Record<string, (of: Things) => Promise<string>>> = {
  orgId: async ({ orgId }) => orgId,
  projectId: async ({ orgId }) => (await insertProject(app, orgId, 'P')).id,
  keyId: ({ orgId, made }) => makeKey('unused', orgId, { projectId: made.get('projectId') }),
  invitationId: ({ orgId, caller, path }) =>
    makeInvitation(orgId, path.startsWith('/v1/orgs') ? null : (userIds.get(caller) ?? null)),
  userId: async ({ caller }) => idOf(caller === 'member' ? 'admin' : 'member'),
  id: async ({ orgId, path, chainId }) => {
    const id = await makeWebhook(orgId, chainId)
    if (path.endsWith('/replay'))
      await insertReplay(app, { id: `whr_${id}`, webhookId: id, of: { kind: 'failed', since: new Date(0) } })
    return id
  },
  deliveryId: async ({ orgId, made }) => {
    const id = made.get('id') ?? ''
    const webhook = await findSubscription(app, id, orgId)
    if (webhook) await services.webhooks?.run.ping(webhook, AbortSignal.timeout(5_000))
    const [delivery] = await listDeliveries(app, id, { offset: 0, limit: 1 })
    return delivery?.id ?? ''
  },
}

async function filled(of: Omit<Things, 'made'>): Promise<string> {
  const made = new Map<string, string>()
  let target = of.path
  for (const [place, name = ''] of of.path.matchAll(/\{(\w+)\}/g)) {
    const value = (await makers[name]?.({ ...of, made })) ?? ''
    made.set(name, value)
    target = target.replace(place, value)
  }
  return target
}

async function ask(
  caller: string,
  { method }: Operation,
  path: string,
  body?: object,
): Promise<[number, string]> {
  const token = tokens.get(caller)
  const response = await fetch(server.origin + path, {
    method,
    headers: {
      // Refused requests are counted by address, and each caller makes dozens.
      'x-forwarded-for': `203.0.113.${10 + names.indexOf(caller)}`,
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
  })
  const said = method === 'HEAD' ? {} : ((await response.json()) as { error?: { code: string } })
  return [response.status, said.error?.code ?? 'answered']
}

const withoutBody = new Set(['GET', 'HEAD'])

/** The least role of an operation for people; `person`: everybody who signed in. */
const neededRole: Readonly<Record<string, 'person' | 'member' | 'admin' | 'owner'>> = {
  'GET /v1/me': 'person',
  'GET /v1/orgs': 'person',
  'POST /v1/orgs': 'person',
  'GET /v1/invitations': 'person',
  'POST /v1/invitations/{invitationId}/accept': 'person',
  'POST /v1/invitations/{invitationId}/decline': 'person',
  'GET /v1/orgs/{orgId}': 'member',
  'PATCH /v1/orgs/{orgId}': 'owner',
  'DELETE /v1/orgs/{orgId}': 'owner',
  'GET /v1/orgs/{orgId}/members': 'member',
  'PATCH /v1/orgs/{orgId}/members/{userId}': 'owner',
  'DELETE /v1/orgs/{orgId}/members/{userId}': 'owner',
  'GET /v1/orgs/{orgId}/invitations': 'member',
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
  'GET /v1/orgs/{orgId}/webhooks': 'member',
  'POST /v1/orgs/{orgId}/webhooks': 'member',
  'PATCH /v1/orgs/{orgId}/webhooks/{id}': 'admin',
  'DELETE /v1/orgs/{orgId}/webhooks/{id}': 'admin',
  'GET /v1/orgs/{orgId}/webhooks/{id}/deliveries': 'member',
  'GET /v1/orgs/{orgId}/webhooks/{id}/deliveries/{deliveryId}': 'member',
  'POST /v1/orgs/{orgId}/webhooks/{id}/deliveries/{deliveryId}/retry': 'admin',
  'POST /v1/orgs/{orgId}/webhooks/{id}/ping': 'admin',
  'POST /v1/orgs/{orgId}/webhooks/{id}/replay': 'admin',
  'GET /v1/orgs/{orgId}/webhooks/{id}/replay': 'member',
  'DELETE /v1/orgs/{orgId}/webhooks/{id}/replay': 'admin',
}
/** Operations for keys of an organization, on its webhooks. */
const ofKeys: readonly string[] = [
  'GET /v1/webhooks',
  'POST /v1/webhooks',
  'GET /v1/webhooks/{id}',
  'PATCH /v1/webhooks/{id}',
  'DELETE /v1/webhooks/{id}',
  'POST /v1/webhooks/{id}/ping',
  'POST /v1/webhooks/{id}/rotate-secret',
  'POST /v1/webhooks/{id}/renew',
  'GET /v1/webhooks/{id}/deliveries',
  'GET /v1/webhooks/{id}/deliveries/{deliveryId}',
  'POST /v1/webhooks/{id}/deliveries/{deliveryId}/retry',
  'POST /v1/webhooks/{id}/replay',
  'GET /v1/webhooks/{id}/replay',
  'DELETE /v1/webhooks/{id}/replay',
]
/** Operations for the operator's own key alone. */
const ofOperator: readonly string[] = [
  'GET /metrics',
  'GET /v1/operator/money',
  'GET /v1/operator/days',
  'GET /v1/operator/payments',
  'GET /v1/operator/payouts',
  'GET /v1/operator/reviews',
]
const subscription = {
  eventType: 'block:created',
  destination: { type: 'url', url: receiver.url('/made') },
  chainId: service.id,
}
const failedReplay = { failedSince: new Date(0).toISOString(), dryRun: true }
const bodies: Readonly<Record<string, object>> = {
  'POST /v1/orgs': { name: 'New' },
  'PATCH /v1/orgs/{orgId}': { name: 'New' },
  'PATCH /v1/orgs/{orgId}/members/{userId}': { role: 'member' },
  'POST /v1/orgs/{orgId}/invitations': { email: 'a@example.com', role: 'member' },
  'POST /v1/orgs/{orgId}/projects': { name: 'P' },
  'PATCH /v1/orgs/{orgId}/projects/{projectId}': { name: 'P' },
  'POST /v1/orgs/{orgId}/projects/{projectId}/api-keys': {},
  'PATCH /v1/orgs/{orgId}/webhooks/{id}': { status: 'paused' },
  'POST /v1/orgs/{orgId}/webhooks/{id}/replay': failedReplay,
  'POST /v1/webhooks': subscription,
  'POST /v1/orgs/{orgId}/webhooks': subscription,
  'PATCH /v1/webhooks/{id}': { status: 'paused' },
  'POST /v1/webhooks/{id}/rotate-secret': {},
  'POST /v1/webhooks/{id}/replay': failedReplay,
}
const ranks = { person: 0, member: 1, admin: 2, owner: 3 }
const isPerson = (caller: CallerName): caller is Person => people.some((name) => name === caller)

/** The answer that the caller is promised: the status, and the code if it is refused. */
function promised({ title, path }: Operation, caller: CallerName): [unknown, unknown] {
  const needed = neededRole[title]
  if (needed) {
    if (caller === 'none') return [401, 'unauthorized']
    if (!isPerson(caller)) return [403, 'api_key_forbidden']
    if (needed === 'person') return [200, 'answered']
    if (caller === 'other owner') return [404, 'organization_not_found']
    return ranks[caller] >= ranks[needed] ? [200, 'answered'] : [403, 'forbidden']
  }
  if (ofKeys.includes(title)) {
    if (caller === 'none') return [401, 'api_key_missing']
    if (isPerson(caller)) return [403, 'forbidden']
    return caller === 'other key' && path.includes('{id}') ? [404, 'webhook_not_found'] : [200, 'answered']
  }
  if (!ofOperator.includes(title)) return [expect.toBeOneOf([400, 422]), expect.any(String)]
  return caller === 'none' ? [401, 'api_key_missing'] : [403, 'api_key_forbidden']
}

describe('every operation of the document', () => {
  test('that needs a credential is in the tables', () => {
    const guarded = operations.filter(({ security }) => security.every((one) => Object.keys(one).length > 0))
    expect(guarded.map(({ title }) => title).sort()).toEqual(
      [...Object.keys(neededRole), ...ofKeys, ...ofOperator].sort(),
    )
  })

  test.each(callers)('asked by %s', async (caller) => {
    for (const operation of operations) {
      const { title, path, method } = operation
      const isOurs = title in neededRole || ofKeys.includes(title)
      if (!isOurs) {
        // accessMatrix.test.ts asks them as every kind of caller too.
        if (caller !== 'none' && !isFull) continue
        const unknown = `${path.replaceAll(/\{\w+\}/g, 'x')}?nonsense=1`
        const told = await ask(caller, operation, unknown, withoutBody.has(method) ? undefined : {})
        // An answer to HEAD has no body that would name a code.
        const parts = method === 'HEAD' ? 1 : 2
        expect(told.slice(0, parts), title).toEqual(promised(operation, caller).slice(0, parts))
        continue
      }
      const orgId = isPerson(caller) ? await makeOrg() : org.id
      const target = await filled({ orgId, caller, path })
      expect(await ask(caller, operation, target, bodies[title]), title).toEqual(promised(operation, caller))
      if (orgId !== org.id) await deleteOrganization(app, orgId)
    }
  })
})

test('an invitation that names another account is none', async () => {
  for (const answer of ['accept', 'decline']) {
    const id = await makeInvitation(org.id, idOf('admin'))
    const operation = operations.find(({ title }) => title.endsWith(`{invitationId}/${answer}`))
    if (!operation) throw new Error(answer)
    const path = `/v1/invitations/${id}/${answer}`
    expect(await ask('other owner', operation, path)).toEqual([404, 'invitation_not_found'])
    expect(await ask('admin', operation, path)).toEqual([200, 'answered'])
  }
})

test.each(['sandbox key', 'limited key'])('a %s reaches no webhook of another chain', async (caller) => {
  for (const operation of operations.filter(({ title }) => ofKeys.includes(title))) {
    const { path, title } = operation
    if (!path.includes('{id}')) continue
    const target = await filled({ orgId: org.id, caller: 'key', path, chainId: MAINNET })
    expect(await ask(caller, operation, target, bodies[title]), title).toEqual([403, 'api_key_forbidden'])
    if (operation.method === 'GET') expect((await ask('key', operation, target))[0], title).toBe(200)
  }
  await deleteSubscriptionsOf(app, org.id)
  for (const chainId of [service.id, MAINNET]) await makeWebhook(org.id, chainId)
  const listed = async (as: string) => {
    const headers = { authorization: `Bearer ${tokens.get(as)}` }
    const response = await fetch(`${server.origin}/v1/webhooks?include=totalCount`, { headers })
    const { data, meta }: Json = await response.json()
    expect(meta.totalCount).toBe(data.length)
    return data.map(({ chainId }: { chainId: number }) => chainId)
  }
  expect(await listed('key')).toHaveLength(2)
  expect(await listed(caller)).toEqual(caller === 'sandbox key' ? [service.id] : [])
})
