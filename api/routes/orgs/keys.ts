/** API keys of a project. Members read, admins make and revoke. */

import { messageOf } from '#errors.ts'
import { command, endpoint } from '#http/endpoint.ts'
import { ApiError, bodyProblem } from '#http/errors.ts'
import { management } from '#http/request/access.ts'
import * as p from '#http/request/parameter.ts'
import * as s from '#http/schema.ts'
import { type ApiKey, insertKey, listKeys, revokeKey } from '#rows/access/keys.ts'
import { withinBound } from '#rows/bounds.ts'
import { addressList } from '../../access/clientAddress.ts'
import { newToken } from '../../access/token.ts'
import {
  type AccountServices,
  type Accounts,
  assertRole,
  keyId,
  orgErrors,
  orgId,
  personOf,
  projectId,
  projectIn,
} from './accounts.ts'
import { apiKey, environment, name, newApiKey, presentKey, scope } from './shapes.ts'

/** Entries of each list that narrows a key. */
const ENTRIES_MAX = 100
const environmentFilter = p.withDefault(
  p.described(p.oneOf('production', 'sandbox'), 'Environment of the keys.'),
  'production',
)

export const listOrgKeysEndpoint = endpoint({
  path: '/v1/orgs/{orgId}/api-keys',
  summary: 'Keys of all projects that open something, the newest first.',
  params: { orgId },
  filters: { environment: environmentFilter },
  chain: 'none',
  access: management,
  errors: orgErrors,
  response: s.object({ data: s.array(apiKey) }),
  read: async (call, { accounts }: AccountServices) => {
    await assertRole(accounts, call, 'member')
    return listKeys(accounts.app, { orgId: call.path.orgId, environment: call.filters.environment })
  },
  present: (keys) => ({ data: keys.map(presentKey) }),
  cache: 'none',
})

export const listProjectKeysEndpoint = endpoint({
  path: '/v1/orgs/{orgId}/projects/{projectId}/api-keys',
  summary: 'Keys of a project that open something, the newest first.',
  params: { orgId, projectId },
  filters: { environment: environmentFilter },
  chain: 'none',
  access: management,
  errors: [...orgErrors, 'project_not_found'],
  response: s.object({ data: s.array(apiKey) }),
  read: async (call, { accounts }: AccountServices) => {
    await assertRole(accounts, call, 'member')
    const { id } = await projectIn(accounts, call.path.orgId, call.path.projectId)
    return listKeys(accounts.app, { projectId: id, environment: call.filters.environment })
  },
  present: (keys) => ({ data: keys.map(presentKey) }),
  cache: 'none',
})

export const createKeyEndpoint = command({
  path: '/v1/orgs/{orgId}/projects/{projectId}/api-keys',
  method: 'POST',
  summary: 'Make a key; its token is in this answer and nowhere else. For admins.',
  params: { orgId, projectId },
  access: management,
  errors: [...orgErrors, 'project_not_found', 'scope_not_issuable', 'limit_exceeded'],
  body: s.object({
    environment: s.optional(environment),
    name: s.optional(name),
    scopes: s.optional(s.array(scope, { maxItems: 10 })),
    expiresAt: s.optional(s.timestamp),
    allowedIps: s.optional(
      s.array(s.text({ maxLength: 50 }), {
        minItems: 1,
        maxItems: ENTRIES_MAX,
        description: 'Addresses and CIDR ranges.',
      }),
    ),
    chains: s.optional(s.array(s.integer({ minimum: 1 }), { minItems: 1, maxItems: ENTRIES_MAX })),
    origins: s.optional(
      s.array(
        s.text({
          maxLength: 300,
          ...s.pattern('^https?://[^/\\s\\u0000]+$', 'an origin such as https://app.example.com'),
        }),
        {
          minItems: 1,
          maxItems: ENTRIES_MAX,
          description: 'Web origins, for keys that a page publishes.',
        },
      ),
    ),
    addressQuota: s.optional(
      s.integer({
        minimum: 1,
        maximum: 1_000_000,
        description: 'Requests a minute for each network address.',
      }),
    ),
  }),
  response: newApiKey,
  run: async (call, { accounts }: AccountServices) => {
    await assertRole(accounts, call, 'admin')
    const { body, path, caller } = call
    const { id: project } = await projectIn(accounts, path.orgId, path.projectId)
    const { environment: inEnvironment = 'production', scopes = [] } = body
    assertIssuable(accounts, scopes)
    assertAddresses(body.allowedIps ?? [])
    const token = newToken(inEnvironment === 'sandbox' ? 'test' : 'live')
    const row = {
      orgId: path.orgId,
      projectId: project,
      token,
      name: body.name ?? null,
      environment: inEnvironment,
      scopes: [...new Set(scopes)],
      createdBy: personOf(caller),
      expiresAt: momentOf(body.expiresAt),
      allowedIps: body.allowedIps ?? null,
      chains: body.chains?.map(String) ?? null,
      origins: body.origins ?? null,
      quota: null,
      addressQuota: body.addressQuota ?? null,
    }
    const key = await withinBound(
      accounts.app,
      { table: 'app.projects', id: project },
      'keysOfProject',
      async (app) => (await listKeys(app, { projectId: project })).length,
      (app) => insertKey(app, row, accounts.pepper),
    )
    return { key, token }
  },
  present: ({ key, token }: { readonly key: ApiKey; readonly token: string }) => ({
    ...presentKey(key),
    token,
  }),
})

export const revokeKeyEndpoint = command({
  path: '/v1/orgs/{orgId}/projects/{projectId}/api-keys/{keyId}',
  method: 'DELETE',
  summary: 'Revoke a key; it opens nothing within a second. For admins.',
  params: { orgId, projectId, keyId },
  access: management,
  errors: [...orgErrors, 'project_not_found', 'api_key_not_found'],
  response: s.object({ id: s.text() }),
  run: async (call, { accounts }: AccountServices) => {
    await assertRole(accounts, call, 'admin')
    const { id: project } = await projectIn(accounts, call.path.orgId, call.path.projectId)
    const id = call.path.keyId
    if (!(await revokeKey(accounts.app, { id, projectId: project }))) throw new ApiError('api_key_not_found')
    return { id }
  },
  present: (revoked) => revoked,
})

function assertIssuable({ issuableScopes }: Accounts, asked: readonly string[]): void {
  const refused = asked.find((one) => !issuableScopes.includes(one))
  if (refused !== undefined)
    throw new ApiError('scope_not_issuable', `A key with the scope \`${refused}\` cannot be issued here.`)
}

function assertAddresses(asked: readonly string[]): void {
  try {
    addressList(asked)
  } catch (error) {
    throw bodyProblem('allowedIps', messageOf(error))
  }
}

function momentOf(text: string | undefined): Date | null {
  if (text === undefined) return null
  const moment = new Date(text)
  if (Number.isNaN(moment.getTime())) throw bodyProblem('expiresAt', 'expected a moment as ISO 8601')
  return moment
}
