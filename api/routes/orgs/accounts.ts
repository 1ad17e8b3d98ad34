/**
 * The common parts of operations on organizations, projects and keys: the person behind a call, and their
 * role.
 */

import { ApiError, type ErrorCode } from '#http/errors.ts'
import { type Caller, includesRole, type Role } from '#http/request/access.ts'
import * as p from '#http/request/parameter.ts'
import type { Defaults } from '#rows/access/defaults.ts'
import { roleIn } from '#rows/access/organizations.ts'
import { findProject, type Project } from '#rows/access/projects.ts'
import type { AppDatabase } from '#rows/database.ts'
import type { Clock } from '#runtime/runtime.ts'

export interface AccountServices {
  readonly accounts: Accounts
}

export interface Accounts {
  readonly app: AppDatabase
  /** The key that digests tokens of new keys. */
  readonly pepper: Uint8Array
  /** Scopes that people may give to their keys. */
  readonly issuableScopes: readonly string[]
  /** The fallback of the operator's commands: it cannot be deleted. */
  readonly defaults: Defaults
  readonly clock: Clock
}

/** Longer texts are no ids of ours. */
const ID_CHARACTERS_MAX = 64

const idOf = (description: string) => p.described(p.text(ID_CHARACTERS_MAX), description)

export const orgId = idOf('Organization, `org_…`.')
export const projectId = idOf('Project, `prj_…`.')
export const keyId = idOf('API key, `key_…`.')
export const userId = idOf('Person, `usr_…`.')
export const invitationId = idOf('Invitation, `inv_…`.')

/** Codes that every operation below an organization can answer with. */
export const orgErrors = [
  'organization_not_found',
  'forbidden',
  'rate_limit_exceeded',
] as const satisfies readonly ErrorCode[]

/** @throws ApiError unauthorized */
export function personOf({ userId: id }: Caller): string {
  if (id === null) throw new ApiError('unauthorized')
  return id
}

/**
 * The caller's role where it suffices. An organization of others is one that does not exist.
 * @throws ApiError organization_not_found, forbidden
 */
export async function assertRole(
  { app }: Accounts,
  { caller, path }: { readonly caller: Caller; readonly path: { readonly orgId: string } },
  needed: Role,
): Promise<Role> {
  const role = await roleIn(app, path.orgId, personOf(caller))
  if (role === null) throw new ApiError('organization_not_found')
  if (!includesRole(role, needed))
    throw new ApiError('forbidden', `This needs the role ${needed}; yours is ${role}.`)
  return role
}

/** @throws ApiError project_not_found for a project of another organization too */
export async function projectIn({ app }: Accounts, orgIdAsked: string, id: string): Promise<Project> {
  const project = await findProject(app, id)
  if (project?.orgId !== orgIdAsked) throw new ApiError('project_not_found')
  return project
}
