/** /v1/orgs/{orgId}/members: people of an organization and their roles. */

import { command, endpoint } from '#http/endpoint.ts'
import { ApiError } from '#http/errors.ts'
import { management } from '#http/request/access.ts'
import * as s from '#http/schema.ts'
import { changeMember, listMembers } from '#rows/access/organizations.ts'
import { type AccountServices, assertRole, orgErrors, orgId, personOf, userId } from './accounts.ts'
import { member, presentMember, role } from './shapes.ts'

export const listMembersEndpoint = endpoint({
  path: '/v1/orgs/{orgId}/members',
  summary: 'Members of an organization.',
  params: { orgId },
  chain: 'none',
  access: management,
  errors: orgErrors,
  response: s.object({ data: s.array(member) }),
  read: async (call, { accounts }: AccountServices) => {
    await assertRole(accounts, call, 'member')
    return listMembers(accounts.app, call.path.orgId)
  },
  present: (members) => ({ data: members.map(presentMember) }),
  cache: 'none',
})

export const changeMemberEndpoint = command({
  path: '/v1/orgs/{orgId}/members/{userId}',
  method: 'PATCH',
  summary: 'Give a member another role. For owners.',
  params: { orgId, userId },
  access: management,
  errors: [...orgErrors, 'member_not_found', 'last_owner'],
  body: s.object({ role }),
  response: member,
  run: async (call, { accounts }: AccountServices) => {
    await assertRole(accounts, call, 'owner')
    const { orgId: org, userId: person } = call.path
    const isChanged = await changeMember(accounts.app, org, person, call.body.role)
    const changed = (await listMembers(accounts.app, org)).find((one) => one.userId === person)
    if (!isChanged || !changed) throw new ApiError('member_not_found')
    return changed
  },
  present: presentMember,
})

export const removeMemberEndpoint = command({
  path: '/v1/orgs/{orgId}/members/{userId}',
  method: 'DELETE',
  summary: 'End a membership: owners anybody’s, everybody their own.',
  params: { orgId, userId },
  access: management,
  errors: [...orgErrors, 'member_not_found', 'last_owner'],
  response: s.object({ userId: s.text() }),
  run: async (call, { accounts }: AccountServices) => {
    const { orgId: org, userId: person } = call.path
    await assertRole(accounts, call, person === personOf(call.caller) ? 'member' : 'owner')
    if (!(await changeMember(accounts.app, org, person, null))) throw new ApiError('member_not_found')
    return { userId: person }
  },
  present: (removed) => removed,
})
