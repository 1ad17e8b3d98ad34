/** Shapes of the contract's accounts: organizations, members, invitations, projects, keys. */

import * as s from '#http/schema.ts'
import type { Invitation } from '#rows/access/invitations.ts'
import type { ApiKey } from '#rows/access/keys.ts'
import { environments } from '#rows/access/keys.ts'
import { type Member, type Organization, type Role, roles } from '#rows/access/organizations.ts'
import type { Project } from '#rows/access/projects.ts'
import { scopeNames } from '../../access/scopes.ts'

/** Postgres keeps no text with a zero byte. */
const storable = '^[^\\u0000]*$'
export const name = s.text({ minLength: 1, maxLength: 100, pattern: storable })
export const role = s.oneOf(roles)
export const environment = s.oneOf(environments)

export const org = s.named('Org', {
  id: s.text(),
  name: s.text(),
  role: s.optional(role),
  createdAt: s.timestamp,
  updatedAt: s.timestamp,
})

export const member = s.named('Member', {
  userId: s.text(),
  role,
  address: s.optional(s.address),
  email: s.optional(s.text()),
  createdAt: s.timestamp,
})

const invitationMembers = {
  id: s.text({ description: 'Also the link: nobody else is told of it.' }),
  orgId: s.text(),
  email: s.text(),
  address: s.optional(s.address),
  role,
  invitedBy: s.text(),
  createdAt: s.timestamp,
  expiresAt: s.timestamp,
}
export const invitation = s.named('Invitation', invitationMembers)
export const namedInvitation = s.named('ReceivedInvitation', { ...invitationMembers, orgName: s.text() })

export const project = s.named('Project', {
  id: s.text(),
  orgId: s.text(),
  name: s.text(),
  environments: s.array(environment),
  createdAt: s.timestamp,
  updatedAt: s.timestamp,
})

const keyMembers = {
  id: s.text(),
  orgId: s.text(),
  projectId: s.optional(s.text()),
  name: s.optional(s.text()),
  environment,
  scopes: s.array(s.text()),
  tokenLast4: s.text(),
  createdBy: s.optional(s.text()),
  createdAt: s.timestamp,
  expiresAt: s.optional(s.timestamp),
  allowedIps: s.optional(s.array(s.text())),
  chains: s.optional(s.array(s.integer())),
  origins: s.optional(s.array(s.text())),
  addressQuota: s.optional(s.integer()),
}
export const apiKey = s.named('ApiKey', keyMembers)
export const newApiKey = s.named('NewApiKey', {
  ...keyMembers,
  token: s.text({ pattern: '^svc_(live|test)_[0-9A-Za-z]{46}$', description: 'Shown this once.' }),
})
export const scope = s.oneOf([...scopeNames, '*'])

export const iso = (moment: Date): string => s.isoSeconds(Math.floor(moment.getTime() / 1_000))

/** A member of an object where there is a value, nothing where there is none. */
const some = <Name extends string, Value>(key: Name, value: Value | null | undefined) =>
  (value === null || value === undefined ? {} : { [key]: value }) as { readonly [K in Name]?: Value }

export const presentOrg = ({ id, name: text, createdAt, updatedAt }: Organization, held?: Role) => ({
  id,
  name: text,
  ...some('role', held),
  createdAt: iso(createdAt),
  updatedAt: iso(updatedAt),
})

export const presentMember = ({ userId, role: held, address, email, createdAt }: Member) => ({
  userId,
  role: held,
  ...some('address', address),
  ...some('email', email),
  createdAt: iso(createdAt),
})

export const presentInvitation = ({ address, createdAt, expiresAt, ...others }: Invitation) => ({
  ...others,
  ...some('address', address),
  createdAt: iso(createdAt),
  expiresAt: iso(expiresAt),
})

export const presentProject = ({ createdAt, updatedAt, ...others }: Project) => ({
  ...others,
  environments: [...environments],
  createdAt: iso(createdAt),
  updatedAt: iso(updatedAt),
})

export const presentKey = (key: ApiKey) => ({
  id: key.id,
  orgId: key.orgId,
  projectId: key.projectId,
  ...some('name', key.name),
  environment: key.environment,
  scopes: [...key.scopes],
  tokenLast4: key.tokenLast4,
  ...some('createdBy', key.createdBy),
  createdAt: iso(key.createdAt),
  ...some('expiresAt', key.expiresAt && iso(key.expiresAt)),
  ...some('allowedIps', key.allowedIps && [...key.allowedIps]),
  ...some('chains', key.chains?.map(Number)),
  ...some('origins', key.origins && [...key.origins]),
  ...some('addressQuota', key.addressQuota),
})
