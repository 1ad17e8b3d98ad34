/**
 * Invitations: of an organization, and those a person received. No mail is sent: the invitation's
 * id is the link.
 */
import { hash } from 'node:crypto'
import { command, endpoint } from '#http/endpoint.ts'
import { ApiError, bodyProblem } from '#http/errors.ts'
import { type Caller, includesRole, management } from '#http/request/access.ts'
import * as s from '#http/schema.ts'
import { type Address, address as toAddress } from '#primitives.ts'
import {
  acceptInvitation,
  deleteInvitation,
  findInvitation,
  type Invitation,
  insertInvitation,
  invitationsOf,
  listInvitations,
} from '#rows/access/invitations.ts'
import { roleIn } from '#rows/access/organizations.ts'
import { findUser } from '#rows/access/users.ts'
import { withinBound } from '#rows/bounds.ts'
import {
  type AccountServices,
  type Accounts,
  assertRole,
  invitationId,
  orgErrors,
  orgId,
  personOf,
} from './accounts.ts'
import { invitation, namedInvitation, presentInvitation, role } from './shapes.ts'

/** As the contract has it. */
const emailPattern =
  "^(?:[A-Za-z0-9_'+\\-]+\\.)*[A-Za-z0-9_'+\\-]*[A-Za-z0-9_+-]@(?:[A-Za-z0-9][A-Za-z0-9\\-]*\\.)+[A-Za-z]{2,}$"

export const listInvitationsEndpoint = endpoint({
  path: '/v1/orgs/{orgId}/invitations',
  summary:
    'Invitations that can still be accepted. Members are given ids that open nothing: the true one is the link.',
  params: { orgId },
  chain: 'none',
  access: management,
  errors: orgErrors,
  response: s.object({ data: s.array(invitation) }),
  read: async (call, { accounts }: AccountServices) => {
    const role = await assertRole(accounts, call, 'member')
    const found = await listInvitations(accounts.app, call.path.orgId)
    return includesRole(role, 'admin') ? found : found.map(withoutLink)
  },
  present: (found) => ({ data: found.map(presentInvitation) }),
  cache: 'none',
})

export const createInvitationEndpoint = command({
  path: '/v1/orgs/{orgId}/invitations',
  method: 'POST',
  summary:
    'Invite a person: admins members, owners anybody. The id is the link, good once and for seven days.',
  params: { orgId },
  access: management,
  errors: [...orgErrors, 'limit_exceeded'],
  body: s.object({
    email: s.optional(s.text({ maxLength: 254, ...s.pattern(emailPattern, 'an e-mail address') })),
    address: s.optional(s.text({ pattern: '^0x[0-9a-fA-F]{40}$', description: 'May stand for `email`.' })),
    role,
  }),
  response: invitation,
  run: async (call, { accounts }: AccountServices) => {
    const { email = '', address, role: asked } = call.body
    await assertRole(accounts, call, asked === 'member' ? 'admin' : 'owner')
    if (email === '' && address === undefined)
      throw bodyProblem('email', 'is required where `address` is not given')
    const row = {
      orgId: call.path.orgId,
      email,
      address: address === undefined ? null : toAddress(address),
      role: asked,
      invitedBy: personOf(call.caller),
    }
    return withinBound(
      accounts.app,
      { table: 'app.organizations', id: row.orgId },
      'invitationsOfOrganization',
      async (app) => (await listInvitations(app, row.orgId)).length,
      (app) => insertInvitation(app, row),
    )
  },
  present: presentInvitation,
})

export const deleteInvitationEndpoint = command({
  path: '/v1/orgs/{orgId}/invitations/{invitationId}',
  method: 'DELETE',
  summary: 'Withdraw an invitation: admins those of members, owners all.',
  params: { orgId, invitationId },
  access: management,
  errors: [...orgErrors, 'invitation_not_found'],
  response: s.object({ id: s.text() }),
  run: async (call, { accounts }: AccountServices) => {
    await assertRole(accounts, call, 'admin')
    const found = await findInvitation(accounts.app, call.path.invitationId)
    if (found?.orgId !== call.path.orgId) throw new ApiError('invitation_not_found')
    if (found.role !== 'member') await assertRole(accounts, call, 'owner')
    await deleteInvitation(accounts.app, found.id)
    return { id: found.id }
  },
  present: (deleted) => deleted,
})

export const listReceivedInvitationsEndpoint = endpoint({
  path: '/v1/invitations',
  summary: 'Invitations that name the caller’s account.',
  chain: 'none',
  access: management,
  errors: ['rate_limit_exceeded'],
  response: s.object({ data: s.array(namedInvitation) }),
  read: async ({ caller }, { accounts }: AccountServices) => {
    const account = await accountOf(accounts, caller)
    return account ? invitationsOf(accounts.app, account) : []
  },
  present: (found) => ({
    data: found.map(({ orgName, ...one }) => ({ ...presentInvitation(one), orgName })),
  }),
  cache: 'none',
})

export const acceptInvitationEndpoint = command({
  path: '/v1/invitations/{invitationId}/accept',
  method: 'POST',
  summary: 'Become a member.',
  params: { invitationId },
  access: management,
  errors: ['invitation_not_found', 'organization_not_found', 'limit_exceeded', 'rate_limit_exceeded'],
  response: s.object({ orgId: s.text(), role, userId: s.text() }),
  run: async ({ path, caller }, { accounts }: AccountServices) => {
    const found = await receivedBy(accounts, caller, path.invitationId)
    const person = personOf(caller)
    await accounts.app.transaction().execute((transaction) => acceptInvitation(transaction, found, person))
    const held = await roleIn(accounts.app, found.orgId, person)
    if (!held) throw new ApiError('invitation_not_found')
    return { orgId: found.orgId, role: held, userId: person }
  },
  present: (accepted) => accepted,
})

export const declineInvitationEndpoint = command({
  path: '/v1/invitations/{invitationId}/decline',
  method: 'POST',
  summary: 'Turn an invitation down; it cannot be accepted after that.',
  params: { invitationId },
  access: management,
  errors: ['invitation_not_found', 'rate_limit_exceeded'],
  response: s.object({ id: s.text() }),
  run: async ({ path, caller }, { accounts }: AccountServices) => {
    const { id } = await receivedBy(accounts, caller, path.invitationId)
    if (!(await deleteInvitation(accounts.app, id))) throw new ApiError('invitation_not_found')
    return { id }
  },
  present: (declined) => declined,
})

/** Tells invitations apart and opens none. */
const withoutLink = (one: Invitation): Invitation => ({
  ...one,
  id: `inv_shown_${hash('sha256', one.id).slice(0, 16)}`,
})

/**
 * An invitation that names another account is one that does not exist. @throws ApiError
 * invitation_not_found
 */
async function receivedBy(accounts: Accounts, caller: Caller, id: string): Promise<Invitation> {
  const found = await findInvitation(accounts.app, id)
  const isTheirs = found?.address == null || found.address === (await accountOf(accounts, caller))
  if (!found || !isTheirs) throw new ApiError('invitation_not_found')
  return found
}

async function accountOf({ app }: Accounts, caller: Caller): Promise<Address | null> {
  const user = await findUser(app, personOf(caller))
  return user?.address ? toAddress(user.address) : null
}
