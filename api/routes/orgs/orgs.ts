/** /v1/orgs: organizations of the caller. */

import { command, endpoint } from '#http/endpoint.ts'
import { ApiError } from '#http/errors.ts'
import { management } from '#http/request/access.ts'
import * as s from '#http/schema.ts'
import {
  deleteOrganization,
  findOrganization,
  insertOrganization,
  organizationsOf,
  renameOrganization,
} from '#rows/access/organizations.ts'
import { withinBound } from '#rows/bounds.ts'
import { deleteSubscriptionsOf } from '#rows/webhooks/subscriptions.ts'
import { type AccountServices, assertRole, orgErrors, orgId, personOf } from './accounts.ts'
import { name, org, presentOrg } from './shapes.ts'

export const listOrgsEndpoint = endpoint({
  path: '/v1/orgs',
  summary: 'Organizations the caller is a member of.',
  chain: 'none',
  access: management,
  response: s.object({ data: s.array(org) }),
  read: ({ caller }, { accounts }: AccountServices) => organizationsOf(accounts.app, personOf(caller)),
  present: (found) => ({ data: found.map((one) => presentOrg(one, one.role)) }),
  cache: 'none',
})

export const createOrgEndpoint = command({
  path: '/v1/orgs',
  method: 'POST',
  summary: 'Make an organization; the caller becomes its owner.',
  access: management,
  errors: ['limit_exceeded', 'rate_limit_exceeded'],
  body: s.object({ name }),
  response: org,
  run: ({ body, caller }, { accounts }: AccountServices) => {
    const person = personOf(caller)
    return withinBound(
      accounts.app,
      { table: 'app.users', id: person },
      'organizationsOfPerson',
      async (app) => (await organizationsOf(app, person)).length,
      (app) => insertOrganization(app, body.name, person),
    )
  },
  present: (made) => presentOrg(made, 'owner'),
})

export const readOrgEndpoint = endpoint({
  path: '/v1/orgs/{orgId}',
  summary: 'One organization, with the role of the caller.',
  params: { orgId },
  chain: 'none',
  access: management,
  errors: orgErrors,
  response: org,
  read: async (call, { accounts }: AccountServices) => {
    const role = await assertRole(accounts, call, 'member')
    const found = await findOrganization(accounts.app, call.path.orgId)
    if (!found) throw new ApiError('organization_not_found')
    return presentOrg(found, role)
  },
  present: (found) => found,
  cache: 'none',
})

export const renameOrgEndpoint = command({
  path: '/v1/orgs/{orgId}',
  method: 'PATCH',
  summary: 'Rename an organization. For owners.',
  params: { orgId },
  access: management,
  errors: orgErrors,
  body: s.object({ name }),
  response: org,
  run: async (call, { accounts }: AccountServices) => {
    const role = await assertRole(accounts, call, 'owner')
    return presentOrg(await renameOrganization(accounts.app, call.path.orgId, call.body.name), role)
  },
  present: (renamed) => renamed,
})

export const deleteOrgEndpoint = command({
  path: '/v1/orgs/{orgId}',
  method: 'DELETE',
  summary: 'Delete an organization; its keys open nothing within a second, its webhooks end. For owners.',
  params: { orgId },
  access: management,
  errors: orgErrors,
  response: s.object({ id: s.text() }),
  run: async (call, { accounts }: AccountServices) => {
    await assertRole(accounts, call, 'owner')
    if (call.path.orgId === accounts.defaults.orgId)
      throw new ApiError('forbidden', 'The default organization stays: commands of the operator need it.')
    const { orgId: id } = call.path
    await accounts.app.transaction().execute(async (transaction) => {
      await deleteOrganization(transaction, id)
      await deleteSubscriptionsOf(transaction, id)
    })
    return { id }
  },
  present: (deleted) => deleted,
})
